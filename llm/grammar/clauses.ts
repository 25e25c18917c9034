import { Refusal } from './refusal.ts';
import type { Token } from './token.ts';

const MAX_CLAUSES = 10;

type Syms = ReadonlySet<Token['sym']>;

/** Words that a clause begins with which orders something. */
const VERBS: Syms = new Set([
  ...([
    'LET',
    'GIVE',
    'OPEN',
    'DENY',
    'CLOSE',
    'KEEP',
    'ISOLATE',
    'SEPARATE',
    'CUT',
    'LOCK',
    'REVOKE',
    'LIMIT',
    'DELETE',
    'UNDO',
  ] as const),
  ...(['WHITELIST', 'PUT', 'MAKE'] as const),
]);
/** Words that make an order of who stands before them. */
const MODALS: Syms = new Set(['MAY', 'NEEDS', 'MAY_NOT', 'NEED_NOT', 'LOSE']);
/** Words that are a clause wherever they stand. */
const ALONE: Syms = new Set([
  ...(['NO_OTHER_IN', 'NO_OTHER_OUT', 'NOTHING_IN', 'NOTHING_OUT', 'OTHER_PORTS_STAY'] as const),
  ...(['INBOUND_STAYS', 'OUTBOUND_STAYS', 'ELSE_CLOSED'] as const),
]);
/** Words between clauses. */
const JOINTS: Syms = new Set(['STOP', 'THEN', 'ALSO', 'AND', 'COMMA', 'POLITE', 'EXCEPT']);
const NAMES: Syms = new Set([undefined, 'AND', 'COMMA', 'OR', 'OF', 'NOBODY_ELSE', 'ONLY', 'ALONE', 'NO', 'NOBODY']);

/**
 * Divides a sentence into what it asks for: at a full stop, at "then", where "and" is followed by another verb, and at a
 * comma before "ci must not".
 *
 * @throws Refusal for too many
 */
export function clausesOf(tokens: readonly Token[]): (readonly Token[])[] {
  const clauses: Token[][] = [];
  let words: Token[] = [];
  const end = () => {
    const plain = withoutJoints(words);
    if (plain.length > 0) clauses.push(plain);
    words = [];
  };
  for (let at = 0; at < tokens.length; ) {
    const token = tokens[at];
    if (!token) break;
    const next = tokens.findIndex((one, index) => index >= at && !JOINTS.has(one.sym));
    const verb = next < 0 ? tokens.length : next;
    const joint = tokens.slice(at, verb);
    if (ALONE.has(token.sym)) {
      end();
      words = [token];
      end();
      at += 1;
    } else if (joint.some(({ sym }) => sym === 'STOP' || sym === 'THEN')) {
      end();
      at = verb;
    } else if (joint.length > 0 && isOrder(words) && (VERBS.has(tokens[verb]?.sym) || isModal(tokens, verb, joint))) {
      end();
      at = verb;
    } else {
      words.push(token);
      at += 1;
    }
  }
  end();
  if (clauses.length > MAX_CLAUSES)
    throw new Refusal(`More than ${MAX_CLAUSES} things are asked for at once.`, [
      'Which come first? Say it in several steps.',
    ]);
  return clauses;
}

function isOrder(words: readonly Token[]): boolean {
  return words.some(({ sym }) => VERBS.has(sym) || MODALS.has(sym) || sym === 'ARROW');
}

/** "…, ci must not": names and a modal verb behind "and" or a comma. */
function isModal(tokens: readonly Token[], start: number, joint: readonly Token[]): boolean {
  if (joint.every(({ sym }) => sym === 'EXCEPT' || sym === 'POLITE')) return false;
  const modal = tokens.findIndex(({ sym }, at) => at >= start && !NAMES.has(sym));
  return modal > start && MODALS.has(tokens[modal]?.sym);
}

/** Courtesies and what joins clauses say nothing at either end. */
function withoutJoints(words: readonly Token[]): Token[] {
  const isIdle = ({ sym }: Token) => JOINTS.has(sym) && sym !== 'EXCEPT';
  const from = words.findIndex((token) => !isIdle(token));
  const to = words.findLastIndex((token) => !isIdle(token));
  return from < 0 ? [] : words.slice(from, to + 1);
}
