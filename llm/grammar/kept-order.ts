import { type Account, accountOf, has, includes, isEveryone, isWord, type Who, whosOf } from './account.ts';
import { type Compared, isReading, joinsExceptions } from './compared.ts';
import { CLOSING } from './kept-limits.ts';
import { LIST } from './kept-ports.ts';
import type { Sym } from './lexicon.ts';

const LISTED: ReadonlySet<Sym> = new Set([...LIST, 'ALSO', 'TO', 'FROM', 'BY', 'ON', 'POLITE']);

/** Those named together in a choice were named in one list. */
export function keepsLists(compared: Compared): boolean {
  const { said, offered } = compared;
  if (has(offered, 'BETWEEN', 'MUTUAL') || joinsExceptions(compared)) return true;
  return offered.atoms.every((atom, at) => {
    if (atom.kind === 'who' && isRepeated(atom)) return false;
    const next = nextListed(offered, at);
    if (atom.kind !== 'who' || !next) return true;
    const [ones, others] = [placesOf(said, atom), placesOf(said, next)];
    if (ones.length === 0 || others.length === 0) return true;
    const whole = groupOf(offered, at);
    // "…, web-1 keeps its access": who a verb follows that is not known begins another order.
    if ([...ones, ...others].some((place) => beginsOrder(said, place))) return false;
    return ones.some((from) =>
      others.some((to) => isList(said.atoms.slice(Math.min(from, to) + 1, Math.max(from, to)), whole)),
    );
  });
}

/** "Only web web may reach db". */
function isRepeated({ tokens }: Who): boolean {
  return tokens.some(({ text }, at) => text === tokens[at + 1]?.text);
}

function beginsOrder({ atoms }: Account, at: number): boolean {
  const [before, next] = [atoms[at - 1], atoms[at + 1]];
  const isVerb = next?.kind === 'word' && next.word.sym === undefined && /^[a-z]+s$/.test(next.word.text);
  return isVerb && before?.kind === 'word' && before.word.sym === 'COMMA';
}

function groupOf({ atoms }: Account, at: number): Who[] {
  const isPart = (one: Account['atoms'][number] | undefined) => one?.kind === 'who' || isWord(one, LIST);
  let [start, end] = [at, at];
  while (isPart(atoms[start - 1])) start--;
  while (isPart(atoms[end + 1])) end++;
  return atoms.slice(start, end + 1).filter((atom) => atom.kind === 'who');
}

function nextListed({ atoms }: Account, at: number): Who | undefined {
  let next = at + 1;
  while (isWord(atoms[next], LIST)) next++;
  const found = atoms[next];
  return next > at + 1 && found?.kind === 'who' ? found : undefined;
}

function isList(between: Account['atoms'], group: readonly Who[]): boolean {
  const isForeign = (who: Who) => !group.some((one) => includes(one, who) || includes(who, one));
  if (between.some((atom) => atom.kind === 'who' && isForeign(atom))) return false;
  const words = between.flatMap((atom) => (atom.kind === 'word' ? [atom.word] : []));
  return (
    words.every(({ sym, text }) => (sym ? LISTED.has(sym) : ARTICLES.has(text))) &&
    words.some(({ sym }) => sym && LIST.has(sym))
  );
}

const ARTICLES: ReadonlySet<string> = new Set('the a an all both every each too'.split(' '));

function placesOf({ atoms }: Account, who: Who): number[] {
  return atoms.flatMap((atom, at) =>
    atom.kind === 'who' && !isEveryone(atom) && (includes(atom, who) || includes(who, atom)) ? [at] : [],
  );
}

/** Who reaches whom is told by their order, unless a word turns it. */
export function keepsDirections(compared: Compared): boolean {
  const { said, choice, told } = compared;
  // The question asks who reaches whom, and each choice says it.
  if (isReading(compared)) return true;
  if (choice.asked && (has(said, 'PRONOUN', 'LAST_CHANGE') || told.some((one) => one.includes('both directions'))))
    return true;
  return choice.orders.every(({ source = [], target = [] }) => {
    const [sources = [], targets = []] = [source, target].map((tokens) => whosOf(accountOf(tokens, compared)));
    return sources.every((from) =>
      targets.every((to) => {
        const [ones, others] = [placesOf(said, from), placesOf(said, to)];
        if (ones.length === 0 || others.length === 0) return true;
        const isNearest = (one: number, other: number) =>
          ![...ones, ...others].some((place) => place > Math.min(one, other) && place < Math.max(one, other));
        return ones.some((one) =>
          others.some((other) => one === other || (isNearest(one, other) && isDirected(said, one, other))),
        );
      }),
    );
  });
}

const TURNING: ReadonlySet<Sym> = new Set(['BY', 'FOR', 'ACCEPT', 'REACHABLE', 'UNREACHABLE']);
const TURNED_BY: ReadonlySet<Sym> = new Set(['BY', 'FROM', 'FOR']);
const TO: ReadonlySet<Sym> = new Set(['TO']);
const FROM: ReadonlySet<Sym> = new Set(['FROM']);
const OPEN: ReadonlySet<Sym> = new Set(['OPEN']);
const OPENS_TO: ReadonlySet<Sym> = new Set(['OPEN', 'CLOSE', 'ACCESS', 'ON', 'OF']);
const BEFORE_TARGET: ReadonlySet<Sym> = new Set(['ON', 'OF', 'TO']);
const BEFORE_SOURCE: ReadonlySet<Sym> = new Set(['LET', 'DENY']);
export const AFTER_SOURCE: ReadonlySet<Sym> = new Set(['MAY', 'NEEDS', 'REACH']);
const PASSIVE: ReadonlySet<Sym> = new Set(['ACCEPT', 'REACHABLE', 'UNREACHABLE', 'BLOCKED', 'ISOLATED', 'ALLOWED']);
const IS: ReadonlySet<string> = new Set(['is', 'are', 'was', 'were', 'be', 'as']);

function isDirected({ atoms }: Account, from: number, to: number): boolean {
  const between = atoms.slice(Math.min(from, to) + 1, Math.max(from, to));
  const some = (syms: ReadonlySet<Sym>) => between.some((atom) => isWord(atom, syms));
  if (from > to) {
    const opensTo = some(TO) && atoms.slice(0, from).some((atom) => isWord(atom, OPENS_TO));
    return some(TURNED_BY) || opensTo || isWord(beforeName(atoms, to), BEFORE_TARGET);
  }
  const isTurned =
    (some(OPEN) && some(TO)) ||
    some(TURNING) ||
    between.some((atom) => atom.kind === 'word' && atom.word.text === 'accepts');
  const fromOpens = some(FROM) && !atoms.some((atom) => isWord(atom, CLOSING));
  const tells = between.some(
    (atom) => atom.kind === 'word' && !(atom.word.sym ? LIST.has(atom.word.sym) : IS.has(atom.word.text)),
  );
  const isSubject =
    isWord(beforeName(atoms, to), BEFORE_SOURCE) ||
    (isWord(atoms[to + 1], AFTER_SOURCE) && !isWord(atoms[to + 2], PASSIVE));
  return tells && !isTurned && !fromOpens && !isSubject;
}

function beforeName(atoms: Account['atoms'], at: number): Account['atoms'][number] | undefined {
  const before = atoms[at - 1];
  return before?.kind === 'word' && before.word.sym === undefined && ARTICLES.has(before.word.text)
    ? atoms[at - 2]
    : before;
}
