import type { Token } from './token.ts';

const AFTER_NOUN: ReadonlySet<Token['sym']> = new Set([
  ...(['TO', 'FROM', 'BETWEEN', 'FOR', 'ON', 'OF', 'OVER', 'BY', 'EXCEPT', 'NOBODY_ELSE', 'STOP', 'COMMA'] as const),
  ...(['TIME', 'PORTS', 'ONLY', 'AND', 'BY_DEFAULT'] as const),
]);

const BEFORE_WHOLE: ReadonlySet<Token['sym']> = new Set(['LET', 'OPEN', 'DENY', 'CLOSE', 'REVOKE', 'CUT']);

const AFTER_WHOLE: ReadonlySet<Token['sym']> = new Set(['FROM', 'TO', 'BETWEEN', 'ON', 'BY_DEFAULT']);

/** Joins ports to the access that they stand beside: `postgres (5433)`, `access on port 22`. */
export function joined(tokens: readonly Token[]): Token[] {
  const nouns = tokens.map(
    (token, at): Token => (isNoun(token, tokens[at - 1], tokens[at + 1]) ? { ...token, sym: 'ACCESS' } : token),
  );
  const found: Token[] = [];
  for (const token of nouns) {
    const last = found.at(-1);
    // In brackets stands what is exact.
    const isJoint = last?.sym === 'ACCESS' && token.sym === 'PORTS' && (!last.ports || token.text.startsWith('('));
    if (isJoint && token.ports)
      found[found.length - 1] = { ...last, text: `${last.text} ${token.text}`, ports: token.ports };
    else found.push(token);
  }
  return found;
}

/** "Access" is a verb before who is reached, else a noun; so is "everything" in "block everything from ci". */
function isNoun({ text, quoted: isQuoted }: Token, before: Token | undefined, next: Token | undefined): boolean {
  if (isQuoted) return false;
  if (text === 'everything' || text === 'anything') return BEFORE_WHOLE.has(before?.sym) && AFTER_WHOLE.has(next?.sym);
  return text === 'access' && (before?.sym === 'POSS' || next === undefined || AFTER_NOUN.has(next.sym));
}
