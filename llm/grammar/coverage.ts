import type { Sym, Token } from './lexicon.ts';
import { quoted, Refusal, said } from './refusal.ts';

/**
 * Words that change nothing about who reaches what, where nothing else gives them a meaning: courtesies, and what joins
 * sentences. A word that excepts, restricts, sets a condition or a time is never one of them.
 */
export const WITHOUT_MEANING: ReadonlySet<Sym> = new Set(['POLITE', 'COMMA', 'STOP', 'THEN', 'ALSO', 'AND']);

/** Which words of an intent the reading accounts for. */
export class Coverage {
  readonly #used = new Set<Token>();

  use(tokens: readonly Token[]): void {
    for (const token of tokens) this.#used.add(token);
  }

  /** @throws Refusal quoting the words that no part of the reading accounts for. */
  requireAll(tokens: readonly Token[]): void {
    const at = tokens.findIndex((token) => !this.#isCovered(token));
    if (at < 0) return;
    const length = tokens.slice(at).findIndex((token) => this.#isCovered(token));
    const words = tokens.slice(at, length < 0 ? undefined : at + length);
    const left = tokens.filter((token) => !words.includes(token));
    throw new Refusal(
      `It is not clear what ${quoted(said(words))} changes; the rest is understood.`,
      [`What should ${quoted(said(words))} mean here? Say it in a sentence of its own, or leave it out.`],
      { choices: [said(left)] },
    );
  }

  #isCovered(token: Token): boolean {
    return this.#used.has(token) || (token.sym !== undefined && WITHOUT_MEANING.has(token.sym));
  }
}
