import { invalidInput } from './errors.ts';

/** Bounds of one JSON text. They are counted before it is parsed, so that its form costs no more than its length. */
export const JSON_LIMITS = {
  /** Bytes of the text; also those of a body before and after decompression. */
  bytes: 1_048_576,
  /** Levels of nesting. No resource has more than a dozen; so what is parsed may be walked by recursion. */
  depth: 64,
  /** Keys of all objects. A body of the largest size with nothing but ports has some 70,000, one of policies fewer. */
  keys: 100_000,
  /** Values: those of keys, entries of lists, and the text itself. The same body has some 100,000. */
  values: 120_000,
  /** Keys of one object. The longest map of any request has 64 keys. */
  keysOfObject: 1_000,
} as const;

/**
 * The value of a JSON text from outside.
 *
 * @throws SyntaxError for malformed JSON
 * @throws MeshError `invalid_input` that names the limit which the text exceeds
 */
export function parseJson(text: string): unknown {
  requireBounded(text);
  return JSON.parse(text);
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Counts the nesting, keys and values of a JSON text in one pass. It does not check the grammar, which `JSON.parse` does.
 *
 * @throws MeshError `invalid_input` that names the limit which the text exceeds
 */
export function requireBounded(text: string): void {
  const keysAt = new Int32Array(JSON_LIMITS.depth + 1);
  let depth = 0;
  let keys = 0;
  let values = 1;
  for (let index = 0; index < text.length; index += 1) {
    switch (text.charCodeAt(index)) {
      case QUOTE:
        index = endOfString(text, index);
        break;
      case COMMA:
        values += 1;
        if (values > JSON_LIMITS.values) throw tooMany(`more than ${JSON_LIMITS.values} values`);
        break;
      case COLON: {
        keys += 1;
        if (keys > JSON_LIMITS.keys) throw tooMany(`more than ${JSON_LIMITS.keys} keys`);
        const own = (keysAt[depth] ?? 0) + 1;
        keysAt[depth] = own;
        if (own > JSON_LIMITS.keysOfObject) throw tooMany(`an object of more than ${JSON_LIMITS.keysOfObject} keys`);
        break;
      }
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth += 1;
        if (depth > JSON_LIMITS.depth) throw tooDeep();
        keysAt[depth] = 0;
        values += 1;
        if (values > JSON_LIMITS.values) throw tooMany(`more than ${JSON_LIMITS.values} values`);
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth = Math.max(0, depth - 1);
        break;
      default:
    }
  }
}

/** Index of the quote that ends the string which begins at `start`; the end of the text where none does. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

export function tooDeep() {
  const detail = `The JSON is nested deeper than ${JSON_LIMITS.depth} levels: send it flatter.`;
  return invalidInput([{ pointer: '', detail }], detail);
}

function tooMany(what: string) {
  const detail = `The JSON holds ${what}: send it in parts.`;
  return invalidInput([{ pointer: '', detail }], detail);
}
