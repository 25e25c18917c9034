import type { Token } from './lexicon.ts';

/** Courtesies at either end say nothing. */
export function withoutPolite(tokens: readonly Token[]): Token[] {
  const isPolite = (token: Token | undefined) =>
    token?.sym === 'POLITE' || token?.sym === 'COMMA' || token?.sym === 'STOP';
  let [from, to] = [0, tokens.length];
  while (from < to && isPolite(tokens[from])) from++;
  while (to > from && isPolite(tokens[to - 1])) to--;
  return tokens.slice(from, to);
}
