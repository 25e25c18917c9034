import {
  type Account,
  includes,
  isEveryone,
  isWord,
  labelsOf,
  meansOne,
  namingWords,
  type Who,
  whosOf,
} from './account.ts';
import type { Compared } from './compared.ts';
import { LIST } from './kept-ports.ts';

export function keepsNames({ said, offered, choice, state }: Compared): boolean {
  const given = whosOf(offered);
  const isKept = (who: Who) =>
    isEveryone(who) ||
    given.some((one) => includes(who, one)) ||
    (choice.asked && given.some(({ peers }) => peers.length > 0 && peers.every((name) => who.peers.includes(name))));
  const labels = new Set(given.flatMap((who) => [...labelsOf(who), ...(choice.asked ? who.peers : [])]));
  const words = new Set(offered.atoms.flatMap(({ tokens }) => tokens.map(({ text }) => text)));
  const kept = whosOf(said).every(isKept) && !said.atoms.some((atom, at) => isSharedPossessive(said, atom, at));
  return (
    kept &&
    namingWords(said, state).every(
      (word) => words.has(word) || meansOne(word, labels) || (choice.asked && isPartOfKept(word, said, isKept)),
    )
  );
}

/** "Alice's and bob's laptops". */
function isSharedPossessive({ atoms }: Account, atom: Account['atoms'][number], at: number): boolean {
  return isWord(atom, new Set(['POSS'])) && isWord(atoms[at + 1], LIST);
}

/** "The historian", where one of them is offered. */
function isPartOfKept(word: string, said: Account, isKept: (who: Who) => boolean): boolean {
  return whosOf(said).some(
    (who) => who.tokens.some(({ text }) => text === word) && meansOne(word, labelsOf(who)) && isKept(who),
  );
}

export function addsNoNames({ said, offered, choice }: Compared): boolean {
  if (choice.asked) return true;
  const labels = new Set(whosOf(said).flatMap((who) => [...labelsOf(who)]));
  return whosOf(offered).every((who) => isEveryone(who) || [...labelsOf(who)].every((label) => labels.has(label)));
}
