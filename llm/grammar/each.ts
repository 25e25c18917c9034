import { quoted, Refusal, textOf } from './refusal.ts';
import type { Token } from './token.ts';

const LINKS: ReadonlySet<Token['sym']> = new Set(['FROM', 'BY', 'TO', 'ON']);
const SPECIAL: ReadonlySet<Token['sym']> = new Set(['EXCEPT', 'ONLY', 'ALONE', 'LIMIT', 'NOBODY_ELSE', 'NOTHING_ELSE']);
const ARTICLES: ReadonlySet<string> = new Set(['the', 'all', 'both', 'every']);

/**
 * Divides a clause that names several with ports of their own: "let web reach db on 5432 and cache on 6379" is two.
 *
 * @throws Refusal where a name may begin an order of its own: "ci may reach db on 5432 and api on 443"
 */
export function eachWithPorts(tokens: readonly Token[]): (readonly Token[])[] {
  const places = tokens.flatMap(({ sym }, at) => (sym === 'PORTS' ? [at] : []));
  const [first] = places;
  if (first === undefined || places.length < 2) return [tokens];
  const start = tokens.slice(0, first).findLastIndex(({ sym }) => sym !== undefined) + 1;
  const head = tokens.slice(0, start);
  const tail = tokens.slice((places.at(-1) ?? 0) + 1);
  const link = head.at(-1)?.sym;
  const isMay = head.some(({ sym }) => sym === 'MAY') && link === 'REACH';
  const parts: (readonly Token[])[] = [tokens.slice(start, first + 1)];
  for (const [index, place] of places.slice(1).entries()) {
    const between = tokens.slice((places[index] ?? 0) + 1, place);
    const names = between.findIndex(({ sym }) => sym === undefined || (sym === link && LINKS.has(sym)));
    const who = between.slice(between[names]?.sym === link && link !== undefined ? names + 1 : names);
    const isPart = names > 0 && between.slice(0, names).every(({ sym }) => sym === 'AND' || sym === 'COMMA');
    const isSure = !isMay || ARTICLES.has(who[0]?.text ?? '') || tokens[place]?.text.startsWith('(');
    if (!isPart || who.length === 0 || who.some(({ sym }) => sym !== undefined) || !isSure) throw unclear(tokens);
    parts.push([...who, ...tokens.slice(place, place + 1)]);
  }
  const isPlain =
    start < first && !tokens.some(({ sym }) => SPECIAL.has(sym)) && !tail.some(({ sym }) => sym === 'TIME');
  if (!isPlain || head.at(-1)?.sym === 'AND' || head.at(-1)?.sym === 'COMMA') throw unclear(tokens);
  return parts.map((part) => [...head, ...part, ...tail]);
}

function unclear(tokens: readonly Token[]): Refusal {
  return new Refusal(`${quoted(textOf(tokens))} names ports more than once.`, [
    'Which ports are meant for whom? Say each in a sentence of its own.',
  ]);
}
