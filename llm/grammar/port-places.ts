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
]);
export const AFTER_NUMBER: ReadonlySet<Sym> = new Set([
  'FOR',
  'UNTIL',
  'NOBODY_ELSE',
  'ELSE_CLOSED',
  'COMMA',
  'STOP',
  'POLITE',
]);
export const REACHES: ReadonlySet<Sym> = new Set(['REACH', 'REACHING', 'TO', 'ACCEPT', 'ARROW']);
/** Services that are verbs too: "let ops ssh into web-1", "web may ping db". */
export const PORT_VERBS: ReadonlySet<string> = new Set(['ssh', 'sftp', 'rdp', 'telnet', 'vnc', 'ping', 'rsync']);
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

/** Whether a verb may stand behind these words. */
export function isVerbPlace(before: Sym | undefined, last: Token | undefined): boolean {
  if (before === 'MAY' || before === 'MAY_NOT' || before === 'TO') return true;
  return last !== undefined && last.sym === undefined;
}

/** "Temporarily" beside "for 2 hours" says nothing more. */
export function isBesideDuration({ sym, text }: Token): boolean {
  return sym === 'VAGUE_TIME' && !['tonight', 'today', 'tomorrow', 'until further notice'].includes(text);
}
