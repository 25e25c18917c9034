import type { Sym, Token } from './lexicon.ts';
import { EVERYONE } from './phrases.ts';
import type { Vocabulary } from './vocabulary.ts';

/** Limits that stand behind whom they are about, put where the grammar reads them. */

const ONLY: Token = { text: 'only', quoted: false, sym: 'ONLY' };
const EXCEPT: Token = { text: 'except', quoted: false, sym: 'EXCEPT' };
const LINKS: ReadonlySet<Sym> = new Set(['BY', 'FROM', 'FOR', 'TO']);
const LISTING: ReadonlySet<Sym> = new Set(['AND', 'OR', 'COMMA', 'OF']);
/** "They are", "he is", "it's". */
const THEY: ReadonlySet<string> = new Set(['they', 'he', 'she', 'it', 'that', 'who', 'which', 'one']);
const CONTRACTED: ReadonlySet<string> = new Set(["they're", 'theyre']);
const ARE: ReadonlySet<string> = new Set(['are', 'is', "'s", 'be']);
const WHO: ReadonlySet<string> = new Set(['who', 'that', 'which']);

/** `by api-1 alone` is `only by api-1`, and `everyone unless they are role=web` is `everyone except role=web`. */
export function withSpokenLimits(tokens: readonly Token[], vocabulary: Vocabulary): Token[] {
  return withUnless(withAlone(tokens, vocabulary));
}

function withAlone(tokens: readonly Token[], { isName }: Vocabulary): Token[] {
  const at = tokens.findIndex(
    (token, index) => isAlone(token, tokens, index) && !token.quoted && !isName(token.text) && index > 0,
  );
  if (at < 0) return [...tokens];
  let start = at;
  while (start > 0 && isWho(tokens[start - 1])) start--;
  while (start < at && tokens[start]?.sym) start++;
  const before = tokens[start - 1];
  const ports = before?.sym === 'ON' || before?.sym === 'OVER';
  if (start === at || before?.sym === 'KEEP' || ports) return [...tokens];
  // What is limited to somebody is theirs alone already.
  if (tokens.some(({ sym }) => sym === 'LIMIT')) return tokens.filter((_, index) => index !== at);
  const from = before?.sym && LINKS.has(before.sym) ? start - 1 : start;
  return [...tokens.slice(0, from), ONLY, ...tokens.slice(from, at), ...tokens.slice(at + 1)];
}

/** "Alone", and "only" behind those by whom something is reached. */
function isAlone({ text, sym }: Token, tokens: readonly Token[], at: number): boolean {
  if (text === 'alone') return true;
  if (sym !== 'ONLY' || text !== 'only') return false;
  const next = tokens[at + 1];
  if (next !== undefined && next.sym !== 'STOP' && next.sym !== 'COMMA' && next.sym !== 'UNTIL') return false;
  let start = at;
  while (start > 0 && isWho(tokens[start - 1])) start--;
  const link = tokens[start - 1]?.sym;
  return start < at && (link === 'BY' || (link === 'FROM' && tokens.some((token) => token.sym === 'ACCEPT')));
}

function isWho(token: Token | undefined): boolean {
  return token !== undefined && (token.quoted || token.sym === undefined || LISTING.has(token.sym));
}

function withUnless(tokens: readonly Token[]): Token[] {
  const at = tokens.findIndex((_, index) => conditionEnd(tokens, index) > 0);
  if (at < 0) return [...tokens];
  const comma = tokens[at - 1]?.sym === 'COMMA' ? at - 1 : at;
  return [...tokens.slice(0, comma), EXCEPT, ...tokens.slice(conditionEnd(tokens, at))];
}

/** Where those begin who are left out: behind "unless they are", "if they are not" and "who are not"; 0 anywhere else. */
function conditionEnd(tokens: readonly Token[], at: number): number {
  const { sym, text = '' } = tokens[at] ?? {};
  const unless = sym === 'CONDITION' && text === 'unless';
  const negated = (sym === 'CONDITION' && text === 'if') || (WHO.has(text) && isEveryone(tokens[at - 1]));
  if ((!unless && !negated) || !tokens.slice(0, at).some(isEveryone)) return 0;
  let end = WHO.has(text) ? at : at + 1;
  if (CONTRACTED.has(tokens[end]?.text ?? '')) end += 1;
  else if (THEY.has(tokens[end]?.text ?? '') && ARE.has(tokens[end + 1]?.text ?? '')) end += 2;
  else return 0;
  if (negated && tokens[end]?.sym !== 'NOT') return 0;
  if (negated) end += 1;
  const who = tokens[end];
  return who && (who.quoted || (who.sym === undefined && !ARE.has(who.text))) ? end : 0;
}

function isEveryone(token: Token | undefined): boolean {
  return token !== undefined && (token.sym === 'NOBODY' || (!token.quoted && !token.sym && EVERYONE.has(token.text)));
}
