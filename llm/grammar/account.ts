import type { PortEntry } from '../../core/model/policy.ts';
import type { NetworkState } from '../../core/state/state.ts';
import type { Sym, Token } from './lexicon.ts';
import { formsOf, isNameIn, namesOf } from './names.ts';
import { meantPorts } from './port-entries.ts';
import { attempt } from './refusal.ts';
import { type At, type Atom, atomsOf, isIdle } from './suggest-atoms.ts';
import { QUIET } from './suggest-words.ts';

export type Who = Extract<Atom, { kind: 'who' }>;

/** What a sentence says, word by word, in its order. */
export interface Account {
  readonly atoms: readonly Atom[];
  readonly syms: ReadonlySet<Sym>;
}

export function accountOf(tokens: readonly Token[], at: At): Account {
  const atoms = withoutSpared(atomsOf(tokens, at));
  return { atoms, syms: new Set(atoms.flatMap((atom) => (atom.kind === 'word' ? (atom.word.sym ?? []) : []))) };
}

/** "Udp except 53" is the ports that are left. */
function withoutSpared(atoms: readonly Atom[]): Atom[] {
  const found: Atom[] = [];
  for (let at = 0; at < atoms.length; at++) {
    const atom = atoms[at];
    if (!atom) break;
    let next = at + 1;
    while (isWord(atoms[next], BEFORE_SPARED) && next < at + 4) next++;
    const spared = atoms[next];
    const left =
      atom.kind === 'ports' && spared?.kind === 'ports' && isWord(atoms[at + 1], EXCEPT)
        ? attempt(() => meantPorts({ ports: atom.ports, spared: inProtocols(spared.ports, atom.ports) }))
        : undefined;
    if (left) {
      found.push({ kind: 'ports', ports: left, tokens: atoms.slice(at, next + 1).flatMap((one) => one.tokens) });
      at = next;
    } else found.push(atom);
  }
  return found;
}

const EXCEPT: ReadonlySet<Sym> = new Set(['EXCEPT']);
const BEFORE_SPARED: ReadonlySet<Sym> = new Set(['EXCEPT', 'NO', 'ON', 'OVER']);

function inProtocols(spared: readonly PortEntry[], ports: readonly PortEntry[]): PortEntry[] {
  const told = [...new Set(ports.map(({ protocol = 'TCP' }) => protocol))];
  return spared.flatMap((entry) =>
    entry.protocol === undefined || !told.includes(entry.protocol)
      ? told.map((protocol) => ({ ...entry, protocol }))
      : [entry],
  );
}

export function has({ syms }: Account, ...wanted: readonly Sym[]): boolean {
  return wanted.some((sym) => syms.has(sym));
}

export function countOf({ atoms }: Account, wanted: ReadonlySet<Sym>): number {
  return atoms.filter((atom) => isWord(atom, wanted)).length;
}

export function isWord(atom: Atom | undefined, wanted: ReadonlySet<Sym>): boolean {
  return atom?.kind === 'word' && atom.word.sym !== undefined && wanted.has(atom.word.sym);
}

export function whosOf({ atoms }: Account): Who[] {
  return atoms.filter((atom) => atom.kind === 'who');
}

/** Labels and names that it asks for, all of them. */
export function labelsOf({ terms }: Who): ReadonlySet<string> {
  return new Set(terms.flatMap((term) => term.split(',')).map((term) => (WORLD.has(term) ? 'the internet' : term)));
}

const WORLD: ReadonlySet<string> = new Set(['0.0.0.0/0', '::/0']);

export function isEveryone({ terms }: Who): boolean {
  return terms.includes('*');
}

/** Whether the second asks for all that the first asks for, and perhaps for more. */
export function includes(one: Who, other: Who): boolean {
  const own = labelsOf(other);
  return [...labelsOf(one)].every((label) => own.has(label));
}

export function portsOf({ atoms }: Account): ReadonlySet<string> {
  return new Set(atoms.flatMap((atom) => (atom.kind === 'ports' ? atom.ports.map(portKey) : [])));
}

function portKey({ protocol = 'TCP', port, endPort }: PortEntry): string {
  return `${protocol}/${port ?? ''}-${endPort ?? port ?? ''}`;
}

export function timesOf({ atoms }: Account): ReadonlySet<number> {
  return new Set(atoms.flatMap((atom) => (atom.kind === 'time' ? [atom.until] : [])));
}

/** The words by themselves that mean something and are no words of the grammar. */
export function strangeWords({ atoms }: Account): Token[] {
  return atoms.flatMap((atom) =>
    atom.kind === 'word' && atom.word.sym === undefined && !isIdle(atom.word) && !isQuiet(atom.word.text)
      ? [atom.word]
      : [],
  );
}

function isQuiet(text: string): boolean {
  return QUIET.has(text) || REFERRING.has(text);
}

const REFERRING: ReadonlySet<string> = new Set(['she', 'he', 'they', 'we', 'who']);

const SHORTEST_STEM = 4;

/** Words that name a peer or a value of a label, wherever they stand; a verb made of one ("printing") too. */
export function namingWords({ atoms }: Account, state: NetworkState): string[] {
  const names = namesOf(state);
  const stems = new Set([...names.byValue.keys()].map(stemOf).filter((stem) => stem.length >= SHORTEST_STEM));
  return atoms.flatMap((atom) =>
    atom.kind === 'ports' || atom.kind === 'time'
      ? []
      : atom.tokens
          .filter(({ sym, text }) => sym === undefined && (isNameIn(names, text) || stems.has(stemOf(text))))
          .map(({ text }) => text),
  );
}

export function stemOf(word: string): string {
  return word.replace(/(?:ing|ers|er|ed|es|s)$/, '');
}

/** Whether a word stands for a label or a name that is asked for. */
export function meansOne(word: string, labels: ReadonlySet<string>): boolean {
  const forms = new Set(formsOf(word));
  return [...labels].some((label) => {
    const value = label.slice(label.indexOf('=') + 1).toLowerCase();
    return forms.has(value) || stemOf(value) === stemOf(word);
  });
}
