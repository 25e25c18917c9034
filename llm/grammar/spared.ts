import type { Names } from './names.ts';
import { readSide, type Side } from './sides.ts';
import type { Token } from './token.ts';

/** A part that stays as it is of what a clause closes: from somebody, or to somebody, on some ports. */
export interface Spared {
  readonly direction: 'from' | 'to';
  readonly side: Side;
  /** None for all ports. */
  readonly ports: readonly string[];
}

interface Exception {
  readonly head: readonly Token[];
  readonly spared: readonly Spared[];
  readonly left?: readonly string[];
}

export const SIDE_WORDS: ReadonlySet<Token['sym']> = new Set([undefined, 'AND', 'COMMA', 'OR', 'OF']);

/** Takes "except ssh from ops", "except to api on 443" and "except 5432" from the end. */
export function takeException(tokens: readonly Token[], names: Names): Exception {
  const at = tokens.findIndex(({ sym }) => sym === 'EXCEPT');
  const whole = { head: tokens, spared: [] };
  if (at <= 0 || tokens[at - 1]?.sym === 'NOBODY') return whole;
  const heads = withoutCommas(tokens.slice(0, at));
  const parts = splitAt(tokens.slice(at + 1));
  const spared: Spared[] = [];
  for (const part of parts) {
    const one = sparedOf(part, names);
    if (one) spared.push(one);
  }
  if (spared.length === parts.length) return { head: heads, spared };
  const [only, second] = parts;
  const ports = only?.length === 1 && !second ? only[0]?.ports : undefined;
  return ports && ports.length > 0 ? { head: heads, spared: [], left: ports } : whole;
}

function splitAt(tokens: readonly Token[]): Token[][] {
  const parts: Token[][] = [[]];
  for (const token of tokens) {
    if (token.sym === 'EXCEPT') parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}

function sparedOf(tokens: readonly Token[], names: Names): Spared | undefined {
  const ports = tokens.flatMap((token) => (token.ports ? [token.ports] : []));
  const [only = [], second] = ports;
  const rest = tokens.filter(({ sym }) => sym !== 'PORTS' && sym !== 'ACCESS');
  const [link, ...who] = rest;
  const direction =
    link?.sym === 'FROM'
      ? 'from'
      : link?.sym === 'TO' || link?.sym === 'REACH' || link?.sym === 'ON'
        ? 'to'
        : undefined;
  if (!direction || second || who.length === 0 || who.some(({ sym }) => !SIDE_WORDS.has(sym))) return undefined;
  return { direction, side: readSide(who, names, true), ports: only };
}

/** Commas at the ends and twice say nothing. */
export function withoutCommas(tokens: readonly Token[]): Token[] {
  const isComma = (token: Token | undefined) => token?.sym === 'COMMA' || token?.sym === 'STOP';
  return tokens.filter(
    (token, at) => !isComma(token) || (at > 0 && at < tokens.length - 1 && !isComma(tokens[at + 1])),
  );
}
