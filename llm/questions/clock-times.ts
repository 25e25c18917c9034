import { instantOfWall } from '../../core/base/time-zone.ts';
import { notUnderstood } from '../../core/history/pair/question-reader.ts';
import { clockAt } from '../grammar/clocks.ts';
import { textAt, type Word } from '../grammar/tokens.ts';
import { type Clocks, zoneAt } from '../grammar/zones.ts';
import { DAY_MS, HOUR_MS, type PartOfDay } from './days.ts';

export interface ClockTime {
  readonly ms: number;
  readonly end: number;
  /** Which half of the day is not known: `6` and `6:40`, not `06:40`, `18:40`, `6 pm` or `noon`. */
  readonly isHalfOpen: boolean;
  /** Where one is said; else the clocks are those of the question. */
  readonly zone?: string;
}

/** A time of the clock; after `at` an hour alone is one too: `at 3` is 03:00. */
export function clockTimeAt(words: readonly Word[], at: number, isAfterAt: boolean): ClockTime | undefined {
  const [plain, seconds] = withoutSeconds(words, at);
  const clock = clockAt(plain, at, isAfterAt);
  if (!clock) return undefined;
  const ms = clock.ms + seconds * 1_000;
  const isHalfOpen =
    ms >= HOUR_MS && ms < 13 * HOUR_MS && /^[1-9]/.test(textAt(words, at)) && !HALF.test(textAt(words, clock.end - 1));
  const end = ["o'clock", 'oclock'].includes(textAt(words, clock.end)) ? clock.end + 1 : clock.end;
  if (/\d(?:z|utc)$/.test(textAt(words, clock.end - 1))) return { ms, isHalfOpen, end, zone: 'UTC' };
  // A city without "time" may be where those are who are asked about.
  const named = zoneAt(words, end, () => true);
  const [zone, other] = named?.zones ?? [];
  const isSure = other === undefined || /^[A-Z]/.test(other);
  return named && zone !== undefined && isSure ? { ms, isHalfOpen, end: named.end, zone } : { ms, isHalfOpen, end };
}

const HALF = /(?:am|pm)$/;

/**
 * A time as it is meant in a part of the day: 6 in the evening is 18:00, 1 at night is of the day after.
 *
 * @throws MeshError that asks back, for one that is not in it
 */
export function inPart<C extends ClockTime>(clock: C, part: PartOfDay | undefined): C {
  const early = clock.ms % (12 * HOUR_MS);
  const isIn = part === 'morning' ? clock.ms <= 12 * HOUR_MS : clock.ms >= 12 * HOUR_MS;
  if (part !== undefined && part !== 'night' && !clock.isHalfOpen && !isIn)
    throw notUnderstood(`The time that is named is not in the ${part}: ask about one.`);
  switch (part) {
    case undefined:
      return clock;
    case 'morning':
      return clock.isHalfOpen ? { ...clock, ms: early } : clock;
    case 'afternoon':
    case 'evening':
      return clock.isHalfOpen ? { ...clock, ms: early + 12 * HOUR_MS } : clock;
    case 'night': {
      const ms = clock.isHalfOpen && early >= 6 * HOUR_MS ? early + 12 * HOUR_MS : clock.isHalfOpen ? early : clock.ms;
      return { ...clock, ms: ms < 12 * HOUR_MS ? ms + DAY_MS : ms };
    }
    default:
      return part satisfies never;
  }
}

export function instantAtClock(
  wall: number,
  { ms, zone }: Pick<ClockTime, 'ms' | 'zone'>,
  { timeZone }: Clocks,
): number {
  return instantOfWall(wall + ms, zone ?? timeZone);
}

/** `09:10:30` as `09:10` and 30. */
function withoutSeconds(words: readonly Word[], at: number): [words: readonly Word[], seconds: number] {
  const [, minutes, seconds, rest] = /^(\d{1,2}:\d\d):([0-5]\d)(am|pm|z|utc)?$/.exec(textAt(words, at)) ?? [];
  if (minutes === undefined) return [words, 0];
  return [words.with(at, { text: `${minutes}${rest ?? ''}`, quoted: false }), Number(seconds)];
}
