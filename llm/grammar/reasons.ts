import { quoted, Refusal, textOf } from './refusal.ts';
import type { Token } from './token.ts';

/** Words that may stand in a reason: those that restrict, except or ask for something are none of it. */
const INSIDE: ReadonlySet<Token['sym']> = new Set([
  ...([undefined, 'PRONOUN', 'LAST', 'NEEDS', 'OF', 'TO', 'FOR', 'ON', 'BY', 'FROM', 'AND', 'POSS'] as const),
  ...(['REACH', 'REACHING', 'POLITE', 'ISOLATED'] as const),
]);

/**
 * Takes "because …" from the end of a sentence, or from before its first comma.
 *
 * @throws Refusal for a reason that names somebody, ports or a condition: it may ask for more
 */
export function withoutReason(
  tokens: readonly Token[],
  isName: (word: string) => boolean,
): { rest: readonly Token[]; reason: readonly string[] } {
  const at = tokens.findIndex(({ sym }) => sym === 'REASON');
  if (at < 0) return { rest: tokens, reason: [] };
  const comma = at === 0 ? tokens.findIndex(({ sym }) => sym === 'COMMA') : tokens.length;
  const end = comma < 0 ? tokens.length : comma;
  const reason = tokens.slice(at, end);
  const others = [...tokens.slice(0, at), ...tokens.slice(end)];
  const isSaid = (text: string) => others.some((other) => other.text === text);
  const strange = reason.some(
    ({ sym, text, quoted: isQuoted, ports }, place) =>
      place > 0 &&
      (!INSIDE.has(sym) ||
        ports !== undefined ||
        (!isQuoted && sym === undefined && isMeaningful(text, isName) && !isSaid(text))),
  );
  if (strange || others.length === 0) {
    throw new Refusal(`${quoted(textOf(reason))} begins as a reason, and may ask for more.`, [
      'Should it change who reaches whom? Say that in a sentence of its own; else leave it out.',
    ]);
  }
  return { rest: others, reason: [textOf(reason)] };
}

function isMeaningful(text: string, isName: (word: string) => boolean): boolean {
  return isName(text) || /[=\d]/.test(text);
}
