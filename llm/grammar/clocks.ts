import type { Token } from './lexicon.ts';
import { textAt } from './tokens.ts';

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
export function clockAt(tokens: readonly Token[], at: number, bare: boolean | 'suffixed'): Clock | undefined {
  const word = textAt(tokens, at);
  if (word === 'midnight') return { ms: 0, end: at + 1, isMidnight: true };
  if (word === 'noon') return { ms: 12 * HOUR_MS, end: at + 1 };
  const pattern = bare === false ? CLOCK : LOOSE;
  const [, hours, minutes = '0', glued] = pattern.exec(word) ?? [];
  if (hours === undefined) return undefined;
  const next = textAt(tokens, at + 1);
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
const UTC: ReadonlySet<string> = new Set(['utc', 'gmt', 'z']);

/** What says that a time is UTC says nothing new. */
export function withoutZone(tokens: readonly Token[], end: number): number {
  return UTC.has(textAt(tokens, end)) ? end + 1 : end;
}

/** Hours before UTC; of some names there are several. */
const ZONES: ReadonlyMap<string, readonly number[]> = new Map(
  Object.entries({
    ...{
      wet: [0],
      west: [1],
      bst: [1],
      cet: [1],
      met: [1],
      cest: [2],
      eet: [2],
      eest: [3],
      msk: [3],
      ist: [5.5, 1, 2],
    },
    ...{
      jst: [9],
      aest: [10],
      est: [-5],
      edt: [-4],
      cst: [-6, 8],
      cdt: [-5],
      mst: [-7],
      mdt: [-6],
      pst: [-8],
      pdt: [-7],
    },
    local: [],
  }),
);

/** Another zone: `cet`, `+02:00`, `local time`. Milliseconds before UTC. */
export function isOffset(
  tokens: readonly Token[],
  at: number,
): { readonly offsets: readonly number[]; readonly end: number } | undefined {
  const word = textAt(tokens, at);
  const named = ZONES.get(word);
  if (named) {
    const end = textAt(tokens, at + 1) === 'time' ? at + 2 : at + 1;
    return { offsets: named.map((hours) => hours * HOUR_MS), end };
  }
  const [, sign, hours, minutes = '0'] = /^(?:utc|gmt)?([+-])(\d{1,2})(?::?(\d\d))?$/.exec(word) ?? [];
  if (hours === undefined) return undefined;
  const ms = Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS;
  return { offsets: [sign === '-' ? -ms : ms], end: at + 1 };
}
