import { textAt, type Word } from './tokens.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** A time of the clock, from the start of its day. */
export interface Clock {
  /** Milliseconds. */
  readonly ms: number;
  readonly end: number;
  readonly isMidnight?: true;
}

/** `18:00`, `6pm`, `6 pm`, `noon`. With `bare` an hour alone too (`at 18`), or what only behind a day is one (`18h`, `18.00`). */
export function clockAt(words: readonly Word[], at: number, bare: boolean | 'suffixed'): Clock | undefined {
  const word = textAt(words, at);
  if (word === 'midnight') return { ms: 0, end: at + 1, isMidnight: true };
  if (word === 'noon') return { ms: 12 * HOUR_MS, end: at + 1 };
  const pattern = bare === false ? CLOCK : LOOSE;
  const [, hours, minutes = '0', glued] = pattern.exec(word) ?? [];
  if (hours === undefined) return undefined;
  const next = textAt(words, at + 1);
  const half = glued === 'am' || glued === 'pm' ? glued : next === 'am' || next === 'pm' ? next : undefined;
  const isHour = bare === true || (bare === 'suffixed' && /[.h]/.test(word)) || word.includes(':');
  if (half === undefined && !isHour) return undefined;
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (half === 'pm' ? 12 : 0);
  const inRange =
    (half === undefined ? Number(hours) <= 23 : Number(hours) >= 1 && Number(hours) <= 12) && Number(minutes) <= 59;
  if (!inRange) return undefined;
  return {
    ms: hour * HOUR_MS + Number(minutes) * MINUTE_MS,
    end: half !== undefined && glued !== half ? at + 2 : at + 1,
  };
}

const CLOCK = /^(\d{1,2})(?::(\d\d))?(?::00)?(am|pm|z|utc)?$/;
const LOOSE = /^(\d{1,2})(?:[:.h](\d\d))?h?(am|pm|z|utc)?$/;
