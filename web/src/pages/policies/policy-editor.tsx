import { useComputed, useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { api } from '../../api/client.ts';
import type { Policy } from '../../api/types.ts';
import { goAfter, write } from '../../api/write.ts';
import { PreviewView, usePreview } from '../../effect/preview.tsx';
import { linkTo } from '../../route/route.ts';
import { policies as words } from '../../texts/policies.ts';
import { useAct } from '../../ui/act.ts';
import { useDraft } from '../../ui/draft.ts';
import { ProblemNotice } from '../../ui/problem.tsx';
import { YamlEditor } from '../../ui/yaml-editor.tsx';
import { PolicyForm } from './policy-form.tsx';
import { readPolicy, yamlOf } from './policy-yaml.ts';

interface Draft {
  readonly base: { readonly text: string; readonly revision: number | undefined };
  readonly text: string;
}

/** A policy as a form and as YAML, in step, with what it would do below. The YAML is what is sent. */
export function PolicyEditor({ stored, initial }: { stored: Policy | undefined; initial: string }) {
  const { before, keep } = useDraft<Draft>(`policy ${stored?.id ?? ''}`);
  const base = useSignal(before?.base ?? { text: initial, revision: stored?.revision });
  const text = useSignal(before?.text ?? initial);
  const read = useComputed(() => readPolicy(text.value));
  const changedNow = useComputed(() => text.value !== base.value.text);
  keep(() => (changedNow.peek() ? { base: base.peek(), text: text.peek() } : undefined));
  const preview = usePreview(text, changedNow);
  const { isActing, problem, act } = useAct();
  const document = 'document' in read.value ? read.value.document : undefined;
  const name = document?.metadata.name ?? stored?.name ?? '';
  const isRenamed = stored !== undefined && document !== undefined && name !== stored.name;
  const isChanged = changedNow.value;
  const isOutdated = stored !== undefined && stored.revision !== base.value.revision;
  const discard = () => {
    base.value = { text: initial, revision: stored?.revision };
    text.value = initial;
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
      const saved = stored
        ? api.PUT('/api/v1/policies/{id}', {
            params: { path: { id: stored.id } },
            body: { manifest: sent, ...(revision !== undefined && { revision }) },
          })
        : api.POST('/api/v1/policies', { body: { manifest: sent } });
      const written = await write(saved, words.saved(name));
      base.value = { text: sent, revision };
      goAfter(written, linkTo('policies', [name]));
    });
  };
  return (
    <form class="stack" onSubmit={save}>
      <div class="editor">
        <section class="panel stack" aria-label={words.form}>
          {document ? (
            <PolicyForm
              document={document}
              isNew={stored === undefined}
              faults={(problem.value ?? preview.value.problem)?.errors ?? []}
              change={(next) => {
                text.value = yamlOf(next);
              }}
            />
          ) : (
            <p class="notice warn break">
              {'why' in read.value ? (
                <>
                  <strong>{words.notYaml}</strong> {read.value.why}
                </>
              ) : (
                words.notForm
              )}
            </p>
          )}
        </section>
        <section class="stack yaml-side">
          <YamlEditor label={words.yaml} value={text} />
          <p class="dim small">{words.comments}</p>
          {isChanged && (
            <div class="panel">
              <PreviewView preview={preview.value} />
            </div>
          )}
        </section>
      </div>
      {isRenamed && <p class="notice danger break">{words.nameKept(stored.name, name)}</p>}
      {isOutdated && isChanged && <p class="notice warn">{words.changedSince}</p>}
      <ProblemNotice problem={problem.value} />
      <div class="row actions">
        <button type="submit" class="primary" disabled={!maySave || isActing.value}>
          <span class="break">{waits ? words.send(name) : words.save(name)}</span>
        </button>
        {isChanged && (
          <button type="button" class="quiet" onClick={discard}>
            {words.discard}
          </button>
        )}
      </div>
    </form>
  );
}
