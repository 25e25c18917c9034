import { type Account, countOf, has, isWord } from './account.ts';
import { isElseClosed } from './already-closed.ts';
import { type Compared, joinsExceptions, type Offered } from './compared.ts';
import type { Sym } from './lexicon.ts';

const EXCEPTIONS: ReadonlySet<Sym> = new Set(['EXCEPT']);
const LIMITS: ReadonlySet<Sym> = new Set([
  'ONLY',
  'NOBODY_ELSE',
  'NOTHING_ELSE',
  'TO_NOBODY_ELSE',
  'ELSE_CLOSED',
  'LIMIT',
  'WHITELIST',
]);
const CONDITIONS: ReadonlySet<Sym> = new Set(['CONDITION']);
export function keepsLimits(compared: Compared): boolean {
  const { said, offered, choice } = compared;
  const except = said.atoms.filter((atom, at) => isWord(atom, EXCEPTIONS) && !isJoint(said, at)).length;
  const limits = isStressed(compared)
    ? countOf(said, new Set(['ONLY', 'NOBODY_ELSE', 'LIMIT']))
    : countOf(said, LIMITS);
  const [exceptGiven, limitsGiven] = [countOf(offered, EXCEPTIONS), countOf(offered, LIMITS)];
  if (conditionsOf(said, choice) > countOf(offered, CONDITIONS)) return false;
  if (has(said, 'NOTHING_ELSE', 'TO_NOBODY_ELSE') && !has(said, 'NOBODY_ELSE') && limitsSources(choice.text))
    return false;
  const nobody = has(said, 'NOBODY') || has(said, ...CLOSINGS);
  if (!joinsExceptions(compared) && except > exceptGiven + (nobody ? limitsGiven : 0)) return false;
  if (limits > 0 && limitsGiven + exceptGiven === 0 && !has(offered, 'DENY', 'ISOLATE', 'CLOSE', 'REVOKE'))
    return false;
  if (choice.asked) return true;
  if (limits > 0 && limitsGiven + exceptGiven === 0) return false;
  return !has(said, 'MUTUAL', 'BETWEEN') || has(offered, 'MUTUAL', 'BETWEEN') || choice.orders.length > 1;
}

/** What "nothing else" and "everything else closed" say is so already once the choice is done. */
function isStressed({ said, offered, choice, told, state, now }: Compared): boolean {
  const [out, inward] = [has(said, 'NOTHING_ELSE', 'TO_NOBODY_ELSE'), has(said, 'ELSE_CLOSED')];
  if (!opens(offered) || !(out || inward)) return false;
  // "They need https, nothing else" says what is needed and orders nothing to be closed; the question quotes it.
  const isNeed = has(said, 'NEEDS') && !has(said, 'LET', 'OPEN', 'MAY', 'TO_NOBODY_ELSE', 'ELSE_CLOSED');
  if (isNeed && told.some((one) => one.includes('nothing else'))) return true;
  const isClosed = (side: 'in' | 'out') => isElseClosed(choice, offered, side, { state, now });
  return (!out || isClosed('out')) && (!inward || isClosed('in'));
}

/** "But only on 443": it joins the limit to what is said before. */
function isJoint({ atoms }: Account, at: number): boolean {
  return atoms[at]?.tokens[0]?.text === 'but' && isWord(atoms[at + 1], LIMITS);
}

const REASONING: ReadonlySet<string> = new Set(['since', 'while']);

/** "Since it was compromised" names nothing, and the question quotes it: it only says why. */
function conditionsOf({ atoms }: Account, { asked }: Offered): number {
  return atoms.filter((atom, at) => {
    if (!isWord(atom, CONDITIONS)) return false;
    const says = atoms.slice(at).every(({ kind }) => kind === 'word');
    return !(asked && says && REASONING.has(atom.tokens[0]?.text ?? ''));
  }).length;
}

function limitsSources(text: string): boolean {
  return /^(?:only |limit access to )/.test(text);
}

/** What only opens is never offered with something closed. */
export function addsNoLimits({ said, offered }: Compared): boolean {
  const only = said.atoms.some((atom, at) => isWord(atom, LIMITS) && said.atoms[at + 1]?.kind !== 'time');
  const limited = only || countOf(said, EXCEPTIONS) > 0 || has(said, ...CLOSINGS, 'INSTEAD_OF', 'DISABLE');
  return limited || !opens(said) || !has(offered, ...CLOSINGS, ...LIMITS, ...EXCEPTIONS);
}

