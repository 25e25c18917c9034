import type { PortEntry } from '../../core/model/policy.ts';
import { type Clause, clauseOf, type Exception } from './exception-clauses.ts';
import { clausesOf } from './exception-lists.ts';
import type { Wish } from './forms/form.ts';
import type { Token } from './lexicon.ts';
import { portList } from './port-entries.ts';
import { BOTH_WAYS } from './port-places.ts';
import { portsAt } from './ports.ts';
import { attempt, quoted, Refusal, said } from './refusal.ts';
import type { Vocabulary } from './vocabulary.ts';

const CLOSING: ReadonlySet<Wish> = new Set(['deny', 'isolate', 'separate']);
/** More than any sentence that is understood has. */
const MAX_EXCEPTIONS = 3;

/** A sentence in two: what is asked for, and what is left out of it. */
export interface Split {
  readonly head: readonly Token[];
  readonly exceptions: readonly Exception[];
  readonly until: number | undefined;
  readonly zone: string;
}

/**
 * Finds the exception at the end of a sentence that is whole without it. One that names only peers or only ports is read
 * where it stands, and is none of these.
 *
 * @throws Refusal where it can be meant in more than one way.
 */
export function exceptionAt(
  tokens: readonly Token[],
  vocabulary: Vocabulary,
  wishOf: (head: readonly Token[]) => Wish | undefined,
): Split | undefined {
  const places = tokens.flatMap(({ sym }, at) => (sym === 'EXCEPT' && at > 0 ? [at] : [])).slice(0, MAX_EXCEPTIONS);
  for (const at of places) {
    if (tokens[at - 1]?.sym === 'NOBODY' || isMutual(tokens[at + 1])) continue;
    const head = tokens.slice(0, tokens[at - 1]?.sym === 'COMMA' ? at - 1 : at);
    const wish = wishOf(head);
    if (!wish || wish === 'ask') continue;
    const tail = tokens.slice(at + 1);
    if (isPortsAlone(tail)) return undefined;
    const clause = oneOrSeveral(tail, vocabulary);
    if (Array.isArray(clause)) {
      const exceptions = clause.map(({ until: _, zone: __, ...one }) => one);
      const [last] = clause.slice(-1);
      return { head, exceptions, until: last?.until, zone: last?.zone ?? vocabulary.timeZone };
    }
    if (!clause && tail[0]?.sym === 'ONLY') continue;
    if (!clause) throw unclearException(tokens.slice(at), tail);
    const { who, ports, until, zone, ...exception } = clause;
    if (wish === 'isolate' && !who && !exception.source && !exception.target) throw whichDirection(tail, ports);
    if (who && ports.length > 0 && wish === 'isolate') throw whoseDirection(tail, who, ports);
    if (who && ports.length > 0 && CLOSING.has(wish)) throw whoseException(tokens, at, who, ports);
    if (who || (!exception.source && !exception.target)) return undefined;
    return { head, exceptions: [{ ...exception, ports }], until, zone };
  }
  return undefined;
}

/** "On udp except 53 and nobody else" leaves out a port and is read where it stands. */
function isPortsAlone(tail: readonly Token[]): boolean {
  const bare = tail.filter(({ sym }) => sym !== 'NOBODY_ELSE' && sym !== 'TO_NOBODY_ELSE');
  return bare.length < tail.length && attempt(() => portsAt(bare, 0))?.end === bare.length;
}

/** "Everyone except each other" is read by forms of its own. */
function isMutual(token: Token | undefined): boolean {
  return token?.sym === 'MUTUAL' && BOTH_WAYS.has(token.text);
}

/** One exception where that is understood, else several, else why it is not one. */
function oneOrSeveral(tail: readonly Token[], vocabulary: Vocabulary): Clause | Clause[] | undefined {
  try {
    const one = clauseOf(tail, vocabulary, false);
    if (one) return one;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const several = clausesOf(tail, vocabulary);
    if (several) return [...several];
    throw error;
  }
  const several = clausesOf(tail, vocabulary);
  return several && [...several];
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

/** "Isolate db-2 except api-1 on 5432": from it, or to it. */
function whoseDirection(tail: readonly Token[], who: readonly Token[], ports: readonly PortEntry[]): Refusal {
  const [list, name] = [portList(ports), said(who)];
  return new Refusal(
    `It is not clear in which direction ${quoted(said(tail))} should stay open.`,
    [`Should ${quoted(name)} reach, or be reached?`],
    { replace: tail, by: [`${list} from ${name}`, `${list} to ${name}`] },
  );
}

/** "Block a from b except c on 8080": all of it on 8080, or all but 8080 of c. */
function whoseException(
  tokens: readonly Token[],
  at: number,
  who: readonly Token[],
  ports: readonly PortEntry[],
): Refusal {
  const [list, name] = [portList(ports), said(who)];
  const by = [`except ${list} to ${name}`, `except ${list} from ${name}`, `on ${list} except ${name}`];
  return new Refusal(
    `${quoted(said(tokens.slice(at + 1)))} can be read in two ways: that only ${list} is meant and ${quoted(name)} is left out, or that all is meant and only ${list} of ${quoted(name)} is left out.`,
    ['Which of the two is meant?'],
    { replace: tokens.slice(at), by, choices: by.map((end) => `${plainly(tokens.slice(0, at))} ${end}`) },
  );
}

/** "Deny laptop to everyone" can give either to the other, "block laptop from everyone" cannot. */
function plainly(head: readonly Token[]): string {
  const [verb, ...rest] = head;
  const link = rest.findIndex(({ sym }) => sym === 'TO');
  if (verb?.text !== 'deny' || link < 1 || rest.slice(0, link).some(({ sym }) => sym !== undefined)) return said(head);
  return `block ${said(rest.slice(0, link))} from ${said(rest.slice(link + 1))}`;
}
