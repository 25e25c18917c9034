const MARKS = { done: '✓', now: '…', failed: '✕' } as const;

interface StagesProps {
  readonly stages: readonly string[];
  readonly isPlanning: boolean;
  /** True where the last stage ended without a plan. */
  readonly hasFailed: boolean;
}

/** Stages of a plan as the control plane tells them: those that are over, and the one that runs. */
export function Stages({ stages, isPlanning, hasFailed }: StagesProps) {
  if (stages.length === 0 && !isPlanning) return null;
  const endOf = (isLast: boolean) => (!isLast ? 'done' : isPlanning ? 'now' : hasFailed ? 'failed' : 'done');
  return (
    <ol class="stages" aria-label="Planning" aria-live="polite">
      {stages.map((text, index) => {
        const end = endOf(index === stages.length - 1);
        return (
          <li key={`${index} ${text}`} class={end}>
            <span aria-hidden="true">{MARKS[end]}</span> {text}
            {end === 'failed' && ': failed'}
          </li>
        );
      })}
    </ol>
  );
}