export const CLOSINGS: readonly Sym[] = [
  ...(['DENY', 'CLOSE', 'ISOLATE', 'REVOKE', 'CUT', 'LOCK', 'MAY_NOT', 'NO', 'NOT', 'NOBODY', 'LOSE'] as const),
  ...(['BLOCKED', 'ISOLATED', 'UNREACHABLE', 'QUARANTINED', 'DISABLE', 'DELETE'] as const),
];
export const OPENINGS: ReadonlySet<Sym> = new Set(['LET', 'OPEN', 'MAY', 'NEEDS', 'ALLOWED', 'ARROW']);
export const CLOSING: ReadonlySet<Sym> = new Set(CLOSINGS);
export const NEGATIONS: ReadonlySet<Sym> = new Set(['NOT', 'NO', 'MAY_NOT', 'NOBODY']);
/** "Not only", "not everyone", "not all": the opposite of what the words by themselves say. */
const TURNED: ReadonlySet<Sym> = new Set(['ONLY']);

export function keepsNegations({ said, offered, choice }: Compared): boolean {
  const turned = said.atoms.some(
    (atom, at) =>
      isWord(atom, NEGATIONS) &&
      (isWord(said.atoms[at + 1], TURNED) || (atom.tokens[0]?.text === 'not' && isAllAt(said, at + 1))),
  );
  if ((turned && !choice.asked) || liftsBan(said)) return false;
  const limited = countOf(offered, LIMITS) + countOf(offered, EXCEPTIONS) > 0;
  const closes = has(offered, ...CLOSINGS);
  if (said.atoms.some(negates) && !closes && !limited) return false;
  return !opens(said) || limited || opens(offered);
}

/** Words of prohibitions that have no meaning of their own in the grammar, or stand in phrases of it. */
const NEGATING: ReadonlySet<string> = new Set(
  'no not nothing none never nobody neither nor nowhere off without cannot stop ban forbid prohibit refuse deny block prevent'.split(
    ' ',
  ),
);
/** Phrases with such a word that say what else holds, or that open. */
const ELSEWHERE: ReadonlySet<Sym> = new Set([
  ...([...LIMITS, 'EXCEPT', 'KEEP_OPEN', 'NEED_NOT', 'NO_OTHER_IN', 'NO_OTHER_OUT', 'OTHER_PORTS_STAY'] as const),
  ...([
    'INBOUND_STAYS',
    'OUTBOUND_STAYS',
    'OTHER_IN',
    'OTHER_OUT',
    'FOR_GOOD',
    'POLITE',
    'REASON',
    'VAGUE_TIME',
  ] as const),
]);

function negates(atom: Account['atoms'][number]): boolean {
  if (isWord(atom, CLOSING)) return true;
  if (atom.kind !== 'word' || atom.word.quoted || isWord(atom, ELSEWHERE)) return false;
  return atom.word.text.split(' ').some((word) => NEGATING.has(word));
}

const LIFTING =
  /^(?:lift|end|remove|drop|undo|stop|revoke|cancel|release|withdraw|rescind|retract|pull|take (?:away|back))$/;
const BAN = /^(?:ban|block|blocking|bar|restriction|restrictions|prohibition|isolation|quarantine|denial)$/;
const NEXT_ORDER: ReadonlySet<Sym> = new Set(['AND', 'COMMA', 'STOP', 'THEN']);

/** "Remove the ban on web for ci": only the end of the policy that forbids it is meant. */
function liftsBan({ atoms }: Account): boolean {
  let lifts = false;
  for (const atom of atoms) {
    if (atom.kind !== 'word') continue;
    if (lifts && BAN.test(atom.word.text)) return true;
    if (LIFTING.test(atom.word.text)) lifts = true;
    else if (isWord(atom, NEXT_ORDER)) lifts = false;
  }
  return false;
}

const ALL: ReadonlySet<string> = new Set('all every each both many most everyone everybody everything'.split(' '));

function isAllAt({ atoms }: Account, at: number): boolean {
  return ALL.has(atoms[at]?.tokens[0]?.text ?? '');
}

/** A word that opens, with no "no" before it in its clause. */
export function opens({ atoms }: Account): boolean {
  let negated = false;
  for (const atom of atoms) {
    if (isWord(atom, new Set(['STOP', 'THEN']))) negated = false;
    if (isWord(atom, CLOSING) || (atom.kind === 'word' && atom.word.text === 'neither')) negated = true;
    if ((isWord(atom, OPENINGS) || isHaving(atoms, atom)) && !negated)
      return !atoms.some((one, at) => isDenied(atoms, one, at, atom));
  }
  return false;
}

const HAVING: ReadonlySet<string> = new Set(['have', 'having', 'keep']);

/** "Have web reaching db". */
function isHaving(atoms: Account['atoms'], atom: Account['atoms'][number]): boolean {
  const isReaching = isWord(atom, new Set(['REACHING'])) && !atom.tokens[0]?.text.startsWith('from ');
  return isReaching && atoms.some(({ tokens }) => tokens.some(({ text }) => HAVING.has(text)));
}

/** "Let no laptop reach plc-1". */
function isDenied(
  atoms: Account['atoms'],
  one: Account['atoms'][number],
  at: number,
  opening: Account['atoms'][number],
): boolean {
  return isWord(one, new Set(['NO', 'NOBODY'])) && atoms[at - 1] === opening;
}
