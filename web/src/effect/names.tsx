const NAMED = 4;

/** A few names as they are; many as their number, with all of them on demand. */
export function Names({ names }: { names: readonly string[] }) {
  if (names.length <= NAMED) return <span class="break">{names.join(', ')}</span>;
  return (
    <details class="names">
      <summary>
        {names.slice(0, 2).join(', ')} and {names.length - 2} more
      </summary>
      <span class="break">{names.join(', ')}</span>
    </details>
  );
}
