import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import { Problem } from '../../api/problem.ts';
import type { WorkflowDetail } from '../../api/types.ts';
import { may } from '../../api/workspace.ts';
import { ChangedResource } from '../../effect/changed-resource.tsx';
import { EffectGraph } from '../../effect/effect-graph.tsx';
import { EffectView } from '../../effect/effect-view.tsx';
import { isUndoOffered, undoOf } from '../../effect/put-back.ts';
import { Risk } from '../../effect/risk.tsx';
import { Verified } from '../../effect/verified.tsx';
import { goTo, linkTo, route } from '../../route/route.ts';
import { texts } from '../../texts/texts.ts';
import { useAct } from '../../ui/act.ts';
import { isTyping } from '../../ui/keys.ts';
import { Lines } from '../../ui/lines.tsx';
import { say } from '../../ui/message.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';
import { Time } from '../../ui/time.tsx';
import { WhoAsked } from './who-asked.tsx';

/** One change: who asked for what, what it does, and the decision. */
export function Decision({ id }: { id: string }) {
  const loaded = useLoaded(() => answer(api.GET('/api/v1/workflows/{id}', { params: { path: { id } } })));
  const { value: workflow, problem, reload } = loaded.value;
  if (!workflow) return <ProblemNotice problem={problem} again={reload} />;
  const { summary, riskLevel, riskReasons, warnings, effect, changes, call } = workflow;
  return (
    <article class="panel stack" aria-label={summary}>
      <ProblemNotice problem={problem} again={reload} />
      <h2 class="break">{summary}</h2>
      <Facts workflow={workflow} />
      <section class="stack-small">
        <h3>
          {texts.review.risk} <Risk level={riskLevel} />
        </h3>
        <Lines lines={riskReasons} />
      </section>
      {warnings.length > 0 && (
        <section class="notice warn">
          <strong>{texts.review.warnings}</strong>
          <Lines lines={warnings} />
        </section>
      )}
      <EffectView effect={effect} />
      <EffectGraph effect={effect} />
      {call && (
        <section class="stack-small">
          <h3>
            {texts.review.call} <code>{call.operation}</code>
          </h3>
          <pre class="code">{JSON.stringify(call.input, null, 2)}</pre>
        </section>
      )}
      {changes.map((change) => (
        <ChangedResource key={`${change.resource} ${change.name}`} change={change} />
      ))}
      {workflow.status === 'executed' && !call && isUndoOffered(workflow.reviewedAt ?? workflow.requestedAt) && (
        <Undo id={id} />
      )}
      {workflow.status === 'pending' && <Verdict workflow={workflow} reload={reload} />}
    </article>
  );
}

/** For ten minutes; from then on the Time page has it. */
function Undo({ id }: { id: string }) {
  const undo = undoOf(id);
  if (!undo) return null;
  return (
    <div class="row">
      <button type="button" onClick={undo.run}>
        {undo.label}
      </button>
    </div>
  );
}

function Facts({ workflow }: { workflow: WorkflowDetail }) {
  const { status, error, requestedBy, requestedAt, intent, plannedBy, reading, verification } = workflow;
  const facts: readonly (readonly [string, ComponentChildren])[] = [
    [texts.review.askedBy, <WhoAsked key="who" actor={requestedBy} at={requestedAt} />],
    [texts.review.askedFor, intent],
    [texts.review.readBy, plannedBy && `${texts.review.readers[plannedBy]}: ${reading ?? ''}`],
    [texts.review.verified, verification && <Verdicts workflow={workflow} />],
    [texts.review.askedOf, workflow.approvalAskedOf],
    [texts.review.status, status !== 'pending' && (error ? `${status}: ${error}` : status)],
    [texts.review.status, isToRepeat(workflow) && texts.review.repeat],
    [texts.review.expires, status === 'pending' && <Time at={workflow.expiresAt} />],
    [
      texts.review.reviewedBy,
      workflow.reviewedBy && [`${workflow.reviewedBy}, `, <Time key="at" at={workflow.reviewedAt} />],
    ],
    [texts.review.noteSaid, workflow.note],
  ];
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value)
        .map(([name, value]) => (
          <>
            <dt key={`${name} name`}>{name}</dt>
            <dd key={name}>{value}</dd>
          </>
        ))}
    </dl>
  );
}

/** Whether the effect was held against what was asked, or put forward all the same. */
function Verdicts({ workflow: { verification, objections, overridden } }: { workflow: WorkflowDetail }) {
  if (!verification) return null;
  return (
    <>
      <Verified verification={verification} objections={objections} />
      {overridden && <p>{texts.review.overridden}</p>}
    </>
  );
}

/** An approved call that is not carried out yet. */
function isToRepeat({ status, call }: WorkflowDetail): boolean {
  return status === 'approved' && call !== null;
}

/** The decision. The button says what it approves; no key but its own presses it. */
function Verdict({ workflow, reload }: { workflow: WorkflowDetail; reload: () => void }) {
  const note = useSignal('');
  const { isActing, problem, act } = useAct();
  const decide = (verb: 'approve' | 'reject') =>
    act(async () => {
      const body = note.value.trim() === '' ? {} : { note: note.value.trim() };
      const params = { path: { id: workflow.id } };
      try {
        const done = await answer(
          verb === 'approve'
            ? api.POST('/api/v1/workflows/{id}/approve', { params, body })
            : api.POST('/api/v1/workflows/{id}/reject', { params, body }),
        );
        if (!('error' in done)) return say(done.message);
        if (done.error) throw new Problem({ title: texts.review.failed, detail: done.error });
        const undo = done.status === 'executed' && !done.call ? undoOf(done.id) : undefined;
        say(`${texts.review.approved(done.status)} ${isToRepeat(done) ? texts.review.repeat : ''}`, undo);
      } finally {
        // Somebody else may have decided, or it expired: shown as it is now.
        reload();
      }
    });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event)) return;
      // A decision takes the button: the key leads to it.
      if (event.key === 'a' || event.key === 'r') document.getElementById(`verdict-${event.key}`)?.focus();
      if (event.key === 'Escape') goTo(linkTo('review'));
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  if (route.value.query.has('at')) return <p class="dim">{texts.review.inPast}</p>;
  if (!may('workflows:approve')) return <p class="dim">{texts.review.mayNot}</p>;
  return (
    <form class="stack" onSubmit={(event) => event.preventDefault()}>
      <label class="field">
        {texts.review.note}
        <textarea
          rows={2}
          maxLength={1000}
          value={note.value}
          onInput={({ currentTarget }) => {
            note.value = currentTarget.value;
          }}
        />
      </label>
      <ProblemNotice problem={problem.value} />
      <div class="row">
        <button
          id="verdict-a"
          type="button"
          class="primary"
          disabled={isActing.value}
          onClick={() => decide('approve')}
        >
          <span class="break">{texts.review.approve(workflow.summary)}</span>
        </button>
        <button id="verdict-r" type="button" class="danger" disabled={isActing.value} onClick={() => decide('reject')}>
          {texts.review.reject}
        </button>
      </div>
    </form>
  );
}
