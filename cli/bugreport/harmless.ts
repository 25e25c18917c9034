import { isIP } from 'node:net';
import type { IdPrefix } from '../../core/base/ids.ts';

/** What has fewer characters is taken for a word or a number, unless something before it says that it is a secret. */
export const SHORTEST_RANDOM = 12;

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d[.-]\d{3}Z$/;
const HARDWARE_ADDRESS = /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/i;
const BYTE = /^[0-9a-f]{2}$/i;
const ID = /^([a-z]{1,4})_[a-z2-7]{26}$/;
/** Of records that a node or its log names. No secret has the form of an id with one of these. */
const IDS: ReadonlySet<string> = new Set(['w', 'u', 'p', 'pol', 'net', 'agt', 'wf'] satisfies IdPrefix[]);

/** Anything else stands in no path, address, name or sentence of ours. */
const SIGNS = /^[\w./:@+=#[\]*?!\\…-]+$/;
const ONE_CASE = /^(?:[A-Z]?[a-z]{1,14}|[A-Z]{1,15})\d{0,5}$/;
const NUMBER = /^\d{1,15}$/;
const HUMPS = /^[A-Za-z]?[a-z]{1,14}(?:[A-Z][a-z]{1,14})+$/;
const LONGEST_IDENTIFIER = 32;
/** Letters to each hump of an identifier in camel case, at least: letters by chance have fewer. */
const LETTERS_PER_HUMP = 4;
/** Words from so many letters on have a vowel. */
const LONG_WORD = 6;

/**
 * Whether a text without spaces is none that was drawn at random: it is short or known, or its parts are words, numbers, an
 * address, an instant or an id.
 */
export function isHarmless(text: string, known: ReadonlySet<string>): boolean {
  if (text.length < SHORTEST_RANDOM) return true;
  const bare = text.replace(/^["'([]+/, '').replace(/["')\].:,?!]{1,8}$/, '');
  if (known.has(text) || known.has(bare) || INSTANT.test(bare) || HARDWARE_ADDRESS.test(bare)) return true;
  const prefix = ID.exec(bare)?.[1];
  if (prefix !== undefined && IDS.has(prefix)) return true;
  if (isAddress(text) || isAddress(bare) || bare.split('-', 3).every(isAddress)) return true;
  if (isBytes(bare)) return false;
  return SIGNS.test(text) && text.split(/[\W_]/).every(isWord);
}

/** An address with or without prefix length, port or brackets. */
function isAddress(text: string): boolean {
  const [host = ''] = text.split('/');
  const bracketed = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(host)?.[1];
  return isIP(bracketed ?? host) !== 0 || isIP(host.replace(/:\d{1,5}$/, '')) === 4;
}

/** Bytes in hex with a sign between them, more than an address of hardware has. */
function isBytes(text: string): boolean {
  const parts = text.split(/[:.-]/);
  return parts.filter((part) => BYTE.test(part)).length > 6;
}

function isWord(part: string): boolean {
  if (part === '' || NUMBER.test(part)) return true;
  if (ONE_CASE.test(part)) return part.length < LONG_WORD || /[aeiouy]/i.test(part) || /\d/.test(part);
  if (!HUMPS.test(part) || part.length > LONGEST_IDENTIFIER) return false;
  const humps = part.replaceAll(/[a-z]/g, '').length + 1;
  return part.length / humps >= LETTERS_PER_HUMP;
}
