import { formOf } from './forms.ts';
import type { Sym, Token } from './lexicon.ts';
import { type Context, takeModifiers } from './modifiers.ts';
import { portsAt } from './ports.ts';
import { attempt } from './refusal.ts';

const SEPARATORS: ReadonlySet<Sym> = new Set(['AND', 'COMMA']);
const PARTED: ReadonlySet<string> = new Set(['allow', 'deny']);

/** Ports and where they stand, from the word before them on. */
interface Place {
  readonly start: number;
  readonly end: number;
}

/**
 * "Reach db on 5432 and the caches on 6379" names ports for each target: one sentence for each of them. A part without
 * ports of its own, or with something behind its ports, leaves open what belongs to whom, and nothing is parted.
 */
export function partsOf(tokens: readonly Token[], context: Context): (readonly Token[])[] {
  const places = placesOf(tokens);
  const [first, ...others] = places;
  if (!first || others.length === 0 || places.at(-1)?.end !== tokens.length) return [tokens];
  const parts: (readonly Token[])[] = [];
  let before = first;
  for (const place of others) {
    const between = tokens.slice(before.end, place.start);
    const from = between.findIndex(({ sym }) => !sym || !SEPARATORS.has(sym));
    const who = between.slice(from);
    if (from < 1 || !isTarget(who, context)) return [tokens];
    parts.push([...who, ...tokens.slice(place.start, place.end)]);
    before = place;
  }
  const head = tokens.slice(0, first.end);
  const start = targetStart(head, first, context);
  return start === undefined ? [tokens] : [head, ...parts.map((part) => [...tokens.slice(0, start), ...part])];
}

function placesOf(tokens: readonly Token[]): Place[] {
  const places: Place[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const { sym } = tokens[at] ?? {};
    const named = sym === 'ON' || sym === 'OVER' ? attempt(() => portsAt(tokens, at + 1)) : undefined;
    if (!named) continue;
    places.push({ start: at, end: named.end });
    at = named.end - 1;
  }
  return places;
}

function isTarget(words: readonly Token[], { isName }: Context): boolean {
  return (
    words.every(({ sym }) => !sym) && words.some(({ text, quoted }) => quoted || isName(text) || /[=\d]/.test(text))
  );
}

/** Where the first target begins, when the sentence up to its ports is understood and the target stands right before them. */
function targetStart(head: readonly Token[], { start }: Place, context: Context): number | undefined {
  const taken = attempt(() => takeModifiers(head, context));
  const { form, slots } = (taken && formOf(taken.rest)) ?? {};
  const [target, last] = [slots?.['target']?.[0], slots?.['target']?.at(-1)];
  if (!form || !PARTED.has(form.wish) || !target || head[start - 1] !== last) return undefined;
  if (head.some(({ sym }) => sym === 'EXCEPT')) return undefined;
  const at = head.indexOf(target);
  return at < 0 ? undefined : at;
}
