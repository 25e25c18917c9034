import type { Sym, Token } from './lexicon.ts';
import { portsAt } from './ports.ts';
import { quoted, Refusal, said } from './refusal.ts';

/** What may stand in a reason: words that restrict, except or ask for something more are none of it. */
const INSIDE: ReadonlySet<Sym> = new Set([
  'PRONOUN',
  'LAST_CHANGE',
  'NEEDS',
  'OF',
  'TO',
  'FOR',
  'ON',
  'BY',
  'FROM',
  'AND',
  'POSS',
  'ACCESS',
  'REACH',
  'REACHING',
  'POLITE',
  'ISOLATED',
  'NOT',
]);

export interface Reasoned {
  readonly rest: readonly Token[];
  /** The words that only say why. */
  readonly reason: readonly Token[];
}

/**
 * Takes "because …" out of a sentence, at its end or before its first comma.
 *
 * @throws Refusal where the reason may restrict what is asked for.
 */
export function withoutReason(tokens: readonly Token[]): Reasoned {
  const at = tokens.findIndex(({ sym }) => sym === 'REASON');
  if (at < 0) return { rest: tokens, reason: [] };
  const purpose = restriction(tokens, at);
  if (purpose) return purpose;
  const comma = at === 0 ? tokens.findIndex(({ sym }) => sym === 'COMMA') : tokens.length;
  const reason = tokens.slice(at, comma < 0 ? tokens.length : comma);
  const strange = reason.find(
    ({ sym }, place) => place > 0 && ((sym !== undefined && !INSIDE.has(sym)) || portsAt(reason, place) !== undefined),
  );
  const rest = at === 0 ? tokens.slice(reason.length + 1) : tokens.slice(0, at);
  if (strange || rest.length === 0) {
    throw new Refusal(
      `${quoted(said(reason))} begins as a reason, and ${quoted(strange?.text ?? said(reason))} in it may ask for more.`,
      [`Should ${quoted(said(reason))} change who reaches whom? Say that in a sentence of its own; else leave it out.`],
      rest.length > 0 ? { choices: [said(rest)] } : {},
    );
  }
  return { rest: rest.at(-1)?.sym === 'COMMA' ? rest.slice(0, -1) : rest, reason };
}

/** "Restrict api-1 so that it can only be reached by web": the order is what follows, about the one who is named. */
function restriction(tokens: readonly Token[], at: number): Reasoned | undefined {
  const [verb] = tokens;
  const [named, after] = [tokens.slice(1, at), tokens.slice(at + 1)];
  const pronouns = after.filter(({ sym }) => sym === 'PRONOUN' || sym === 'LAST_CHANGE');
  const restricts = verb?.sym === 'LIMIT' || verb?.sym === 'LOCK';
  const [only, second] = pronouns;
  if (!restricts || tokens[at]?.text !== 'so that' || named.length === 0 || !only || second) return undefined;
  const limited = after.some(({ sym }) => sym === 'ONLY' || sym === 'NOBODY' || sym === 'MAY_NOT');
  if (!limited || named.some(({ sym }) => sym !== undefined)) return undefined;
  const rest = after.flatMap((token) => (token === only ? named : [token]));
  return { rest, reason: tokens.filter((token) => !rest.includes(token)) };
}
