import { Sentence } from './sentence.tsx';

/** Sentences of the API below each other. */
export function Lines({ lines }: { lines: readonly string[] }) {
  return (
    <ul>
      {lines.map((line) => (
        <li key={line} class="break">
          <Sentence text={line} />
        </li>
      ))}
    </ul>
  );
}
