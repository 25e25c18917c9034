import { useComputed, useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { api } from '../../api/client.ts';
import type { Policy } from '../../api/types.ts';
import { goAfter, write } from '../../api/write.ts';
import { PreviewView, usePreview } from '../../effect/preview.tsx';
import { linkTo } from '../../route/route.ts';
import { useAct } from '../../ui/act.ts';
import { useDraft } from '../../ui/draft.ts';
import { Form } from '../../ui/form.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';
import { YamlEditor } from '../../ui/yaml-editor.tsx';
import './policy-editor.css';
import { PolicyForm } from './policy-form.tsx';
import { readPolicy, yamlOf } from './policy-yaml.ts';

interface Draft {
  readonly base: { readonly text: string; readonly revision: number | undefined };
  readonly text: string;
}

interface PolicyEditorProps {
  readonly stored: Policy | undefined;
  readonly initial: string;
  /** What is typed already; nothing unless it is given. */
  readonly begun?: string | undefined;
  /** Where it leads once the policy is saved; to the policy unless it is given. */
  readonly saved?: string | undefined;
}

/** A policy as a form and as YAML, in step, with what it would do below. The YAML is what is sent. */
export function PolicyEditor({ stored, initial, begun = initial, saved }: PolicyEditorProps) {
  const { before, keep } = useDraft<Draft>(`policy ${stored?.id ?? ''}`);
  const base = useSignal(before?.base ?? { text: initial, revision: stored?.revision });
  const text = useSignal(before?.text ?? begun);
  const read = useComputed(() => readPolicy(text.value));
  const changedNow = useComputed(() => text.value !== base.value.text);
  keep(() => (changedNow.peek() && text.peek() !== begun ? { base: base.peek(), text: text.peek() } : undefined));
  const preview = usePreview(text, changedNow);
  const { isActing, problem, act } = useAct();
  const shownProblem = useComputed(() => problem.value ?? preview.value.problem);
  const document = 'document' in read.value ? read.value.document : undefined;
  const name = document?.metadata.name ?? stored?.name ?? '';
  const isRenamed = stored !== undefined && document !== undefined && name !== stored.name;
  const isChanged = changedNow.value;
  const isOutdated = stored !== undefined && stored.revision !== base.value.revision;
  const discard = () => {
    base.value = { text: initial, revision: stored?.revision };
    text.value = begun;
  };
  // What others saved is shown, unless something is typed here.
  useLayoutEffect(() => {
    if (isOutdated && !isChanged) discard();
  }, [isOutdated, isChanged]);
  const { result } = preview.value;
  const maySave = isChanged && !isRenamed && name !== '' && result?.would_change === true;
  const waits = (result?.waits_for.length ?? 0) > 0;

  const save = (event: Event) => {
    event.preventDefault();
    if (!maySave) return;
    void act(async () => {
      const sent = text.value;
      const { revision } = base.value;
      const call = stored
        ? api.PUT('/api/v1/policies/{id}', {
            params: { path: { id: stored.id } },
            body: { manifest: sent, ...(revision !== undefined && { revision }) },
          })
        : api.POST('/api/v1/policies', { body: { manifest: sent } });
      const written = await write(call, `${name} is saved.`);
      base.value = { text: sent, revision };
      goAfter(written, saved ?? linkTo('policies', [name]));
    });
  };
  return (
    <Form problem={shownProblem} class="stack" onSubmit={save}>
      <div class="editor">
        <section class="panel stack" aria-label="Form">
          {document ? (
            <PolicyForm
              document={document}
              isNew={stored === undefined}
              change={(next) => {
                text.value = yamlOf(next);
              }}
            />
          ) : (
            <p class="notice warn break">
              {'why' in read.value ? (
                <>
                  <strong>The YAML cannot be read</strong> {read.value.why}
                </>
              ) : (
                'The form cannot show this policy. Edit it as YAML.'
              )}
            </p>
          )}
        </section>
        <section class="stack yaml-side">
          <YamlEditor label="YAML" value={text} />
          <p class="dim small">Saving from the form removes comments from the YAML.</p>
          {isChanged && (
            <div class="panel">
              <PreviewView preview={preview.value} />
            </div>
          )}
        </section>
      </div>
      {isRenamed && (
        <p class="notice danger break">
          This policy is {stored.name}, but the YAML says {name}. The name cannot be changed.
        </p>
      )}
      {isOutdated && isChanged && (
        <p class="notice warn">
          Somebody has changed this policy since you opened it. Discard your changes to see theirs.
        </p>
      )}
      <ProblemNotice problem={problem.value} />
      <div class="row actions">
        <button type="submit" class="primary" disabled={!maySave || isActing.value}>
          <span class="break">{waits ? `Send ${name} for approval` : `Save ${name}`}</span>
        </button>
        {isChanged && text.value !== begun && (
          <button type="button" class="quiet" onClick={discard}>
            Discard changes
          </button>
        )}
      </div>
    </Form>
  );
}
