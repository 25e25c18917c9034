import { formOf } from './forms.ts';
import type { Sym, Token } from './lexicon.ts';
import { takeModifiers } from './modifiers.ts';
import { portsAt } from './ports.ts';
import { attempt, quoted, Refusal, said } from './refusal.ts';
import type { Vocabulary } from './vocabulary.ts';

const SEPARATORS: ReadonlySet<Sym> = new Set(['AND', 'COMMA']);
const LINKS: ReadonlySet<Sym> = new Set(['FROM', 'BY', 'TO']);
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
export function partsOf(tokens: readonly Token[], vocabulary: Vocabulary): (readonly Token[])[] {
  const places = placesOf(tokens);
  const [first, ...others] = places;
  if (!first || others.length === 0 || places.at(-1)?.end !== tokens.length) return [tokens];
  const parts: Part[] = [];
  let before = first;
  for (const place of others) {
    const between = tokens.slice(before.end, place.start);
    const from = between.findIndex(({ sym }) => !sym || !SEPARATORS.has(sym));
    const link = between[from]?.sym;
    const linked = link !== undefined && LINKS.has(link);
    const who = between.slice(linked ? from + 1 : from);
    if (from < 1 || !isTarget(who, vocabulary)) return [tokens];
    parts.push({ who, link: linked ? link : undefined, ports: tokens.slice(place.start, place.end) });
    before = place;
  }
  const head = tokens.slice(0, first.end);
  const sides = sidesOf(head, first, vocabulary);
  if (!sides) return [tokens];
  refuseOtherSource(head, parts, sides, vocabulary);
  const start = head.indexOf(sides.last[0] as Token);
  if (parts.some(({ link }) => link !== undefined && link !== head[start - 1]?.sym)) return [tokens];
  return [head, ...parts.map(({ who, ports }) => [...tokens.slice(0, start), ...who, ...ports])];
}

interface Part {
  /** The word before who is named, where one is said again. */
  readonly link: Sym | undefined;
  readonly who: readonly Token[];
  readonly ports: readonly Token[];
}

interface Sides {
  readonly source: readonly Token[];
  readonly target: readonly Token[];
  /** The one right before the ports. */
  readonly last: readonly Token[];
}

/**
 * "Phone may reach nas on 445 and laptop on 22": reached by the phone, or reaching the nas. Behind a verb such as "let" who
 * is named is reached, unless it is like who reaches; in "phone may" only where it is like who is reached.
 */
function refuseOtherSource(
  head: readonly Token[],
  parts: readonly Part[],
  { source, target, last }: Sides,
  { likeness }: Vocabulary,
): void {
  if (source.length === 0) return;
  if (last === source) {
    // "Db may be reached by api on 5432 and cache on 6379": who is like the one that is reached may be reached too.
    if (parts.every(({ who }) => likeness(who, source, target) !== 'other')) return;
    throw new Refusal('It is not clear who reaches and who is reached.', [
      'Say it in two sentences: "let <source> reach <target> on <port>".',
    ]);
  }
  const subject = head.includes(source[0] as Token) && head[0]?.sym === undefined;
  const doubtful = parts.find(({ who }) => {
    const like = likeness(who, source, target);
    return subject ? like !== 'other' : like === 'one';
  });
  if (!doubtful) return;
  const put = (replaced: readonly Token[], { who, ports }: Part) => {
    const [from, to] = [head.indexOf(replaced[0] as Token), head.indexOf(replaced.at(-1) as Token) + 1];
    const end = head.indexOf(target.at(-1) as Token) + 1;
    return said([...head.slice(0, from), ...who, ...head.slice(to, Math.max(end, to)), ...ports]);
  };
  const read = (side: readonly Token[]) => [said(head), ...parts.map((part) => put(side, part))].join('; ');
  throw new Refusal(
    `It is not clear whether ${quoted(said(doubtful.who))} is to reach ${quoted(said(target))}, or to be reached by ${quoted(said(source))}.`,
    ['Which of the two is meant?'],
    { choices: [read(source), read(target)] },
  );
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

function isTarget(words: readonly Token[], { isName }: Vocabulary): boolean {
  return (
    words.every(({ sym }) => !sym) && words.some(({ text, quoted }) => quoted || isName(text) || /[=\d]/.test(text))
  );
}

/** Who reaches and is reached, when the sentence up to its ports is understood and the target stands right before them. */
function sidesOf(head: readonly Token[], { start }: Place, vocabulary: Vocabulary): Sides | undefined {
  const taken = attempt(() => takeModifiers(head, vocabulary));
  const { form, slots } = (taken && formOf(taken.rest)) ?? {};
  const { source = [], target = [] } = slots ?? {};
  const last = [target, source].find((side) => side.length > 0 && head[start - 1] === side.at(-1));
  if (!form || !PARTED.has(form.wish) || target.length === 0 || !last) return undefined;
  if (head.some(({ sym }) => sym === 'EXCEPT') || !target.every((token) => head.includes(token))) return undefined;
  return { source, target, last };
}
