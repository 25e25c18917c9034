import { REMOVED } from './removed.ts';

/** Of shorter secrets the letters would be found in words one after the other. */
const SHORTEST_SCATTERED = 16;
/** So many numbers of one byte in a row are a key: an address has four, an address of hardware six. */
const BYTES_OF_A_KEY = 16;
/** Between two of them: a comma, a line end, and as much space as JSON in JSON is indented by. */
const WIDEST_GAP = 48;

/** Letters that stand for line ends and tabs in strings of programs, as so many spaces: what is found keeps its place. */
const withoutEscapes = (text: string) => text.replaceAll(/\\[nrt]/g, '  ');

/** The one spelling of each digit by the code of its character; what is none stands between digits. */
type Spellings = readonly (string | undefined)[];

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const HEX = spelt('0123456789abcdefABCDEF', (char) => char.toLowerCase());
const BASE64 = spelt(`${LETTERS}0123456789+/-_`, (char) => (char === '-' ? '+' : char === '_' ? '/' : char));

function spelt(chars: string, spelling: (char: string) => string): Spellings {
  const all: string[] = [];
  for (const char of chars) all[char.charCodeAt(0)] = spelling(char);
  return all;
}

/** Takes known secrets out that are cut into groups or lines, in hex or in base64, whatever stands between these. */
export function scatteredRemover(secrets: readonly string[]): (text: string) => string {
  const long = secrets.filter(({ length }) => length >= SHORTEST_SCATTERED);
  const texts = long.map((secret) => Buffer.from(secret));
  const keys = long.filter((secret) => /^[A-Za-z0-9+/]{43}=$/.test(secret)).map((key) => Buffer.from(key, 'base64'));
  const inHex = [...texts, ...keys].map((bytes) => bytes.toString('hex'));
  const inBase64 = [...long, ...texts.map((bytes) => bytes.toString('base64'))].map(
    (form) => digitsOf(form, BASE64).digits,
  );
  return (text) => {
    const safe = without(text, withoutEscapes(text).replaceAll(/(?:0|\\)x/gi, '  '), inHex, HEX);
    return without(safe, withoutEscapes(safe), inBase64, BASE64);
  };
}

/** `flat`: the text as it is searched, of the same length. */
function without(text: string, flat: string, forms: readonly string[], spellings: Spellings): string {
  const long = forms.filter(({ length }) => length >= SHORTEST_SCATTERED);
  if (long.length === 0) return text;
  const { digits, places } = digitsOf(flat, spellings);
  const ranges = long
    .flatMap((form) => rangesOf(digits, form))
    .map(([from, to]) => [places[from] ?? 0, (places[to] ?? 0) + 1] as const);
  return withoutRanges(text, ranges);
}

/** The digits of a text alone, and where each of them stands. */
function digitsOf(text: string, spellings: Spellings): { readonly digits: string; readonly places: readonly number[] } {
  const digits: string[] = [];
  const places: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const digit = spellings[text.charCodeAt(at)];
    if (digit === undefined) continue;
    digits.push(digit);
    places.push(at);
  }
  return { digits: digits.join(''), places };
}

/** First and last digit of each find. */
function rangesOf(digits: string, form: string): (readonly [number, number])[] {
  const ranges: (readonly [number, number])[] = [];
  for (let at = digits.indexOf(form); at >= 0; at = digits.indexOf(form, at + form.length)) {
    ranges.push([at, at + form.length - 1]);
  }
  return ranges;
}

/** Takes rows of bytes out, written as numbers, in hex with or without a mark, each on its own or joined by points. */
export function withoutByteRows(text: string): string {
  const flat = withoutEscapes(text);
  const ranges: (readonly [number, number])[] = [];
  let [from, end, count] = [0, 0, 0];
  const close = () => {
    if (count >= BYTES_OF_A_KEY) ranges.push([from, end]);
    count = 0;
  };
  for (const { 0: word, index } of flat.matchAll(/[\w.]+/g)) {
    const bytes = bytesIn(word);
    if (bytes === 0 || (count > 0 && index - end > WIDEST_GAP)) close();
    if (bytes === 0) continue;
    if (count === 0) from = index;
    end = index + word.length;
    count += bytes;
  }
  close();
  return withoutRanges(text, ranges);
}

/** How many bytes a word is; an address is none. */
function bytesIn(word: string): number {
  const parts = word.replace(/\.$/, '').split('.');
  return parts.length !== 4 && parts.every(isByte) ? parts.length : 0;
}

function isByte(word: string): boolean {
  return /^(?:0?x)?[0-9a-f]{1,2}$/i.test(word) || (/^\d{3}$/.test(word) && Number(word) < 256);
}

function withoutRanges(text: string, ranges: readonly (readonly [number, number])[]): string {
  let safe = '';
  let at = 0;
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    if (to <= at) continue;
    if (from >= at) safe += `${text.slice(at, from)}${REMOVED}`;
    at = to;
  }
  return safe + text.slice(at);
}
