import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { answer, api } from '../../api/client.ts';
import { passkeyObstacle, showPasskey } from '../../api/passkeys.ts';
import { Problem } from '../../api/problem.ts';
import type { RefreshedPreview, WorkflowDetail } from '../../api/types.ts';
import { may } from '../../api/workspace.ts';
import { undoOf } from '../../effect/put-back.ts';
import { goTo, linkTo, route } from '../../route/route.ts';
import { useAct } from '../../ui/act.ts';
import { Form } from '../../ui/form.tsx';
import { isTyping } from '../../ui/keys.ts';
import { say } from '../../ui/message.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';
import { FourEyes } from './four-eyes.tsx';
import { sentenceOf } from './sentence.ts';

interface VerdictProps {
  readonly workflow: WorkflowDetail;
  /** What the person looks at; nothing is approved before there is one. */
  readonly preview: RefreshedPreview | undefined;
  /** Whether it is not what would happen any more. */
  readonly isOutdated: boolean;
  readonly reload: () => void;
}

const FOCUS: Readonly<Record<string, string>> = { a: 'verdict-a', r: 'verdict-r', q: 'verdict-q', n: 'verdict-note' };

/** The decision, in sight wherever the page is scrolled to. The sentence beside the button is what it approves; no key but its own presses it. */
export function Verdict({ workflow, preview, isOutdated, reload }: VerdictProps) {
  const [note, code] = [useSignal(''), useSignal('')];
  const isAskedForNote = useSignal(false);
  const { isActing, problem, act } = useAct();
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event)) return;
      const target = FOCUS[event.key];
      // A decision takes the button: the key leads to it.
      if (target !== undefined) {
        event.preventDefault();
        document.getElementById(target)?.focus();
      }
      if (event.key === 'Escape') goTo(linkTo('review'));
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  if (route.value.query.has('at')) return <p class="dim">Go back to now to decide it.</p>;
  if (!preview || !may('workflows:approve')) return preview ? <FourEyes decision={preview.decision} /> : null;

  const { drawing, decision } = preview;
  const needsCode = decision.code_required && decision.may_approve;
  const isDrawn = workflow.call !== null || drawing?.refusal === null;
  const mayApprove = isDrawn && !isOutdated && decision.may_approve;
  const hasCode = !needsCode || code.value.trim() !== '';
  const params = { path: { id: workflow.id } };
  const said = () => (note.value.trim() === '' ? {} : { note: note.value.trim() });
  const approve = (takePasskey?: typeof showPasskey) =>
    act(async () => {
      const factor = takePasskey ? { passkey: await takePasskey() } : needsCode && { otp: code.value.trim() };
      const body = { ...said(), ...(drawing && { digest: drawing.digest }), ...factor };
      // A code is good once.
      code.value = '';
      try {
        const done = await answer(api.POST('/api/v1/workflows/{id}/approve', { params, body }));
        if (!('error' in done)) return say(done.message);
        if (done.error) throw new Problem({ title: 'The change failed', detail: done.error });
        const undo = done.status === 'executed' && !done.call ? undoOf(done.id) : undefined;
        say(doneText(done.status, done.awaits), undo);
      } finally {
        // Somebody else may have decided, or it expired: shown as it is now.
        reload();
      }
    });
  const reject = (done: string) =>
    act(async () => {
      try {
        const body = said();
        const rejected = await answer(api.POST('/api/v1/workflows/{id}/reject', { params, body }));
        say('error' in rejected ? done : rejected.message);
      } finally {
        reload();
      }
    });
  const ask = () => {
    isAskedForNote.value = note.value.trim() === '';
    if (isAskedForNote.value) document.getElementById('verdict-note')?.focus();
    else void reject('The change is sent back with your note.');
  };
  const what = drawing ? sentenceOf(drawing) : workflow.summary;
  return (
    <Form problem={problem} class="verdict" onSubmit={(event) => event.preventDefault()}>
      <p class="break">
        <strong>{what}</strong>
      </p>
      <FourEyes decision={decision} />
      <ProblemNotice problem={problem.value} />
      <div class="verdict-row">
        <label class="field note">
          Note (the requester reads it)
          <textarea
            id="verdict-note"
            rows={1}
            maxLength={1000}
            value={note.value}
            onInput={({ currentTarget }) => {
              note.value = currentTarget.value;
            }}
          />
        </label>
        {needsCode && (
          <label class="field">
            Code of your second factor
            <input
              autocomplete="one-time-code"
              spellcheck={false}
              maxLength={64}
              value={code.value}
              onInput={({ currentTarget }) => {
                code.value = currentTarget.value;
              }}
            />
          </label>
        )}
        <button
          id="verdict-r"
          type="button"
          class="danger"
          disabled={isActing.value}
          onClick={() => reject(doneText('rejected'))}
        >
          Reject
        </button>
        <button
          id="verdict-q"
          type="button"
          title="Rejects the change with your note; the requester reads it and can ask again."
          disabled={isActing.value}
          onClick={ask}
        >
          Request changes
        </button>
        <button
          id="verdict-a"
          type="button"
          class="primary"
          aria-label={`Approve: ${what}`}
          disabled={isActing.value || !mayApprove || !hasCode}
          onClick={() => approve()}
        >
          Approve
        </button>
        {needsCode && !passkeyObstacle() && (
          <button type="button" disabled={isActing.value || !mayApprove} onClick={() => approve(showPasskey)}>
            Approve with a passkey
          </button>
        )}
      </div>
      {isAskedForNote.value && note.value.trim() === '' && (
        <p class="fault">Write in the note what should change, then press Request changes.</p>
      )}
    </Form>
  );
}

function doneText(status: string, awaits: string | null = null): string {
  return `The change is ${status}.${awaits === null ? '' : ` Nothing has changed yet. ${awaits}`}`;
}
