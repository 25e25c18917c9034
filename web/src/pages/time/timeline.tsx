import { useComputed, useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import type { components } from '../../api/schema.d.ts';
import { pagesOfPast } from '../../route/past.ts';
import { linkTo, route, setQuery } from '../../route/route.ts';
import { texts } from '../../texts/texts.ts';
import { time } from '../../texts/time.ts';
import { exactTime } from '../../ui/time.tsx';
import { type Change, titleText } from './change.ts';

type Answer = components['schemas']['ListChangesResponse'];

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
    <section class="panel stack-small" aria-label={time.steps}>
      <div class="row">
        <button type="button" aria-label={time.previous} disabled={position <= 0} onClick={() => go(position - 1)}>
          <span aria-hidden="true">◀</span>
        </button>
        <button type="button" onClick={play}>
          <span aria-hidden="true">{isPlaying.value ? '❚❚' : '▶'}</span> {isPlaying.value ? time.pause : time.play}
        </button>
        <button type="button" aria-label={time.next} disabled={position >= count} onClick={() => go(position + 1)}>
          <span aria-hidden="true">▶</span>
        </button>
        <select
          aria-label={time.speed}
          value={String(speed.value)}
          onChange={({ currentTarget }) => {
            speed.value = Number(currentTarget.value);
          }}
        >
          {SPEEDS.map((ms) => (
            <option key={ms} value={String(ms)}>
              {time.speeds[ms]}
            </option>
          ))}
        </select>
        <input
          type="range"
          class="slider"
          min={0}
          max={count}
          step={1}
          value={position}
          aria-label={time.slider}
          aria-valuetext={text}
          onInput={({ currentTarget }) => {
            isPlaying.value = false;
            go(Number(currentTarget.value));
          }}
        />
      </div>
      <p class="break" aria-live={isPlaying.value ? 'off' : 'polite'}>
        {text}
      </p>
      <SeeThen at={at.value} />
      {answer.total > count && count >= MAX_SHOWN && <p class="small dim">{time.cut(count)}</p>}
      <p class="small dim">{time.keys}</p>
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
  if (at === null || instant === undefined) return time.atNow;
  const change = changes.find((one) => one.at === at);
  const what = change ? `${titleText(change)}, ${exactTime(at)}` : exactTime(at);
  return time.position(position + 1, instants.length, what);
}

/** Links to the pages that have a past. */
function SeeThen({ at }: { at: string | null }) {
  if (at === null) return <p class="dim">{time.seeNow}</p>;
  return (
    <p class="row">
      <span>{time.seeThen}</span>
      {SEEN.filter((name) => pagesOfPast.value.includes(name)).map((name) => (
        <a key={name} href={linkTo(name)}>
          {texts.shell.pages[name]}
        </a>
      ))}
    </p>
  );
}
