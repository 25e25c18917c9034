import type { Token } from './lexicon.ts';
import { quoted, Refusal, said } from './refusal.ts';

/** "Inbound" and "outbound" say on which side who is named stands: they are turned into "access to" and "access from". */
export function withDirections(tokens: readonly Token[]): readonly Token[] {
  const at = tokens.findIndex(({ sym }) => sym === 'INCOMING' || sym === 'OUTGOING');
  const word = tokens[at];
  if (word === undefined) return tokens;
  const access: Token = { text: 'traffic', quoted: false, sym: 'ACCESS' };
  const before = tokens[at - 1];
  if (before && before.sym === undefined) throw unclearSide(word, tokens);
  const rest = tokens.slice(tokens[at + 1]?.sym === 'ACCESS' ? at + 2 : at + 1);
  const both = rest.some(({ sym }) => sym === 'FROM') && rest.some(({ sym }) => sym === 'TO');
  if (both) return [...tokens.slice(0, at), access, ...rest];
  const own = ownerOf(tokens, at);
  const incoming = word.sym === 'INCOMING';
  if (own) {
    return [...own.before, access, { ...own.link, sym: incoming ? 'TO' : 'FROM' }, ...own.who];
  }
  const [link] = rest;
  if (link?.sym === 'TO') return [...tokens.slice(0, at), access, ...rest];
  const other = incoming ? 'TO' : 'FROM';
  if (link && (link.sym === 'ON' || link.sym === 'OF' || link.sym === 'FOR' || link.sym === other))
    return [...tokens.slice(0, at), access, { ...link, sym: other }, ...rest.slice(1)];
  throw unclearSide(word, tokens);
}

function unclearSide(word: Token, tokens: readonly Token[]): Refusal {
  return new Refusal(`It is not clear whose side ${quoted(word.text)} is about in ${quoted(said(tokens))}.`, [
    'Who reaches whom? Say "block access from <source>" or "block access to <target>".',
  ]);
}

/** `cut web-1's outbound traffic`. */
function ownerOf(tokens: readonly Token[], at: number) {
  const link = tokens[at - 1];
  if (link?.sym !== 'POSS' || at !== tokens.length - 1) return undefined;
  return { before: tokens.slice(0, 1), who: tokens.slice(1, at - 1), link };
}
