import { CodeBlock } from './code-block.tsx';

export const SHOWN_ONCE = 'Shown only once. Store it safely.';

/** A secret that is shown this once. */
export function Secret({ label, text }: { label: string; text: string }) {
  return (
    <div class="stack-small">
      <CodeBlock label={label} text={text} />
      <p>
        <strong>{SHOWN_ONCE}</strong>
      </p>
    </div>
  );
}
