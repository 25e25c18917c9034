import { nearest } from '../../core/base/nearest.ts';
import { type Account, has, isWord, strangeWords } from './account.ts';
import type { Compared } from './compared.ts';
import { CLOSINGS, NEGATIONS, OPENINGS } from './kept-limits.ts';
import { AFTER_SOURCE } from './kept-order.ts';
import { type Token, VERBS } from './lexicon.ts';

/** Words that leave something out, as "except" does. */
const LEAVES_OUT: ReadonlySet<string> = new Set(
  'outside excluded excluding besides beyond barring minus save without non-production'.split(' '),
);
/** Words that limit, as "only" does. */
const LIMITS: ReadonlySet<string> = new Set(
  'alone exclusive sole private strictly purely merely dedicate dedicated reserve reserved nowhere back one-way'.split(
    ' ',
  ),
);
/** Words that say how the things named belong to each other. */
const RELATES: ReadonlySet<string> = new Set(
  'respectively resp respective same own other others another else remaining rest those ones'.split(' '),
);

/** What the question does not quote is in the choice, and what narrows a name is not left out. */
export function keepsWords({ said, offered, choice, told }: Compared): boolean {
  if (choice.asked) return true;
  const words = new Set(offered.atoms.flatMap(({ tokens }) => tokens.map(({ text }) => text)));
  const left = strangeWords(said).filter(({ text }) => !words.has(text));
  const isQuoted = ({ text }: Token) => told.some((one) => one.includes(`"${text}"`) || one.includes(text));
  if (!left.every(isQuoted)) return false;
  if (isStrangeOrder(said, left) || said.atoms.some((_, at) => isNarrowing(said, at, left))) return false;
  return said.atoms.every(
    (atom) =>
      atom.kind !== 'word' ||
      words.has(atom.word.text) ||
      ![LEAVES_OUT, LIMITS, RELATES].some((set) => set.has(atom.word.text)),
  );
}

/** "Expose web-1 to …", "label web-1 as …": the order itself is not understood. */
function isStrangeOrder(said: Account, left: readonly Token[]): boolean {
  if (has(said, ...OPENINGS, ...CLOSINGS)) return false;
  const [first] = said.atoms.filter(({ kind }) => kind === 'who');
  const before = first && said.atoms[said.atoms.indexOf(first) - 1];
  return before?.kind === 'word' && left.includes(before.word) && !isMisspelt(before.word.text);
}

function isMisspelt(word: string): boolean {
  const letters = (text: string) => [...text].sort().join('');
  return nearest(word, VERBS).length > 0 || VERBS.some((verb) => letters(verb) === letters(word));
}

const WHERE: ReadonlySet<string> = new Set(['in', 'from', 'at', 'of', 'with', 'within', 'near', 'without', 'owned']);

const QUANTITIES: ReadonlySet<string> = new Set(['all', 'any']);

/** "Trusted laptops", "laptops in paris": a word that is not known says which of them. */
function isNarrowing({ atoms }: Account, at: number, left: readonly Token[]): boolean {
  const [atom, before, next] = [atoms[at], atoms[at - 1], atoms[at + 1]];
  if (atom?.kind !== 'word' || !left.includes(atom.word)) return false;
  if (atom.word.text.endsWith('ing')) return false;
  const isBehind = before?.kind === 'word' && WHERE.has(before.word.text) && atoms[at - 2]?.kind === 'who';
  const isGroup = next?.kind === 'who' && next.terms.some((term) => term.includes('='));
  const isQuantity = (one: Account['atoms'][number]) => QUANTITIES.has(one.tokens[0]?.text ?? '');
  const isVerb =
    (before?.kind === 'who' && !isQuantity(before)) || isWord(before, AFTER_SOURCE) || isWord(before, NEGATIONS);
  const isFirst = atoms.slice(0, at).every((one) => one.kind !== 'who' || isQuantity(one));
  return isBehind || (isGroup && !isVerb && isFirst);
}
