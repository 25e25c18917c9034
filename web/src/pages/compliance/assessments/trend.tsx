import { answer, api } from '../../../api/client.ts';
import type { Framework } from '../../../api/frameworks.ts';
import { useLoaded } from '../../../api/load.ts';
import type { components } from '../../../api/schema.d.ts';
import { workspaceId } from '../../../api/workspace.ts';
import { linkTo, queryPart } from '../../../route/route.ts';
import { ReadResult } from '../../../ui/read-result.tsx';
import { dayOf } from '../days.ts';
import { frameworkOf } from './framework-of.ts';

const [WIDTH, HEIGHT] = [720, 176];
const [LEFT, RIGHT, TOP, BOTTOM] = [48, 16, 12, 28];
const FULL = 100;

/** The score of the kept assessments by the end of their period. Each point leads to its assessment. */
export function Trend({ framework }: { framework: Framework }) {
  const loaded = useLoaded(() => {
    workspaceId.value;
    const query = { framework: frameworkOf(queryPart('framework')) };
    return answer(api.GET('/api/v1/ai/compliance/assessments/trend', { params: { query } }));
  });
  return (
    <ReadResult of={loaded.value} loading="">
      {(trend) => trend.framework === framework && <Curve trend={trend} />}
    </ReadResult>
  );
}

function Curve({ trend: { points, more } }: { trend: components['schemas']['GetComplianceTrendResponse'] }) {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last || points.length === 1) return null;
  const times = points.map(({ generated_at: at }) => Date.parse(at));
  const [begin, end] = [Math.min(...times), Math.max(...times)];
  const x = (at: number) => LEFT + ((at - begin) / Math.max(1, end - begin)) * (WIDTH - LEFT - RIGHT);
  const y = (score: number) => TOP + (1 - score / FULL) * (HEIGHT - TOP - BOTTOM);
  const path = points
    .map(({ score }, index) => `${index === 0 ? 'M' : 'L'}${x(times[index] ?? 0)} ${y(score)}`)
    .join('');
  return (
    <section class="stack">
      <h2>Score over time</h2>
      <p>
        Score of {points.length} assessments: from {first.score} % to {last.score} %. {more && 'There are older ones.'}
      </p>
      {/* biome-ignore lint/a11y/useSemanticElements: a group of links in a drawing, where no fieldset can stand */}
      <svg class="trend" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="group" aria-label="Score over time">
        {[0, FULL / 2, FULL].map((score) => (
          <g key={score}>
            <path class="grid" d={`M${LEFT} ${y(score)}H${WIDTH - RIGHT}`} />
            <text x={LEFT - 8} y={y(score) + 4} text-anchor="end">
              {score} %
            </text>
          </g>
        ))}
        <text x={LEFT} y={HEIGHT - 8}>
          {dayOf(first.generated_at)}
        </text>
        <text x={WIDTH - RIGHT} y={HEIGHT - 8} text-anchor="end">
          {dayOf(last.generated_at)}
        </text>
        <path class="score" d={path} />
        {points.map(({ evidence_id: id, score, generated_at: at, counts }, index) => {
          const label = `${dayOf(at)}: ${score} %, ${counts.fail} fails`;
          return (
            <a key={id} href={linkTo('compliance', ['assessments', id])} aria-label={label}>
              <circle cx={x(times[index] ?? 0)} cy={y(score)} r="4">
                <title>{label}</title>
              </circle>
            </a>
          );
        })}
      </svg>
    </section>
  );
}
