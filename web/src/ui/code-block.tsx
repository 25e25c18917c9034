import { Code } from './code.tsx';
import { CopyButton } from './copy.tsx';

/** Text to be copied as it stands: a command, a configuration. What is too wide scrolls. */
export function CodeBlock({ label, text }: { label: string; text: string }) {
  return (
    <figure class="stack-small code-block" aria-label={label}>
      <figcaption class="row">
        <span class="dim small break">{label}</span>
        <CopyButton text={text} />
      </figcaption>
      <Code>{text}</Code>
    </figure>
  );
}
