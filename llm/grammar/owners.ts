import type { NetworkState } from '../../core/state/state.ts';
import type { Sym, Token } from './lexicon.ts';
import { namesOf } from './names.ts';
import { ARTICLES } from './phrases.ts';
import { quoted, Refusal, said } from './refusal.ts';

const SEPARATORS: ReadonlySet<Sym> = new Set(['AND', 'OR', 'COMMA']);
/** Words before an owner that belong to what is owned: "all of alice's laptops". */
const BEFORE_OWNER: ReadonlySet<string> = new Set([...ARTICLES, 'all', 'every', 'each', 'any', 'both', 'of']);

/** One of those that are joined; an owner before "'s", and what is owned. */
interface Item {
  readonly words: readonly Token[];
  readonly separator: Token | undefined;
  readonly owner: readonly Token[] | undefined;
  readonly lead: readonly Token[];
  readonly owned: readonly Token[];
}

/**
 * "Alice's laptops" are laptops of alice, and "alice's and bob's laptops" those of each. A bare name beside them may be
 * owned too.
 *
 * @param nounOf what policies call those that words name, if anybody
 * @throws Refusal with each reading as a choice
 */
export function withOwners(
  tokens: readonly Token[],
  state: NetworkState,
  nounOf: (words: readonly Token[]) => string | undefined,
): readonly Token[] {
  if (!tokens.some(({ sym }) => sym === 'POSS')) return tokens;
  const items = itemsOf(tokens).map((item, at, all) => {
    const next = all.slice(at).find(({ owner, owned }) => owner === undefined || owned.length > 0);
    return item.owner && item.owned.length === 0 && next?.owner ? { ...item, owned: next.owned } : item;
  });
  const plain = items.map((item) => spoken(item, state));
  for (const [at, { owner, words }] of items.entries()) {
    if (owner) continue;
    const [before, next] = [items[at - 1], items[at + 1]];
    const shared = before?.owner && !isExact(words, state) && [...withoutLead(words), ofToken(), ...before.owner];
    const isOwnerToo = next?.owner && words.length === 1 && isAlike(words, next.owner, state);
    const own = shared && nounOf(shared) ? shared : isOwnerToo ? [...next.owned, ofToken(), ...words] : undefined;
    if (!own) continue;
    const reading = (of: readonly (readonly Token[])[]) => of.map((one) => nounOf(one) ?? said(one)).join(' and ');
    throw new Refusal(
      `In ${quoted(said(tokens))} it is not clear whether ${quoted(said(words))} is meant by itself, or as ${quoted(said(own))}.`,
      ['Which of the two is meant?'],
      { replace: tokens, by: [reading(plain.with(at, own)), reading(plain)] },
    );
  }
  return plain.flatMap((words, at) => [...words, ...(items[at]?.separator ? [items[at].separator] : [])]);
}

function itemsOf(tokens: readonly Token[]): Item[] {
  const items: Item[] = [];
  let start = 0;
  for (let at = 0; at <= tokens.length; at++) {
    const token = tokens[at];
    if (token && !(token.sym && SEPARATORS.has(token.sym))) continue;
    const words = tokens.slice(start, at);
    const mark = words.findIndex(({ sym }) => sym === 'POSS');
    const lead = words.slice(0, words.length - withoutLead(words).length);
    const owned = words.slice(mark + 1);
    const owner = mark > lead.length && !owned.some(({ sym }) => sym === 'POSS');
    items.push({
      words,
      separator: token,
      lead: lead.filter(({ text }) => text !== 'of'),
      ...(owner ? { owner: words.slice(lead.length, mark), owned } : { owner: undefined, owned: [] }),
    });
    start = at + 1;
  }
  return items;
}

function withoutLead(words: readonly Token[]): readonly Token[] {
  const first = words.findIndex(({ text, quoted: named }) => named || !BEFORE_OWNER.has(text));
  return first < 0 ? [] : words.slice(first);
}

/** "Carla's laptop" is also the peer carla-laptop, where nobody is labelled "carla". */
function spoken({ words, owner, lead, owned }: Item, state: NetworkState): readonly Token[] {
  if (!owner) return words;
  const { byName, byValue } = namesOf(state);
  const name = [...owner, ...owned].map(({ text }) => text).join('-');
  if (byName.has(name) && !byValue.has(said(owner))) return [{ text: name, quoted: false }];
  return [...lead, ...owned, ofToken(), ...owner];
}

/** A label, a peer and a quoted name go by themselves. */
function isExact(words: readonly Token[], state: NetworkState): boolean {
  const { byName } = namesOf(state);
  return words.some(({ text, quoted: named }) => named || text.includes('=')) || byName.has(said(words));
}

function ofToken(): Token {
  return { text: 'of', quoted: false, sym: 'OF' };
}

/** Whether two names are values of one label. */
function isAlike(one: readonly Token[], other: readonly Token[], state: NetworkState): boolean {
  const { byValue } = namesOf(state);
  const keys = new Set((byValue.get(said(one)) ?? []).map(({ key }) => key));
  return (byValue.get(said(other)) ?? []).some(({ key }) => keys.has(key));
}
