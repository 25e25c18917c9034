import type { PortEntry } from '../../core/model/policy.ts';
import type { Sym, Token } from './lexicon.ts';

/** Where ports, and verbs that are services too, may stand in a sentence. */

export const BEFORE_PORTS: ReadonlySet<Sym> = new Set([
  'LET',
  'OPEN',
  'DENY',
  'CLOSE',
  'REVOKE',
  'CUT',
  'ISOLATE',
  'LIMIT',
  'ALSO',
  'MAY',
  'NO',
  'KEEP',
  'NEEDS',
  'NEED_NOT',
  'INCOMING',
  'ACCEPT',
  'OUTGOING',
]);
export const AFTER_PORTS: ReadonlySet<Sym> = new Set([
  'FROM',
  'TO',
  'FOR',
  'ON',
  'OF',
  'BETWEEN',
  'EXCEPT',
  'OPEN',
  'MAY',
  'ELSE_CLOSED',
  'NOBODY_ELSE',
  'TO_NOBODY_ELSE',
]);
export const AFTER_NUMBER: ReadonlySet<Sym> = new Set([
  'FOR',
  'UNTIL',
  'NOBODY_ELSE',
  'TO_NOBODY_ELSE',
  'ELSE_CLOSED',
  'COMMA',
  'STOP',
  'POLITE',
]);
export const CLOSES_ELSE: ReadonlySet<Sym> = new Set(['ELSE_CLOSED', 'NOBODY_ELSE', 'TO_NOBODY_ELSE']);
export const REACHES: ReadonlySet<Sym> = new Set(['REACH', 'REACHING', 'TO', 'ACCEPT', 'ARROW']);
export const CLOSING: ReadonlySet<Sym> = new Set(['DENY', 'CLOSE', 'CUT', 'ISOLATE', 'LOCK', 'NO']);
export const SCOPE_ENDS: ReadonlySet<Sym> = new Set([
  'FROM',
  'TO',
  'REACH',
  'REACHING',
  'ACCESS',
  'ON',
  'MAY',
  'MAY_NOT',
]);
export const BOTH_WAYS: ReadonlySet<string> = new Set(['each other', 'one another', 'themselves']);

/** Words for all ports: "everything but icmp". */
export const WHOLE: ReadonlySet<string> = new Set(['everything', 'anything', 'all traffic', 'any traffic']);
export const OPENING: ReadonlySet<Sym> = new Set(['LET', 'OPEN']);

/** "Over anything but udp". */
export function isWholeAt(tokens: readonly Token[], at: number): boolean {
  return WHOLE.has(tokens[at]?.text ?? '') && tokens[at + 1]?.sym === 'EXCEPT';
}

/** Whether these are all ports of some protocols, or simply all. */
export function isProtocols(ports: readonly PortEntry[]): boolean {
  return ports.every(({ port }) => port === undefined);
}

/** "Temporarily" beside "for 2 hours" says nothing more. */
export function isBesideDuration({ sym, text }: Token): boolean {
  return sym === 'VAGUE_TIME' && !['tonight', 'today', 'tomorrow', 'until further notice'].includes(text);
}
