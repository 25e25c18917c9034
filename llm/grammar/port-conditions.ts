import type { Sym, Token } from './lexicon.ts';
import { portsAt } from './ports.ts';
import { attempt } from './refusal.ts';

/**
 * A condition that names nothing but ports is none that a policy does not know: "unless it is on 443" leaves that port out,
 * "if it's over 443" names it, and "only if" or "as long as" limits to it.
 */
export function withPortConditions(tokens: readonly Token[]): Token[] {
  const found: Token[] = [];
  for (let at = 0; at < tokens.length; ) {
    const condition = conditionAt(tokens, at);
    if (condition) found.push(...condition.words);
    else if (tokens[at]) found.push(tokens[at] as Token);
    at = condition?.end ?? at + 1;
  }
  return found;
}

const ON: Token = { text: 'on', quoted: false, sym: 'ON' };
const EXCEPT: Token = { text: 'except', quoted: false, sym: 'EXCEPT' };
const ONLY: Token = { text: 'only', quoted: false, sym: 'ONLY' };
const LEAVING_OUT: ReadonlySet<string> = new Set(['unless', 'except when']);
const NAMING: ReadonlySet<string> = new Set(['if', 'when', 'whenever', 'in case']);
const LIMITING: ReadonlySet<string> = new Set(['as long as', 'provided', 'provided that']);
/** "It is", "it's", "the port is", "traffic goes". */
const TELLING: ReadonlySet<Sym> = new Set(['PRONOUN', 'LAST_CHANGE', 'ACCESS', 'POSS']);
const TOLD: ReadonlySet<string> = new Set('it its is are be goes runs comes happens done uses the'.split(' '));
const LINKS: ReadonlySet<Sym> = new Set(['ON', 'OVER']);

function conditionAt(tokens: readonly Token[], start: number): { words: Token[]; end: number } | undefined {
  const lead = tokens[start]?.sym;
  const at = lead === 'ONLY' || lead === 'EXCEPT' ? start + 1 : start;
  const word = tokens[at];
  if (word?.sym !== 'CONDITION') return undefined;
  const head = headFor(word.text, lead);
  if (!head) return undefined;
  let from = at + 1;
  while (isTelling(tokens[from])) from++;
  // "Reach db if on 443" may have lost a word.
  if (head.length === 0 && from === at + 1) return undefined;
  if (tokens[from]?.text === 'port' && isTelling(tokens[from + 1])) from += 2;
  const isLinked = LINKS.has(tokens[from]?.sym ?? 'AND');
  const first = isLinked ? from + 1 : from;
  const named = attempt(() => portsAt(tokens, first));
  if (!named || named.ports.length === 0 || (named.service !== undefined && !isLinked)) return undefined;
  return { words: [...head, ON, ...tokens.slice(first, named.end)], end: named.end };
}

function headFor(text: string, lead: Sym | undefined): readonly Token[] | undefined {
  if (LEAVING_OUT.has(text)) return lead === undefined || lead === 'CONDITION' ? [EXCEPT] : undefined;
  if (lead === 'EXCEPT') return NAMING.has(text) ? [EXCEPT] : undefined;
  if (LIMITING.has(text)) return [ONLY];
  if (NAMING.has(text)) return lead === 'ONLY' ? [ONLY] : [];
  return undefined;
}

function isTelling(token: Token | undefined): boolean {
  return token !== undefined && !token.quoted && (token.sym ? TELLING.has(token.sym) : TOLD.has(token.text));
}
