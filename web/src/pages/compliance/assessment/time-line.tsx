import { useId } from 'preact/hooks';
import { withPlainNames } from '../../../design/actor-words.ts';
import { exactTime } from '../../../ui/time.tsx';
import { dayOf } from '../days.ts';
import type { FailingInterval } from '../types.ts';

const [WIDTH, HEIGHT, TRACK] = [1_000, 32, 16];
/** What is shorter than this would not be seen. */
const LEAST = 4;
const HATCH = 8;

interface Props {
  readonly failing: readonly FailingInterval[];
  readonly from: string;
  readonly to: string;
}

/** The period as a bar, with what failed hatched, and a diamond for what failed at one instant. */
export function TimeLine({ failing, from, to }: Props) {
  const hatch = useId();
  const [start, end] = [Date.parse(from), Date.parse(to)];
  const x = (at: string) => ((Date.parse(at) - start) / Math.max(1, end - start)) * WIDTH;
  const top = (HEIGHT - TRACK) / 2;
  return (
    <div class="stack-small">
      <svg
        class="line"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Time line of the period: it failed ${failing.length} ${failing.length === 1 ? 'time' : 'times'}.`}
      >
        <defs>
          <pattern id={hatch} width={HATCH} height={HATCH} patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <path class="hatch" d={`M0 0V${HATCH}`} stroke-width="4" />
          </pattern>
        </defs>
        <rect class="track" x="0" y={top} width={WIDTH} height={TRACK} />
        {failing.map((interval) => {
          const [left, right] = [x(interval.from), x(interval.to)];
          const title = (
            <title>
              {exactTime(interval.from)}: {withPlainNames(interval.facts)}
            </title>
          );
          if (interval.from === interval.to) {
            return (
              <path key={interval.from + interval.facts} class="point" d={`M${left} 0l8 16l-8 16l-8 -16z`}>
                {title}
              </path>
            );
          }
          const width = Math.max(LEAST, right - left);
          return (
            <g key={interval.from + interval.facts}>
              <rect class="failed" x={left} y={top - 4} width={width} height={TRACK + 8}>
                {title}
              </rect>
              <rect
                x={left}
                y={top - 4}
                width={width}
                height={TRACK + 8}
                fill={`url(#${hatch})`}
                pointer-events="none"
              />
            </g>
          );
        })}
      </svg>
      <span class="ends dim small">
        <span>{dayOf(from)}</span>
        {failing.length > 0 && <span>Hatched: failing. Diamond: a change that broke it.</span>}
        <span>{dayOf(to)}</span>
      </span>
    </div>
  );
}
