import { type Account, has, includes, isWord, portsOf, timesOf, type Who } from './account.ts';
import { type Compared, isReading } from './compared.ts';
import type { Sym } from './lexicon.ts';
import { isCalendarWord } from './suggest-times.ts';

export const LIST: ReadonlySet<Sym> = new Set(['AND', 'COMMA', 'OR']);

/** The same ports, and where they are said in several places, each beside the same name. */
export function keepsPorts(compared: Compared): boolean {
  const { said, offered, choice, told } = compared;
  // "22 and udp": the question names the ports, and each choice has those of one reading.
  if (isReading(compared) && told.some((one) => /, or the same ports on it\b/.test(one))) return true;
  const [wanted, given] = [portsOf(said), portsOf(offered)];
  if ([...wanted].some((port) => !given.has(port))) return false;
  if (!choice.asked && [...given].some((port) => !wanted.has(port))) return false;
  if (!choice.asked && said.atoms.some((_, at) => isLooseNumber(said, at))) return false;
  const [groups, others] = [portGroups(said), portGroups(offered)];
  if (choice.asked || groups.length < 2) return true;
  return groups.every(({ ports, before }) =>
    others.some((one) => one.ports === ports && (before === undefined || (one.before && includes(before, one.before)))),
  );
}

/** "Historian-1 and 2", "for 10 years", "port 70000": a number whose part in the sentence is not known. */
function isLooseNumber({ atoms }: Account, at: number): boolean {
  const [atom, before, next] = [atoms[at], atoms[at - 1], atoms[at + 1]];
  if (atom?.kind === 'word') return atom.word.sym === undefined && /^\d/.test(atom.word.text);
  if (atom?.kind !== 'ports' || !/^\d+$/.test(atom.tokens[0]?.text ?? '')) return false;
  const follows = isWord(before, new Set(['FOR'])) || (isWord(before, LIST) && atoms[at - 2]?.kind === 'who');
  return follows || (next?.kind === 'word' && isCalendarWord(next.word.text));
}

interface PortGroup {
  readonly ports: string;
  readonly before: Who | undefined;
}

function portGroups({ atoms }: Account): PortGroup[] {
  const groups: PortGroup[] = [];
  let before: Who | undefined;
  for (const [at, atom] of atoms.entries()) {
    if (atom.kind === 'who') before = atom;
    if (atom.kind !== 'ports') continue;
    const ports = [...portsOf({ atoms: [atom], syms: new Set() })].sort().join();
    groups.push({ ports, before });
    if (atoms[at + 1]?.kind === 'who') before = undefined;
  }
  return groups;
}

/** The same ends, for all that the choice changes; a day or a start that is not read is not left out. */
export function keepsTimes(compared: Compared): boolean {
  const { said, offered, choice } = compared;
  const [wanted, given] = [timesOf(said), timesOf(offered)];
  // "For two hours, then for good": each choice is one of the two.
  if (isReading(compared) && has(said, 'FOR_GOOD')) return true;
  if ([...wanted].some((time) => !given.has(time))) return false;
  if (!choice.asked && [...given].some((time) => !wanted.has(time))) return false;
  const words = new Set(offered.atoms.flatMap(({ tokens }) => tokens.map(({ text }) => text)));
  const isLost = said.atoms.some(
    (atom, at) =>
      (atom.kind === 'word' && isCalendarWord(atom.word.text) && !words.has(atom.word.text) && given.size === 0) ||
      (atom.kind === 'word' && isCalendarWord(atom.word.text) && wanted.size > 0) ||
      (atom.kind === 'time' && isStart(said.atoms[at - 1])),
  );
  if (isLost) return false;
  if (wanted.size === 0 && !has(said, 'VAGUE_TIME')) return true;
  // One order of several may be all that ends.
  if (given.size > 0 && isReading(compared) && said.atoms.some((atom) => isWord(atom, ORDERS_APART))) return true;
  const policies = choice.changes.flatMap((change) =>
    change.resource === 'MeshPolicy' && change.action !== 'delete' ? [change.spec.expiresAt] : [],
  );
  return given.size > 0 && policies.every((end) => end !== undefined) && new Set(policies).size >= wanted.size;
}

const ORDERS_APART: ReadonlySet<Sym> = new Set(['AND', 'COMMA', 'STOP', 'THEN', 'ALSO', 'EXCEPT']);
const STARTS: ReadonlySet<string> = new Set(['in', 'after', 'within', 'every', 'before', 'from', 'starting', 'each']);

function isStart(atom: Account['atoms'][number] | undefined): boolean {
  return atom?.kind === 'word' && STARTS.has(atom.word.text);
}
