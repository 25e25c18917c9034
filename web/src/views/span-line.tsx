import type { Verdict } from '../reach/why.tsx';
import { exactTime, shortTime } from '../ui/time.tsx';

const [WIDTH, HEIGHT] = [1_000, 32];
/** What is shorter than this would not be seen. */
const LEAST = 4;
/** Height tells what colour tells. */
const SHARE: Record<Verdict, number> = { reachable: 1, partial: 0.5, unreachable: 0.2, undetermined: 0 };

interface Span {
  readonly from: string;
  readonly to: string;
  readonly verdict: string;
}

/** A range as a line: how a connection was in each part of it. */
export function SpanLine({ spans, from, to }: { spans: readonly Span[]; from: string; to: string }) {
  const [start, end] = [Date.parse(from), Date.parse(to)];
  const x = (at: string) => ((Date.parse(at) - start) / Math.max(1, end - start)) * WIDTH;
  return (
    <div>
      <svg
        class="span-line"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${spans.length} ${spans.length === 1 ? 'interval' : 'intervals'} as a line`}
      >
        <rect class="track" width={WIDTH} height={HEIGHT} />
        {spans.map((span) => {
          const verdict = verdictIn(span);
          const height = HEIGHT * SHARE[verdict];
          const width = Math.max(LEAST, x(span.to) - x(span.from));
          return (
            <rect key={span.from} class={verdict} x={x(span.from)} y={HEIGHT - height} width={width} height={height}>
              <title>{exactTime(span.from)}</title>
            </rect>
          );
        })}
      </svg>
      <p class="row small dim">
        <span>{shortTime(from)}</span>
        <span class="push">{shortTime(to)}</span>
      </p>
      <p class="small dim">High: reachable. Half: in part. Low: not reachable.</p>
    </div>
  );
}

export function verdictIn({ verdict }: Pick<Span, 'verdict'>): Verdict {
  return verdict in SHARE ? (verdict as Verdict) : 'undetermined';
}
