import { texts } from '../texts/texts.ts';
import type { EffectLine } from './grouped.ts';
import './effect-graph.css';

/** Arrows of one picture; the lines above it have all. */
const MOST = 16;
const ROW = 44;
const WIDTH = 720;
const BOX = { width: 240, height: 28 } as const;
/** Characters of a name that fit into a box. */
const FIT = 32;

type Kind = 'opens' | 'closes';

interface Arrow {
  readonly kind: Kind;
  readonly from: string;
  readonly to: string;
  readonly traffic: string;
}

/** What opens and closes as a picture: who on the left, whom on the right. Closed arrows are broken. */
export function EffectGraph({ opens, closes }: { opens: readonly EffectLine[]; closes: readonly EffectLine[] }) {
  const all = [...arrowsOf('opens', opens), ...arrowsOf('closes', closes)];
  const arrows = all.slice(0, MOST);
  const sources = placesOf(arrows.map(({ from }) => from));
  const targets = placesOf(arrows.map(({ to }) => to));
  const height = Math.max(sources.size, targets.size) * ROW;
  if (arrows.length === 0) return null;
  return (
    <details>
      <summary>{texts.effect.picture}</summary>
      <svg class="effect-graph" viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-label={sentenceOf(arrows)}>
        {arrows.map((arrow) => (
          <Line
            key={`${arrow.kind} ${arrow.from} ${arrow.to} ${arrow.traffic}`}
            arrow={arrow}
            y1={sources.get(arrow.from) ?? 0}
            y2={targets.get(arrow.to) ?? 0}
          />
        ))}
        {[...sources].map(([name, y]) => (
          <Box key={name} name={name} x={0} y={y} />
        ))}
        {[...targets].map(([name, y]) => (
          <Box key={name} name={name} x={WIDTH - BOX.width} y={y} />
        ))}
      </svg>
      {all.length > MOST && <p class="dim small">{texts.effect.arrowsLeft(all.length - MOST)}</p>}
    </details>
  );
}

function arrowsOf(kind: Kind, lines: readonly EffectLine[]): readonly Arrow[] {
  return lines.map(({ sources, targets, traffic }) => ({ kind, from: named(sources), to: named(targets), traffic }));
}

function named(names: readonly string[]): string {
  return names.length <= 2 ? names.join(', ') : `${names[0]} ${texts.effect.andMore(names.length - 1)}`;
}

/** The middle of each box, from the top, in the order in which they are first named. */
function placesOf(names: readonly string[]): ReadonlyMap<string, number> {
  return new Map([...new Set(names)].map((name, index) => [name, index * ROW + ROW / 2]));
}

function sentenceOf(arrows: readonly Arrow[]): string {
  return arrows
    .map(({ kind, from, to, traffic }) => `${texts.effect[kind]}: ${from} ${texts.effect.to} ${to}, ${traffic}.`)
    .join(' ');
}

function Line({ arrow: { kind, traffic }, y1, y2 }: { arrow: Arrow; y1: number; y2: number }) {
  const [x1, x2] = [BOX.width, WIDTH - BOX.width];
  const middle = { x: (x1 + x2) / 2, y: (y1 + y2) / 2 };
  return (
    <g class={kind}>
      <path d={`M${x1} ${y1} L${x2 - 10} ${y2}`} />
      <path class="head" d={`M${x2} ${y2} l-10 -5 v10 z`} />
      <text x={middle.x} y={middle.y - 6} text-anchor="middle">
        {traffic.length > FIT ? `${traffic.slice(0, FIT - 1)}…` : traffic}
      </text>
    </g>
  );
}

function Box({ name, x, y }: { name: string; x: number; y: number }) {
  return (
    <g class="box">
      <title>{name}</title>
      <rect x={x + 1} y={y - BOX.height / 2} width={BOX.width - 2} height={BOX.height} rx="6" />
      <text x={x + BOX.width / 2} y={y + 4} text-anchor="middle">
        {name.length > FIT ? `${name.slice(0, FIT - 1)}…` : name}
      </text>
    </g>
  );
}
