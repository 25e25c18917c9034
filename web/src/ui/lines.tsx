/** Sentences below each other. */
export function Lines({ lines }: { lines: readonly string[] }) {
  return (
    <ul>
      {lines.map((line) => (
        <li key={line} class="break">
          {line}
        </li>
      ))}
    </ul>
  );
}
