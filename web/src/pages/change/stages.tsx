const MARKS = { done: '✓', now: '…', failed: '✕', stopped: '–' } as const;

interface StagesProps {
  readonly stages: readonly string[];
  /** How the last stage ended; `now` while it runs. */
  readonly last: keyof typeof MARKS;
}

/** Stages of a plan as the control plane tells them, each with its end: only what is over has a mark for it. */
export function Stages({ stages, last }: StagesProps) {
  if (stages.length === 0) return null;
  return (
    <ol class="stages" aria-label="Planning" aria-live="polite">
      {stages.map((text, index) => {
        const end = index === stages.length - 1 ? last : 'done';
        return (
          <li key={`${index} ${text}`} class={end}>
            <span aria-hidden="true">{MARKS[end]}</span> {text}
            {end !== 'now' && `: ${end}`}
          </li>
        );
      })}
    </ol>
  );
}
