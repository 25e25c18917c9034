import { isTimeZone } from '../../core/base/time-zone.ts';
import type { Word } from './tokens.ts';
import { textAt } from './tokens.ts';

/** The instant that a sentence is read at, ms, and the zone whose clocks its days and times mean. */
export interface Clocks {
  readonly now: number;
  readonly timeZone: string;
}

/** The clocks that a time is by, as they stand behind it: IANA names and offsets of which each may be meant. None: not known. */
export interface NamedZone {
  readonly zones: readonly string[];
  readonly end: number;
}

/** Meanings of an abbreviation: its own offset, and the clocks of those who use it, which differ for half of the year. */
const ABBREVIATIONS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    ...{ utc: ['UTC'], gmt: ['UTC'], z: ['UTC'], zulu: ['UTC'] },
    ...{ wet: ['+00:00', 'Europe/Lisbon'], west: ['+01:00', 'Europe/Lisbon'], bst: ['+01:00', 'Europe/London'] },
    ...{ cet: ['+01:00', 'Europe/Brussels'], met: ['+01:00', 'Europe/Brussels'], cest: ['+02:00', 'Europe/Brussels'] },
    ...{ eet: ['+02:00', 'Europe/Athens'], eest: ['+03:00', 'Europe/Athens'], msk: ['+03:00'], jst: ['+09:00'] },
    ...{ aest: ['+10:00', 'Australia/Sydney'], ist: ['+05:30', '+01:00', '+02:00'] },
    ...{ est: ['-05:00', 'America/New_York'], edt: ['-04:00', 'America/New_York'] },
    ...{ cst: ['-06:00', '+08:00'], cdt: ['-05:00', 'America/Chicago'] },
    ...{ mst: ['-07:00', 'America/Denver'], mdt: ['-06:00', 'America/Denver'] },
    ...{ pst: ['-08:00', 'America/Los_Angeles'], pdt: ['-07:00', 'America/Los_Angeles'] },
  }),
);
const REGIONS = 'Africa America Antarctica Asia Atlantic Australia Europe Indian Pacific'.split(' ');
/** Words of the name of a city, such as `port of spain`. */
const MAX_WORDS = 3;
/** Before "time" these name no place. */
const NO_PLACES: ReadonlySet<string> = new Set(
  'the this that same first next last some any each every a an of'.split(' '),
);
const HERE: ReadonlySet<string> = new Set(['local', 'our', 'my', 'your', 'their']);

/**
 * The zone at a place: `utc`, `cet`, `+02:00`, `europe/zurich`, `zurich time`, `in new york`.
 *
 * @param isName whether a word means somebody: without "time" it is no city then
 */
export function zoneAt(words: readonly Word[], at: number, isName: (word: string) => boolean): NamedZone | undefined {
  const word = textAt(words, at);
  const known = ABBREVIATIONS.get(word) ?? offsetsIn(word) ?? (word.includes('/') ? [word].filter(isTimeZone) : []);
  if (known.length > 0) return { zones: known.map(spelt), end: afterTime(words, at + 1) };
  if (HERE.has(word) && textAt(words, at + 1) === 'time') return { zones: [], end: at + 2 };
  const start = word === 'in' ? at + 1 : at;
  for (let length = MAX_WORDS; length > 0; length--) {
    const named = words.slice(start, start + length);
    const end = start + named.length;
    const isTime = textAt(words, end) === 'time';
    if (
      named.length < length ||
      named.some(({ quoted }) => quoted) ||
      (!isTime && named.some(({ text }) => isName(text)))
    )
      continue;
    const zones = citiesCalled(named.map(({ text }) => text).join('_'));
    if (zones.length > 0) return { zones, end: afterTime(words, end) };
  }
  const isUnknown = /^[a-z]+$/.test(textAt(words, start)) && !NO_PLACES.has(textAt(words, start));
  return isUnknown && textAt(words, start + 1) === 'time' ? { zones: [], end: start + 2 } : undefined;
}

/** `+02:00`, `utc+2`, `gmt-3:30`. */
function offsetsIn(word: string): string[] | undefined {
  const [, sign = '', hours, minutes = '00'] = /^(?:utc|gmt)?([+-])(\d{1,2})(?::?(\d\d))?$/.exec(word) ?? [];
  const zone = `${sign}${(hours ?? '').padStart(2, '0')}:${minutes}`;
  return hours !== undefined && isTimeZone(zone) ? [zone] : undefined;
}

/** Zones of words that were asked for: to find that a word is none takes a millisecond. */
const knownCities = new Map<string, readonly string[]>();
const KEPT_CITIES = 1_000;

/** Zones whose name ends in a city. */
function citiesCalled(city: string): readonly string[] {
  if (!/^[a-z][a-z_-]{1,40}$/.test(city)) return [];
  const known = knownCities.get(city);
  if (known) return known;
  const zones = REGIONS.map((region) => spelt(`${region}/${city}`)).filter(isTimeZone);
  if (knownCities.size >= KEPT_CITIES) knownCities.clear();
  knownCities.set(city, zones);
  return zones;
}

function afterTime(words: readonly Word[], end: number): number {
  return textAt(words, end) === 'time' ? end + 1 : end;
}

/** `Europe/Zurich`, `America/Port_of_Spain`. */
function spelt(name: string): string {
  return name.replaceAll(/(?<![a-z])[a-z]+/gi, (word) =>
    ['of', 'es', 'au'].includes(word) ? word : `${word.charAt(0).toUpperCase()}${word.slice(1)}`,
  );
}
