import './bars.css';

interface BarsProps {
  readonly counts: readonly number[];
  /** Index of the bar that is looked at. */
  readonly chosen?: number;
  /** Told where they are pointed at. */
  readonly title?: string;
  /** Count of a bar of the whole height; without it the largest. */
  readonly full?: number;
  /** Bars that have room, so that few do not become blocks; they stand at the right. Without it as many as counts. */
  readonly room?: number;
}

/** Counts as bars of equal width, the first at the left: a picture beside words that say the same. */
export function Bars({ counts, chosen, title, full, room = 0 }: BarsProps) {
  const most = full ?? Math.max(1, ...counts);
  const width = Math.max(room, counts.length);
  const start = counts.length - width;
  return (
    <svg class="bars" viewBox={`${start} 0 ${width} 1`} preserveAspectRatio="none" aria-hidden="true">
      {title && <title>{title}</title>}
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
