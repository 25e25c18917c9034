import type { PortEntry } from '../../core/model/policy.ts';
import type { Wish } from './forms/form.ts';
import type { Token } from './lexicon.ts';
import { match, patternOf } from './match.ts';
import { type Context, takeModifiers } from './modifiers.ts';
import { portList } from './port-entries.ts';
import { quoted, Refusal, said } from './refusal.ts';

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
const WHO = patternOf('LET {who}');
const PORTS = [patternOf('LET ACCESS'), patternOf('LET')];
const CLOSING: ReadonlySet<Wish> = new Set(['deny', 'isolate', 'separate']);
/** More than any sentence that is understood has. */
const MAX_EXCEPTIONS = 3;

/** Whose connections, on which ports; `who` and the ports alone leave open on which side. */
interface Clause extends Exception {
  readonly who?: readonly Token[] | undefined;
  readonly until: number | undefined;
}

/**
 * Reads the words behind "except" or "but keep".
 *
 * @returns undefined when they are no exception that is known.
 */
export function clauseOf(tail: readonly Token[], context: Context, kept: boolean): Clause | undefined {
  const { rest, ports, spared, until, exclusive, mutual } = takeModifiers([LET, ...tail], context);
  if (exclusive || mutual || spared.length > 0) return undefined;
  const clause = { ports, until, kept };
  if (PORTS.some((pattern) => match(pattern, rest))) return ports.length > 0 ? clause : undefined;
  for (const pattern of PATTERNS) {
    const slots = match(pattern, rest);
    if (slots) return { ...clause, source: slots['source'], target: slots['target'] };
  }
  const who = match(WHO, rest)?.['who'];
  return who && { ...clause, who };
}

/** A sentence in two: what is asked for, and what is left out of it. */
export interface Split {
  readonly head: readonly Token[];
  readonly exception: Exception;
  readonly until: number | undefined;
}

/**
 * Finds the exception at the end of a sentence that is whole without it. One that names only peers or only ports is read
 * where it stands, and is none of these.
 *
 * @throws Refusal where it can be meant in more than one way.
 */
export function exceptionAt(
  tokens: readonly Token[],
  context: Context,
  wishOf: (head: readonly Token[]) => Wish | undefined,
): Split | undefined {
  const places = tokens.flatMap(({ sym }, at) => (sym === 'EXCEPT' && at > 0 ? [at] : [])).slice(0, MAX_EXCEPTIONS);
  for (const at of places) {
    if (tokens[at - 1]?.sym === 'NOBODY') continue;
    const head = tokens.slice(0, tokens[at - 1]?.sym === 'COMMA' ? at - 1 : at);
    const wish = wishOf(head);
    if (!wish || wish === 'ask') continue;
    const tail = tokens.slice(at + 1);
    const clause = clauseOf(tail, context, false);
    if (!clause && tail[0]?.sym === 'ONLY') continue;
    if (!clause) throw unclearException(tokens.slice(at), tail);
    const { who, ports, until, ...exception } = clause;
    if (wish === 'isolate' && !who && !exception.source && !exception.target) throw whichDirection(tail, ports);
    if (who && ports.length > 0 && CLOSING.has(wish)) throw whoseException(tokens.slice(at), tail, who, ports);
    if (who || (!exception.source && !exception.target)) return undefined;
    return { head, exception: { ...exception, ports }, until };
  }
  return undefined;
}

function unclearException(whole: readonly Token[], tail: readonly Token[]): Refusal {
  return new Refusal(`It is not clear what ${quoted(said(whole))} leaves out.`, [
    `What should ${quoted(said(tail))} stay open for? Say "except <ports> from <source>" or "except <ports> to <target>".`,
  ]);
}

/** "Isolate web-1 except ssh": from others, or to others. */
function whichDirection(tail: readonly Token[], ports: readonly PortEntry[]): Refusal {
  const list = portList(ports);
  return new Refusal(
    `It is not clear in which direction ${quoted(said(tail))} should stay open.`,
    ['From whom, or to whom?'],
    {
      replace: tail,
      by: [`${list} from everyone`, `${list} to everyone`],
    },
  );
}

/** "Block a from b except c on 8080": all of it on 8080, or all but 8080 of c. */
function whoseException(
  whole: readonly Token[],
  tail: readonly Token[],
  who: readonly Token[],
  ports: readonly PortEntry[],
): Refusal {
  const [list, name] = [portList(ports), said(who)];
  return new Refusal(
    `${quoted(said(tail))} can be read in two ways: that only ${list} is meant and ${quoted(name)} is left out, or that all is meant and only ${list} of ${quoted(name)} is left out.`,
    ['Which of the two is meant?'],
    {
      replace: whole,
      by: [`except ${list} to ${name}`, `except ${list} from ${name}`, `on ${list} except ${name}`],
    },
  );
}
