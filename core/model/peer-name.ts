import { invalidInput } from '../base/errors.ts';
import { readsAsId } from '../base/ids.ts';
import { foldName } from '../base/record.ts';
import { OUTSIDE, rangesOfTerm } from './ranges.ts';
import { NEW_NAME_PATTERN, normalizeName } from './resources.ts';

/** How people name what is no peer's. */
export const OUTSIDE_WORDS: ReadonlySet<string> = new Set([OUTSIDE, 'internet', 'the-internet', 'world', 'public']);

const AS_ID = 'A name that reads as an id would stand for the record that has, or had, that id: choose another name.';
const FORM =
  'A name is 1 to 63 letters, digits, spaces, ".", "_" or "-", does not begin with "-" or a space, and is not "." or "..".';
const TAKEN =
  'A name that reads as an address, or as a word for all that is outside of the network, would stand for another: choose another name.';

/**
 * Returns what is wrong with a name for a peer, or for an agent whose peer gets the name; undefined for a valid name. Devices
 * name themselves, and requests also name peers by address: a peer that is named like an address would match requests for
 * another peer, and would read as an address outside.
 */
export function peerNameFault(given: string): string | undefined {
  const name = normalizeName(given);
  if (!NEW_NAME_PATTERN.test(name)) return FORM;
  if (readsAsId(name)) return AS_ID;
  return readsAsAddress(name) ? TAKEN : undefined;
}

/** Returns true if a name reads as an address, or as a word for all addresses outside. */
export function readsAsAddress(name: string): boolean {
  const folded = foldName(name);
  return OUTSIDE_WORDS.has(folded) || rangesOfTerm(folded) !== undefined;
}

/** The name that a peer is stored under. @throws MeshError `invalid_input` */
export function peerNameOf(given: string): string {
  const fault = peerNameFault(given);
  if (fault !== undefined) throw invalidInput([{ pointer: '/name', detail: fault }], fault);
  return normalizeName(given);
}
