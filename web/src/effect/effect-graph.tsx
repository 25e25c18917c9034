import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Effect } from '../api/types.ts';
import { pairsText } from '../reach/ports.ts';
import { EFFECT_SIDES, type EffectSide } from './effect-section.tsx';
import { type EffectLine, linesOf, pairsNotNamed } from './grouped.ts';
import './effect-graph.css';

/** Arrows of one picture; the list beside it has all. */
const MOST = 6;
/** CSS pixels. The picture is drawn at the width that it has, so that its text is as large as that of the page. */
const ROW = 40;
const WIDEST = 720;
const BOX_HEIGHT = 28;
const LABEL_HEIGHT = 16;
/** As wide as a character is at most, on average. */
const CHARACTER = 7;
/** Places of a label on its line, the best first. */
const ON_LINE = [0.5, 0.35, 0.65, 0.2, 0.8] as const;

interface Arrow {
  readonly kind: EffectSide;
  readonly from: string;
  readonly to: string;
  readonly traffic: string;
}

interface EffectGraphProps {
  readonly opens: readonly EffectLine[];
  readonly closes: readonly EffectLine[];
  /** Pairs that no line names. */
  readonly left?: number;
}

/** What opens and closes as a picture: who on the left, whom on the right. Closed arrows are broken. */
export function EffectGraph({ opens, closes, left = 0 }: EffectGraphProps) {
  const arrows = [...arrowsOf('opens', opens), ...arrowsOf('closes', closes)];
  return arrows.length === 0 ? null : <Picture all={arrows} left={left} />;
}

/** The picture of the first rows of an effect. */
export function FirstRowsGraph({ effect }: { effect: Effect }) {
  return <EffectGraph {...linesOf(effect)} left={pairsNotNamed(effect)} />;
}

function Picture({ all, left }: { all: readonly Arrow[]; left: number }) {
  const { frame, width } = useWidth();
  const arrows = all.slice(0, MOST);
  const sources = placesOf(arrows.map(({ from }) => from));
  const targets = placesOf(arrows.map(({ to }) => to));
  const height = Math.max(sources.size, targets.size) * ROW;
  const box = Math.floor(width / 3);
  const lines = placedLines(arrows, sources, targets, box, width - box);
  return (
    <div ref={frame} class="effect-graph">
      <svg width={width} height={height} role="img" aria-label={sentenceOf(arrows)}>
        {lines.map(({ key, kind, x1, y1, x2, y2 }) => (
          <g key={key} class={kind}>
            <path d={`M${x1} ${y1} L${x2 - 10} ${y2}`} />
            <path class="head" d={`M${x2} ${y2} l-10 -5 v10 z`} />
          </g>
        ))}
        {lines.map(({ key, traffic, label }) => (
          <text key={key} class="traffic" x={label.x} y={label.y + 4} text-anchor="middle">
            {traffic}
          </text>
        ))}
        {[...sources].map(([name, y]) => (
          <Box key={name} name={name} x={0} y={y} width={box} />
        ))}
        {[...targets].map(([name, y]) => (
          <Box key={name} name={name} x={width - box} y={y} width={box} />
        ))}
      </svg>
      {all.length > MOST && <p class="dim small">{all.length - MOST} more are listed, not drawn.</p>}
      {left > 0 && <p class="dim small">{pairsText(left)} more, not drawn.</p>}
    </div>
  );
}

/** The width that the frame has, CSS pixels. */
function useWidth() {
  const frame = useRef<HTMLDivElement>(null);
  const width = useSignal(WIDEST);
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element) return undefined;
    const measure = () => {
      width.value = Math.min(WIDEST, element.clientWidth || WIDEST);
    };
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  return { frame, width: width.value };
}

function arrowsOf(kind: EffectSide, lines: readonly EffectLine[]): readonly Arrow[] {
  return lines.map(({ sources, targets, traffic }) => ({ kind, from: named(sources), to: named(targets), traffic }));
}

function named(names: readonly string[]): string {
  return names.length <= 2 ? names.join(', ') : `${names[0]} and ${names.length - 1} more`;
}

/** The middle of each box, from the top, in the order in which they are first named. */
function placesOf(names: readonly string[]): ReadonlyMap<string, number> {
  return new Map([...new Set(names)].map((name, index) => [name, index * ROW + ROW / 2]));
}

function sentenceOf(arrows: readonly Arrow[]): string {
  return arrows.map(({ kind, from, to, traffic }) => `${EFFECT_SIDES[kind]}: ${from} to ${to}, ${traffic}.`).join(' ');
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Arrows with their ends, each with its label on its own line and, where there is room, beside the other labels. */
function placedLines(
  arrows: readonly Arrow[],
  sources: ReadonlyMap<string, number>,
  targets: ReadonlyMap<string, number>,
  x1: number,
  x2: number,
) {
  const taken: (Point & { readonly width: number })[] = [];
  return arrows.map(({ kind, from, to, traffic }) => {
    const [y1, y2] = [sources.get(from) ?? 0, targets.get(to) ?? 0];
    const shown = shortened(traffic, x2 - x1);
    const width = shown.length * CHARACTER;
    const places = ON_LINE.map((part) => ({ x: x1 + (x2 - x1) * part, y: y1 + (y2 - y1) * part }));
    const isFree = ({ x, y }: Point) =>
      x - width / 2 >= x1 &&
      x + width / 2 <= x2 &&
      !taken.some((label) => Math.abs(label.y - y) < LABEL_HEIGHT && Math.abs(label.x - x) < (label.width + width) / 2);
    const label = places.find(isFree) ?? { x: (x1 + x2) / 2, y: (y1 + y2) / 2 };
    taken.push({ ...label, width });
    return { key: `${kind} ${from} ${to} ${traffic}`, kind, traffic: shown, x1, y1, x2, y2, label };
  });
}

/** Returns as much of a text as fits into a width. */
function shortened(text: string, width: number): string {
  const fit = Math.max(1, Math.floor(width / CHARACTER));
  return text.length > fit ? `${text.slice(0, fit - 1)}…` : text;
}

function Box({ name, x, y, width }: { name: string; x: number; y: number; width: number }) {
  return (
    <g class="box">
      <title>{name}</title>
      <rect x={x + 1} y={y - BOX_HEIGHT / 2} width={width - 2} height={BOX_HEIGHT} rx="6" />
      <text x={x + width / 2} y={y + 4} text-anchor="middle">
        {shortened(name, width - 8)}
      </text>
    </g>
  );
}
