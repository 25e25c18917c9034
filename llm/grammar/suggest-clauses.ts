import type { Sym, Token } from './lexicon.ts';
import { STARTS } from './sentences.ts';
import type { Atom } from './suggest-atoms.ts';

/** Words of one order, as far as it can be told where the next begins. */
export type Clause = readonly Atom[];

const ENDS: ReadonlySet<Sym> = new Set(['STOP', 'THEN']);
const JOINTS: ReadonlySet<Sym> = new Set(['COMMA', 'AND', 'EXCEPT']);
const SKIPPED: ReadonlySet<Sym> = new Set(['COMMA', 'AND', 'ALSO', 'POLITE', 'THEN', 'REASON']);
const MODALS: ReadonlySet<Sym> = new Set(['MAY', 'NEEDS', 'MAY_NOT', 'LOSE']);
const STAYS: ReadonlySet<string> = new Set(['stay', 'stays', 'remain', 'remains', 'unchanged']);

export function symOf(atom: Atom | undefined): Sym | undefined {
  return atom?.kind === 'word' ? atom.word.sym : undefined;
}

function isOneOf(atom: Atom | undefined, syms: ReadonlySet<Sym>): boolean {
  const sym = symOf(atom);
  return sym !== undefined && syms.has(sym);
}

/** Where a list goes on: "a, b and c", "a on 80 and b on 443". */
export function clausesOf(atoms: readonly Atom[]): Clause[] {
  const clauses: Atom[][] = [[]];
  for (let at = 0; at < atoms.length; at++) {
    const atom = atoms[at];
    if (!atom) break;
    if (isOneOf(atom, ENDS)) clauses.push([]);
    else if (isOneOf(atom, JOINTS) && isBreak(atoms, at, clauses.at(-1) ?? [])) clauses.push([]);
    else clauses.at(-1)?.push(atom);
  }
  return clauses.filter((clause) => clause.length > 0);
}

function isBreak(atoms: readonly Atom[], at: number, before: Clause): boolean {
  const joint = atoms[at];
  if (symOf(joint) === 'EXCEPT' && joint?.tokens[0]?.text !== 'but') return false;
  let next = at + 1;
  while (isOneOf(atoms[next], SKIPPED) || textOf(atoms[next]) === 'so') next++;
  if (isOneOf(atoms[next], STARTS)) return true;
  if (symOf(joint) !== 'COMMA') return false;
  const end = atoms.findIndex((one, index) => index > next && (symOf(one) === 'COMMA' || isOneOf(one, ENDS)));
  const part = atoms.slice(next, end < 0 ? undefined : end);
  const [first] = part;
  const aside = first?.kind === 'word' && (first.word.sym === undefined || isPronoun(first.word));
  const isList = first?.kind === 'who' && before.every((one) => !isOneOf(one, MODALS) && !isOneOf(one, STARTS));
  return aside || (!isList && part.some((one) => isOneOf(one, MODALS) || STAYS.has(textOf(one))));
}

function isPronoun({ sym }: Token): boolean {
  return sym === 'PRONOUN' || sym === 'LAST_CHANGE';
}

export function textOf(atom: Atom | undefined): string {
  return atom?.kind === 'word' ? atom.word.text : '';
}
