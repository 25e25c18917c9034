import type { Token } from './token.ts';

/** Words that the slots of a form caught. */
export type Slots = Readonly<Partial<Record<string, readonly Token[]>>>;

interface Element {
  readonly syms: ReadonlySet<Token['sym']>;
  readonly slot?: string;
  readonly isOptional: boolean;
}

/** `LET {from} REACH {to}`: kinds of words, `A|B` for either, `A?` for at will, `{name}` for words that name somebody. */
export type Pattern = readonly Element[];

export function patternOf(text: string): Pattern {
  return text.split(' ').map((part) => {
    const [, slot] = /^\{(\w+)\}$/.exec(part) ?? [];
    const syms = slot === undefined ? part.replaceAll('?', '').split('|') : [];
    return {
      syms: new Set(syms as Token['sym'][]),
      isOptional: part.endsWith('?'),
      ...(slot !== undefined && { slot }),
    };
  });
}

/** Kinds of words that may stand between names. */
const INSIDE: ReadonlySet<Token['sym']> = new Set([undefined, 'AND', 'OR', 'COMMA', 'EXCEPT', 'OF']);

/** Fits a pattern to all tokens. A slot ends where the next word of the pattern stands first. */
export function match(pattern: Pattern, tokens: readonly Token[]): Slots | undefined {
  const slots: Record<string, readonly Token[]> = {};
  let at = 0;
  for (const [index, { slot, syms, isOptional }] of pattern.entries()) {
    if (slot === undefined) {
      if (at < tokens.length && syms.has(tokens[at]?.sym)) at += 1;
      else if (!isOptional) return undefined;
      continue;
    }
    const ends = endsAfter(pattern, index);
    const start = at;
    for (
      let token = tokens[at];
      token && INSIDE.has(token.sym) && !(token.sym && ends.has(token.sym));
      token = tokens[at]
    )
      at += 1;
    if (at === start) return undefined;
    slots[slot] = tokens.slice(start, at);
  }
  return at === tokens.length ? slots : undefined;
}

function endsAfter(pattern: Pattern, index: number): ReadonlySet<Token['sym']> {
  const ends = new Set<Token['sym']>();
  for (const { syms, isOptional } of pattern.slice(index + 1)) {
    for (const sym of syms) ends.add(sym);
    if (!isOptional) break;
  }
  return ends;
}
