import './bars.css';

/**
 * Counts as bars of equal width, the first at the left: a picture beside words that say the same.
 *
 * @param chosen index of the bar that is looked at
 */
export function Bars({ counts, chosen }: { counts: readonly number[]; chosen?: number | undefined }) {
  const most = Math.max(1, ...counts);
  return (
    <svg class="bars" viewBox={`0 0 ${counts.length} 1`} preserveAspectRatio="none" aria-hidden="true">
      {counts.map((count, index) => {
        // The smallest count is still seen beside the largest.
        const height = count === 0 ? 0 : Math.max(0.08, count / most);
        const shade = chosen === index ? 'chosen' : '';
        return <rect key={index} class={shade} x={index + 0.1} y={1 - height} width="0.8" height={height} />;
      })}
    </svg>
  );
}

/**
 * Counts instants in equal parts of a span.
 *
 * @param from begin of the span, ms since 1970
 * @param to its end
 */
export function countsIn(instants: readonly string[], from: number, to: number, parts: number): number[] {
  const counts = Array.from({ length: parts }, () => 0);
  const length = Math.max(1, to - from);
  for (const instant of instants) {
    const part = Math.floor((parts * (Date.parse(instant) - from)) / length);
    const index = Math.min(parts - 1, Math.max(0, part));
    counts[index] = (counts[index] ?? 0) + 1;
  }
  return counts;
}
