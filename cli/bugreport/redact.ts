import { isHarmless } from './harmless.ts';
import { bounded, withoutColours } from './plain-text.ts';
import { REMOVED } from './removed.ts';
import { scatteredRemover, withoutByteRows } from './scattered.ts';
import { announcesSecret, withoutNamed } from './secret-names.ts';

/** Shorter ones would be found in words that say nothing. */
const SHORTEST_SECRET = 6;

const PEM_BEGIN = '-----BEGIN ';
const PEM_END = '-----END ';
const WORDS = /[^\s"'`,;(){}<>|]+/g;

/**
 * Makes a text safe to give away: what is known as a secret here goes, in whatever form, then what stands where one would be
 * named, then each word that is not seen to be harmless. When in doubt it goes.
 *
 * @param known what everybody may know: public keys, names and addresses of the network, names of interfaces
 */
export function redactor(secrets: readonly string[], known: ReadonlySet<string>): (text: string) => string {
  const forms = [...new Set(secrets.filter(({ length }) => length >= SHORTEST_SECRET).flatMap(formsOf))]
    // A secret that holds another goes whole.
    .sort((a, b) => b.length - a.length);
  const withoutScattered = scatteredRemover(secrets);
  const safeWord = (word: string, at: number, line: string) => {
    if (word === REMOVED || known.has(word)) return word;
    return isPadded(word, line[at - 1], line[at + word.length]) || !isHarmless(word, known) ? REMOVED : word;
  };
  const safeLine = (line: string) =>
    withoutHexDump(withoutNamed(withoutUserinfo(line), known)).replace(WORDS, safeWord);
  return (text) => {
    const whole = forms.reduce((left, form) => left.replaceAll(form, REMOVED), withoutColours(text));
    const apart = withoutByteRows(withoutScattered(whole)).split(PEM_BEGIN).map(afterPem).join('');
    let isAnnounced = false;
    const lines = apart.split('\n').map((long) => {
      const line = bounded(long);
      const safe = isAnnounced && line.trim() !== '' ? REMOVED : safeLine(line);
      isAnnounced = announcesSecret(line) || (isAnnounced && line.trim() === '');
      return safe;
    });
    return lines.join('\n');
  };
}

/** As `redactor`, for a value of known fields: numbers and what is true stay. */
export function redactedJson(safe: (text: string) => string, value: unknown): string {
  const each = (part: unknown): unknown => {
    if (typeof part === 'string') return safe(part);
    if (Array.isArray(part)) return part.map(each);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([name, held]) => [safe(name), each(held)]));
  };
  return JSON.stringify(each(value), null, 1);
}

/** What follows the beginning of a key file: all up to its end, or of the text where it was cut off. */
function afterPem(part: string, at: number): string {
  if (at === 0) return part;
  const end = part.indexOf(PEM_END);
  return `${REMOVED}${end < 0 ? '' : part.slice(end + PEM_END.length)}`;
}

/** Whether a word is the end of something in base64, and no name before a text in quotes. */
function isPadded(word: string, before: string | undefined, after: string | undefined): boolean {
  if (!word.endsWith('=') || !/^[\w+/]/.test(word)) return false;
  return (after !== '"' && after !== "'") || after === before;
}

const BYTE = /^[0-9a-f]{2}$/i;
/** So many bytes in a row are no date and no version. */
const BYTES_OF_A_DUMP = 6;

/** Bytes in hex with spaces between them, and with the quotes or brackets around their ends. */
function withoutHexDump(line: string): string {
  const words = line.split(' ');
  const isByte = words.map((word) => BYTE.test(word));
  let from = 0;
  for (let at = 0; at <= words.length; at += 1) {
    if (isByte[at]) continue;
    if (at - from >= BYTES_OF_A_DUMP) words.fill(REMOVED, Math.max(0, from - 1), Math.min(words.length, at + 1));
    from = at + 1;
  }
  return words.join(' ');
}

/** Name and password before the host of an address: up to the last @, whatever else they hold. */
function withoutUserinfo(line: string): string {
  return line.replace(/\S+/g, (word) => {
    const end = word.lastIndexOf('@');
    const colon = word.indexOf(':');
    if (end < 0 || colon < 0 || colon > end) return word;
    const from = word.startsWith('://', colon) ? colon + 3 : colon + 1;
    return from > end ? word : `${word.slice(0, from)}${REMOVED}${word.slice(end)}`;
  });
}

/** How programs write a secret: as it is, in JSON, in JSON within JSON, in an address; a key in hex as WireGuard has it. */
function formsOf(secret: string): string[] {
  const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
  const inAddress = encodeURIComponent(secret);
  const forms = [
    secret,
    inJson(secret),
    inJson(inJson(secret)),
    inAddress,
    inAddress.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    inAddress.replaceAll('%20', '+'),
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('hex'),
  ];
  if (!/^[A-Za-z0-9+/]{43}=$/.test(secret)) return forms;
  const bytes = Buffer.from(secret, 'base64');
  const hex = bytes.toString('hex');
  return [...forms, hex, hex.toUpperCase(), bytes.toString('base64url'), secret.slice(0, -1)];
}
