import { type ReadonlySignal, useComputed, useSignal, useSignalEffect } from '@preact/signals';
import { answer, api } from '../api/client.ts';
import { asProblem, changed } from '../api/load.ts';
import type { Problem } from '../api/problem.ts';
import type { Preview } from '../api/types.ts';
import { ofOneDocument } from '../ui/field-faults.ts';
import { Lines } from '../ui/lines.tsx';
import { ProblemNotice } from '../ui/problem.tsx';
import { EffectView } from './effect-view.tsx';
import { Risk } from './risk.tsx';

interface Computed {
  /** What the text as it stands would do; undefined while that is not known. */
  readonly result: Preview | undefined;
  /** What an earlier text would do, shown until the new one is judged. */
  readonly last: Preview | undefined;
  readonly problem: Problem | undefined;
}

/** Between the last key and the question what it would do, ms. */
const PAUSE_MS = 350;

/** What a manifest would do, judged by the control plane while it is typed: each text ends the question about the one before. */
export function usePreview(text: ReadonlySignal<string>, isChanged: ReadonlySignal<boolean>): ReadonlySignal<Computed> {
  const judged = useSignal<{ readonly text: string; readonly result?: Preview; readonly problem?: Problem }>({
    text: '',
  });
  const last = useSignal<Preview | undefined>(undefined);
  useSignalEffect(() => {
    const manifest = text.value;
    changed.value;
    if (!isChanged.value) return undefined;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      answer(api.POST('/api/v1/apply/preview', { body: { manifest }, signal: abort.signal }))
        .then((result) => {
          if (abort.signal.aborted) return;
          judged.value = { text: manifest, result };
          last.value = result;
        })
        .catch((error: unknown) => {
          if (!abort.signal.aborted) judged.value = { text: manifest, problem: ofOneDocument(asProblem(error)) };
        });
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  });
  return useComputed(() => {
    const isNow = judged.value.text === text.value;
    return {
      result: isNow ? judged.value.result : undefined,
      last: last.value,
      problem: isNow ? judged.value.problem : undefined,
    };
  });
}

/** The effect of what is typed; an older one is dimmed until the new one is there. */
export function PreviewView({ preview: { result, last, problem } }: { preview: Computed }) {
  const shown = result ?? (problem ? undefined : last);
  const isOld = !result && !problem;
  return (
    <section class="stack" aria-label="Effect preview" aria-busy={isOld}>
      <div class="row">
        <h2>Effect preview</h2>
        {shown && <Risk level={shown.risk_level} />}
        <span class="dim small push" role="status">
          {isOld ? 'Computing…' : 'Computed as you type. Nothing changes before you save.'}
        </span>
      </div>
      <ProblemNotice problem={problem} />
      {shown && (
        <div class={`stack ${isOld ? 'old' : ''}`}>
          {!shown.would_change && <p class="dim">Nothing would change.</p>}
          {shown.waits_for.length > 0 && (
            <div class="notice warn">
              <strong>Saving it waits for approval:</strong>
              <Lines lines={shown.waits_for} />
            </div>
          )}
          {shown.warnings.length > 0 && (
            <div class="notice warn">
              <strong>Warnings</strong>
              <Lines lines={shown.warnings} />
            </div>
          )}
          <EffectView effect={shown.effect} connections={shown.connections} />
          <Lines lines={shown.risk_reasons} />
        </div>
      )}
    </section>
  );
}
