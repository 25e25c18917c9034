import { texts } from '../texts/texts.ts';
import { CodeBlock } from './code-block.tsx';

/** A secret that is shown this once. */
export function Secret({ label, text }: { label: string; text: string }) {
  return (
    <div class="stack-small">
      <CodeBlock label={label} text={text} />
      <p>
        <strong>{texts.common.once}</strong>
      </p>
    </div>
  );
}
