import { useComputed, useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import type { components } from '../../api/schema.d.ts';
import { Bars, countsIn } from '../../design/bars.tsx';
import { pagesOfPast } from '../../route/past.ts';
import { linkTo, route, setQuery } from '../../route/route.ts';
import { exactTime, shortTime } from '../../ui/time.tsx';
import { titleOf } from '../names.ts';
import { type Change, titleText } from './change.ts';

const TIME_SPEEDS = { 4000: 'every 4 s', 2000: 'every 2 s', 1000: 'every second' } as const;

type Answer = components['schemas']['ListChangesResponse'];

/** Bars of the histogram. */
const PARTS = 60;
/** A key goes from change to change, however far apart they are. */
const KEYS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -10,
  PageUp: 10,
};
const SPEEDS = [4_000, 2_000, 1_000] as const;
/** Where the network is looked at from here, in this order. */
const SEEN = ['peers', 'topology', 'reachability', 'policies', 'networks'] as const;

/** A slider over the changes of the range; at its end is now. It sets the time that every page looks at. */
export function Timeline({ answer, changes }: { answer: Answer; changes: readonly Change[] }) {
  const at = useComputed(() => route.value.query.get('at'));
  const isPlaying = useSignal(false);
  const speed = useSignal<number>(SPEEDS[matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : 1]);
  const instants = answer.instants.toReversed();
  const count = instants.length;
  const position = positionOf(instants, at.value);
  const [from, to] = [Date.parse(answer.from), Date.parse(answer.to)];
  const instantMs = (index: number) => Date.parse(instants[index] ?? answer.to);
  const go = (next: number) => setQuery({ at: instants[Math.max(0, next)] });
  useLayoutEffect(() => {
    if (!isPlaying.value) return undefined;
    if (position >= count) {
      isPlaying.value = false;
      return undefined;
    }
    const timer = setTimeout(() => go(position + 1), speed.value);
    return () => clearTimeout(timer);
  }, [isPlaying.value, position, count, speed.value]);
  if (count === 0) return <SeeThen at={at.value} />;
  const text = positionText(instants, position, changes, at.value);
  const play = () => {
    // From the end there is nothing to play: it begins anew.
    if (!isPlaying.value && position >= count) go(0);
    isPlaying.value = !isPlaying.value;
  };
  return (
    <section class="panel stack-small" aria-label="Step through the changes">
      <div class="row">
        <button type="button" aria-label="Earlier change" disabled={position <= 0} onClick={() => go(position - 1)}>
          <span aria-hidden="true">◀</span>
        </button>
        <button type="button" onClick={play}>
          <span aria-hidden="true">{isPlaying.value ? '❚❚' : '▶'}</span> {isPlaying.value ? 'Pause' : 'Play'}
        </button>
        <button type="button" aria-label="Later change" disabled={position >= count} onClick={() => go(position + 1)}>
          <span aria-hidden="true">▶</span>
        </button>
        <select
          aria-label="Speed"
          value={String(speed.value)}
          onChange={({ currentTarget }) => {
            speed.value = Number(currentTarget.value);
          }}
        >
          {SPEEDS.map((ms) => (
            <option key={ms} value={String(ms)}>
              {TIME_SPEEDS[ms]}
            </option>
          ))}
        </select>
        <p class="break" aria-live={isPlaying.value ? 'off' : 'polite'}>
          {text}
        </p>
      </div>
      <div class="slider-box">
        <Bars counts={countsIn(instants, from, to, PARTS)} />
        <input
          type="range"
          class="slider"
          min={from}
          max={to}
          step={1}
          value={position >= count ? to : instantMs(position)}
          aria-label="Position in the changes of this range"
          aria-valuetext={text}
          onKeyDown={(event) => {
            const next = { ...KEYS, Home: -position, End: count - position }[event.key];
            if (next === undefined) return;
            event.preventDefault();
            isPlaying.value = false;
            go(position + next);
          }}
          onInput={({ currentTarget }) => {
            isPlaying.value = false;
            const chosen = Number(currentTarget.value);
            go(chosen >= to ? count : instants.findLastIndex((one) => Date.parse(one) <= chosen));
          }}
        />
        <p class="row small dim">
          <span>{shortTime(answer.from)}</span>
          <span class="push">{shortTime(answer.to)}</span>
        </p>
      </div>
      <SeeThen at={at.value} />
      {answer.total > count && count >= MAX_SHOWN && (
        <p class="small dim">The slider shows the newest {count} changes of this range.</p>
      )}
    </section>
  );
}

/** As many as one answer tells. */
const MAX_SHOWN = 2_000;

/** The last change at or before the time that is looked at; behind all of them for now. */
function positionOf(instants: readonly string[], at: string | null): number {
  if (at === null) return instants.length;
  return Math.max(
    0,
    instants.findLastIndex((instant) => instant <= at),
  );
}

function positionText(
  instants: readonly string[],
  position: number,
  changes: readonly Change[],
  at: string | null,
): string {
  const instant = instants[position];
  if (at === null || instant === undefined) return 'Now, after all changes';
  const change = changes.find((one) => one.at === at);
  const what = change ? `${titleText(change)}, ${exactTime(at)}` : exactTime(at);
  return `${position + 1} of ${instants.length}: ${what}`;
}

/** Links to the pages that have a past. */
function SeeThen({ at }: { at: string | null }) {
  if (at === null) return null;
  return (
    <p class="row">
      <span>At this moment:</span>
      {SEEN.filter((name) => pagesOfPast.value.includes(name)).map((name) => (
        <a key={name} href={linkTo(name)}>
          {titleOf(name)}
        </a>
      ))}
    </p>
  );
}
