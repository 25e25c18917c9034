import type { Token } from './lexicon.ts';
import { ARTICLES } from './phrases.ts';
import type { Vocabulary } from './vocabulary.ts';

/** "At the north site" says who is meant, as "in the north" does; "at port 443" says on which ports. */
export function withPlaces(tokens: readonly Token[], { isPlace }: Vocabulary): Token[] {
  return tokens.map((token, at) => {
    if (token.sym !== 'ON' || token.quoted) return token;
    const next = tokens[at + 1];
    const named = next && !next.sym && ARTICLES.has(next.text) ? tokens[at + 2] : next;
    return named && !named.sym && isPlace(named.text) ? { text: 'in', quoted: false } : token;
  });
}
