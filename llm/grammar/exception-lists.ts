import { type Clause, clauseOf, JOINTS } from './exception-clauses.ts';
import type { Token } from './lexicon.ts';
import { portList } from './port-entries.ts';
import { attempt, quoted, Refusal, said } from './refusal.ts';
import type { Vocabulary } from './vocabulary.ts';

/** More than any sentence that is understood has; each split of them is tried. */
const MAX_JOINTS = 6;

interface Piece {
  readonly words: readonly Token[];
  readonly clause: Clause;
}

/**
 * Several exceptions behind one "except": "a to b and c to d", "ssh from a, and 5432 from b". Each names both ends, or each
 * one. An "except" of its own begins the next and nothing else does.
 *
 * @returns undefined where the words are not several
 * @throws Refusal where they can be parted in more than one way, or ports stand beside some of them
 */
export function clausesOf(tail: readonly Token[], vocabulary: Vocabulary): readonly Clause[] | undefined {
  const hard = partedBy(tail, (sym) => sym === 'EXCEPT');
  const readings = hard.length > 1 ? [hard] : splitsOf(tail);
  const known = new Map<string, Clause | undefined>();
  const clauseFor = (words: readonly Token[]) => {
    const key = `${tail.indexOf(words[0] as Token)}+${words.length}`;
    if (!known.has(key))
      known.set(
        key,
        attempt(() => clauseOf(words, vocabulary, false)),
      );
    return known.get(key);
  };
  const fitting = readings.flatMap((parts) => {
    const pieces = parts.flatMap((words): Piece[] => {
      const clause = clauseFor(words);
      return clause && endsOf(clause) > 0 ? [{ words, clause }] : [];
    });
    const alike = hard.length > 1 || new Set(pieces.map(({ clause }) => endsOf(clause))).size === 1;
    const timed = pieces.slice(0, -1).some(({ clause }) => clause.until !== undefined);
    return pieces.length === parts.length && alike && !timed ? [pieces] : [];
  });
  const [only, other] = fitting;
  if (!only) return undefined;
  if (other) throw unclearParts(tail, fitting);
  const ported = only.filter(({ clause }) => clause.ports.length > 0);
  const [first] = ported;
  if (hard.length === 1 && first && ported.length < only.length) throw unclearPorts(tail, only, first.clause);
  return only.map(({ clause }) => clause);
}

/** How many ends of a connection are named. */
function endsOf({ who, source, target }: Clause): number {
  return who ? 0 : Number(source !== undefined) + Number(target !== undefined);
}

function partedBy(tail: readonly Token[], isEnd: (sym: Token['sym'], at: number) => boolean): (readonly Token[])[] {
  const parts: Token[][] = [[]];
  for (const [at, token] of tail.entries()) {
    if (isEnd(token.sym, at)) parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts.map(withoutJoints);
}

function withoutJoints(words: readonly Token[]): readonly Token[] {
  const isJoint = ({ sym }: Token) => sym !== undefined && JOINTS.has(sym);
  const first = words.findIndex((token) => !isJoint(token));
  return first < 0 ? [] : words.slice(first, words.findLastIndex((token) => !isJoint(token)) + 1);
}

/** Every way to part it in two or more. */
function splitsOf(tail: readonly Token[]): (readonly Token[])[][] {
  const places = tail.flatMap(({ sym }, at) =>
    (sym === 'AND' || sym === 'COMMA') && !(tail[at - 1]?.sym === 'COMMA' && sym === 'AND') ? [at] : [],
  );
  if (places.length === 0 || places.length > MAX_JOINTS) return [];
  return Array.from({ length: 2 ** places.length - 1 }, (_, chosen) =>
    partedBy(tail, (_sym, at) => places.includes(at) && (((chosen + 1) >> places.indexOf(at)) & 1) === 1),
  );
}

/** "A to b and c and d to e". */
function unclearParts(tail: readonly Token[], readings: readonly (readonly Piece[])[]): Refusal {
  return new Refusal(
    `It is not clear where one exception of ${quoted(said(tail))} ends and the next begins.`,
    ['Which of these is meant?'],
    { replace: tail, by: readings.map((pieces) => pieces.map(({ words }) => said(words)).join(' except ')) },
  );
}

/** "A to b on 443 and c to d". */
function unclearPorts(tail: readonly Token[], pieces: readonly Piece[], { ports }: Clause): Refusal {
  const list = portList(ports);
  const shared = pieces.map(({ words, clause }) =>
    clause.ports.length > 0 ? said(words) : `${said(words)} on ${list}`,
  );
  return new Refusal(
    `Some of ${quoted(said(tail))} name ports and some do not, so it is not clear what those stay open for.`,
    [`Should all of them stay open on ${list}, or those without ports on every port?`],
    { replace: tail, by: [shared.join(' except '), pieces.map(({ words }) => said(words)).join(' except ')] },
  );
}
