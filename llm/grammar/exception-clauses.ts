import type { PortEntry } from '../../core/model/policy.ts';
import type { Sym, Token } from './lexicon.ts';
import { match, patternOf } from './match.ts';
import { takeModifiers } from './modifiers.ts';
import type { Vocabulary } from './vocabulary.ts';

/** What a statement leaves out: a part of its connections, by side and by port. */
export interface Exception {
  readonly source?: readonly Token[] | undefined;
  readonly target?: readonly Token[] | undefined;
  /** None: all ports. */
  readonly ports: readonly PortEntry[];
  /** Set where it is said to stay open, and not only left out. */
  readonly kept: boolean;
}

const LET: Token = { text: 'let', quoted: false, sym: 'LET' };
/** What stands behind "except", after a verb that makes it a sentence. */
const PATTERNS = [
  'LET ACCESS? OPEN? FROM|FOR|BY {source}',
  'LET ACCESS? FROM|FOR {source} OPEN',
  'LET ACCESS? OPEN? FROM|FOR|TO {source} ON {target}',
  'LET PRONOUN|LAST_CHANGE REACHABLE|OPEN FROM|FOR|BY|TO {source}',
  'LET ACCESS OPEN TO {source}',
  'LET ACCESS OF {source}',
  'LET ACCESS? TO|ON {target}',
  'LET PRONOUN ACCESS TO|ON {target}',
  'LET ACCESS? FROM|FOR|BY {source} TO|ON {target}',
  'LET ACCESS? TO|ON|OF {target} FROM|FOR|BY {source}',
  'LET {source} REACH|REACHING|TO|ARROW {target}',
  'LET {source} ACCESS TO|ON {target}',
  'LET {source} POSS ACCESS',
].map(patternOf);
/** What joins several. */
export const JOINTS: ReadonlySet<Sym> = new Set(['AND', 'COMMA', 'EXCEPT']);
const WHO = patternOf('LET {who}');
const PORTS = [patternOf('LET ACCESS'), patternOf('LET')];

/** Whose connections, on which ports; `who` and the ports alone leave open on which side. */
export interface Clause extends Exception {
  readonly who?: readonly Token[] | undefined;
  readonly until: number | undefined;
  readonly zone: string;
}

/**
 * Reads the words behind "except" or "but keep".
 *
 * @returns undefined when they are no exception that is known.
 */
export function clauseOf(tail: readonly Token[], vocabulary: Vocabulary, kept: boolean): Clause | undefined {
  const { rest, ports, spared, until, zone, exclusive, mutual } = takeModifiers([LET, ...tail], vocabulary);
  if (exclusive || mutual || spared.length > 0) return undefined;
  const clause = { ports, until, zone, kept };
  if (PORTS.some((pattern) => match(pattern, rest))) return ports.length > 0 ? clause : undefined;
  for (const pattern of PATTERNS) {
    const slots = match(pattern, rest);
    if (slots && Object.values(slots).every((side) => side && !isJoint(side.at(-1)) && !isJoint(side[0])))
      return { ...clause, source: slots['source'], target: slots['target'] };
  }
  const who = match(WHO, rest)?.['who'];
  return who && { ...clause, who };
}

/** "From a and to b" are two, and no list of one. */
function isJoint(token: Token | undefined): boolean {
  return token?.sym !== undefined && JOINTS.has(token.sym);
}
