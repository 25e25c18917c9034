import type { Sym, Token } from './lexicon.ts';

/** What the slots of a pattern caught. */
export type Slots = Readonly<Partial<Record<string, readonly Token[]>>>;

interface Element {
  readonly syms: ReadonlySet<Sym>;
  readonly slot?: string;
  readonly optional: boolean;
}

/** `LET {source} REACH {target}`: words of the grammar, `A|B` for either, `A?` for at will, `{name}` for one or more other words. */
export type Pattern = readonly Element[];

export function patternOf(text: string): Pattern {
  return text.split(' ').map((part) => {
    const [, slot] = /^\{(\w+)\}$/.exec(part) ?? [];
    const optional = part.endsWith('?');
    const syms = new Set((slot === undefined ? part.replace('?', '').split('|') : []) as Sym[]);
    // "Needs" permits as "may" does.
    if (syms.has('MAY')) syms.add('NEEDS');
    return { syms, optional, ...(slot !== undefined && { slot }) };
  });
}

/** What may stand inside of a slot beside words that are none of the grammar. */
const INSIDE: ReadonlySet<Sym> = new Set([
  'AND',
  'OR',
  'COMMA',
  'EXCEPT',
  'OF',
  'POSS',
  'SOME',
  'PRONOUN',
  'LAST_CHANGE',
  'CONDITION',
]);

/** Fits a pattern to all tokens in one pass. A slot ends where the next word of the pattern stands first. */
export function match(pattern: Pattern, tokens: readonly Token[]): Slots | undefined {
  const slots: Record<string, readonly Token[]> = {};
  let at = 0;
  for (const [index, element] of pattern.entries()) {
    if (element.slot === undefined) {
      const sym = tokens[at]?.sym;
      if (sym && element.syms.has(sym)) at++;
      else if (!element.optional) return undefined;
      continue;
    }
    const ends = endsAfter(pattern, index);
    const start = at;
    while (at < tokens.length && !isOneOf(tokens[at], ends) && isInside(tokens[at])) at++;
    if (at === start) return undefined;
    slots[element.slot] = tokens.slice(start, at);
  }
  return at === tokens.length ? slots : undefined;
}

function endsAfter(pattern: Pattern, index: number): ReadonlySet<Sym> {
  const ends = new Set<Sym>();
  for (const { syms, optional } of pattern.slice(index + 1)) {
    for (const sym of syms) ends.add(sym);
    if (!optional) break;
  }
  return ends;
}

function isOneOf(token: Token | undefined, syms: ReadonlySet<Sym>): boolean {
  return token?.sym !== undefined && syms.has(token.sym);
}

function isInside(token: Token | undefined): boolean {
  return token !== undefined && (token.sym === undefined || INSIDE.has(token.sym));
}
