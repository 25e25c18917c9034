import type { Sym } from './lexicon.ts';

/** What an order does to connections; where several words tell, the later of these decides. */
export type Polarity = 'open' | 'close' | 'revoke' | 'isolate' | 'keep';

export const POLARITY: Readonly<Partial<Record<Sym, Polarity>>> = {
  ISOLATE: 'isolate',
  QUARANTINED: 'isolate',
  ISOLATED: 'isolate',
  LOCK: 'isolate',
  REVOKE: 'revoke',
  DENY: 'close',
  CLOSE: 'close',
  CUT: 'close',
  MAY_NOT: 'close',
  UNREACHABLE: 'close',
  BLOCKED: 'close',
  LOSE: 'close',
  NO: 'close',
  NOT: 'close',
  NOBODY: 'close',
  KEEP: 'keep',
  LET: 'open',
  OPEN: 'open',
  MAY: 'open',
  NEEDS: 'open',
  ACCEPT: 'open',
  ALLOWED: 'open',
  REACH: 'open',
  ARROW: 'open',
  MAKE: 'open',
  REACHABLE: 'open',
};
export const STRENGTH: readonly Polarity[] = ['open', 'close', 'revoke', 'keep', 'isolate'];
export const NEGATIONS: ReadonlySet<Sym> = new Set([
  'DENY',
  'CLOSE',
  'CUT',
  'MAY_NOT',
  'NO',
  'NOT',
  'NOBODY',
  'LOSE',
  'BLOCKED',
]);
export const IMPERATIVE: ReadonlySet<Sym> = new Set([
  'LET',
  'OPEN',
  'DENY',
  'CLOSE',
  'ISOLATE',
  'CUT',
  'REVOKE',
  'LIMIT',
  'KEEP',
  'LOCK',
]);
/** What this reading cannot do anything with, and nobody may leave out unseen. */
export const RESTRICTING: ReadonlySet<Sym> = new Set([
  'NOTHING_ELSE',
  'NOBODY_ELSE',
  'TO_NOBODY_ELSE',
  'ELSE_CLOSED',
  'CONDITION',
  'SOME',
  'UNTIL',
  'BY_DEFAULT',
  'KEEP_OPEN',
  'DELETE',
  'RENAME',
  'UNDO',
  'DISABLE',
  'WHITELIST',
  'POLICY',
  'EXCEPT',
  'ONLY',
]);
export const RESTRICTING_WORDS: ReadonlySet<string> = new Set(
  'ones respectively resp latter former whichever either neither usual usually standard weekend weekends weekday weekdays night nights day days week month hour hours during depending port ports protocol half bit same default other others else rest remaining old new instead first second last sometimes almost mostly nearly besides beyond barring minus save least most under outside within among reply replies encrypted unencrypted read-only readonly already'.split(
    ' ',
  ),
);
/** "Those in lyon" are others of the kind that was named before. */
export const OTHERS_LIKE: ReadonlySet<string> = new Set(['those', 'these', 'that one', 'the same']);
export const COUNTS: ReadonlySet<string> = new Set('two three four five six seven eight nine ten'.split(' '));
export const CUES: ReadonlySet<Sym> = new Set([
  'FROM',
  'TO',
  'ARROW',
  'BY',
  'ON',
  'OF',
  'REACH',
  'REACHING',
  'TALK',
  'FOR',
  'BETWEEN',
  'INSTEAD_OF',
  'LET',
  'DENY',
  'REVOKE',
  'ISOLATE',
  'CLOSE',
  'KEEP',
  'LIMIT',
  'CUT',
  'LOCK',
  'MAY',
  'MAY_NOT',
  'NEEDS',
  'LOSE',
  'OPEN',
  'OVER',
]);
/** Words that are no order by themselves and belong to one. */
export const QUIET: ReadonlySet<string> = new Set(
  'both every each able go out have has does do as what own for in with is be are still used there so open reach come comes coming inbound outbound connection connections anything also itself'.split(
    ' ',
  ),
);
/** Names that are not known are never taken for a word. */
export const LIKE_A_NAME = /[\d=<>@:/_]|\w-\w/;

export const BEFORE_VERBS: ReadonlySet<Sym> = new Set(['MAY', 'MAY_NOT', 'NEEDS']);
