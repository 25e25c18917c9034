import type { Wish } from './forms/form.ts';
import type { Sym, Token } from './lexicon.ts';
import { takeModifiers } from './modifiers.ts';
import { portsAt } from './ports.ts';
import { attempt, quoted, Refusal, said } from './refusal.ts';
import type { Sentence } from './sentences.ts';
import type { Statement } from './statements.ts';
import { timeAt } from './times.ts';
import type { Vocabulary } from './vocabulary.ts';

/** What a time or ports at the start or the end of several orders hold for. */

type Kind = 'time' | 'ports';

/** The words of a time and of ports. */
export type Bounds = { readonly [kind in Kind]?: readonly Token[] };

/** An order, and the bounds before the first one that it is joined to. */
export interface Scoped extends Sentence {
  readonly lead: Bounds;
}

/** A sentence and the orders that it is read as. */
export interface Order {
  readonly sentence: Sentence;
  readonly statements: readonly Statement[];
}

const IDLE: ReadonlySet<Sym> = new Set(['POLITE', 'COMMA']);
const JOINTS: ReadonlySet<Sym> = new Set(['AND', 'OR', 'COMMA', 'THEN', 'ALSO']);
const PREPOSITIONS: ReadonlySet<string> = new Set(['using', 'with']);
/** Words of a time, or of a list of ports, that are looked at. */
const LONGEST_BOUND = 16;

/** Gives each order what stands before the first one that it is joined to. @throws Refusal where it stands between two. */
export function withLeads(sentences: readonly Sentence[], vocabulary: Vocabulary): Scoped[] {
  let lead: Bounds = {};
  return sentences.map((sentence, at) => {
    const first = at === 0 || sentence.apart;
    const next = sentences[at + 1]?.apart === false;
    const [own, tail] = [leading(sentence.tokens, vocabulary), trailing(sentence.tokens, vocabulary)];
    const before = sentence.tokens[sentence.tokens.length - tail.end - 1];
    if (next && tail.end > 0 && before?.sym && JOINTS.has(before.sym))
      throw between(sentences, at + 1, sentence.tokens.slice(-tail.end));
    if (!first && own.end > 0 && (next || sentence.loose))
      throw between(sentences, at, sentence.tokens.slice(0, own.end));
    if (first) lead = own.bounds;
    return { ...sentence, lead: first || own.end > 0 ? {} : lead };
  });
}

/** The bounds that an order takes over: those that it does not have itself. */
export function leadFor({ time, ports }: Bounds, tokens: readonly Token[], vocabulary: Vocabulary): Token[] {
  if (!time && !ports) return [];
  const own = attempt(() => takeModifiers(tokens, vocabulary));
  const ported = own !== undefined && own.ports.length + own.spared.length > 0;
  return [...(own?.until === undefined ? (time ?? []) : []), ...(ported ? [] : (ports ?? []))];
}

const TIMED: ReadonlySet<Wish> = new Set([
  ...(['allow', 'only', 'onlyTo', 'among', 'deny', 'separate', 'isolate', 'limit', 'limitAccess'] as const),
]);
const PORTED: ReadonlySet<Wish> = new Set([
  ...(['allow', 'only', 'onlyTo', 'deny', 'separate', 'revoke', 'takeBack', 'keep'] as const),
]);

const CLOSING: ReadonlySet<Wish> = new Set(['deny', 'separate', 'isolate', 'revoke', 'takeBack']);

/** Whether an order could have such a bound, and has none. */
function lacks(kind: Kind, { wish, until, ports, spared }: Statement): boolean {
  return kind === 'time'
    ? TIMED.has(wish) && until === undefined
    : PORTED.has(wish) && ports.length + spared.length === 0;
}

/** "Revoke backup's access to db and let backup reach db on 22": the same for both would ask for nothing. */
function isOpposite(one: Statement, other: Statement): boolean {
  const sides = ({ slots: { source = [], target = [] } }: Statement) => `${said(source)} > ${said(target)}`;
  return CLOSING.has(one.wish) !== CLOSING.has(other.wish) && sides(one) === sides(other);
}

/** @throws Refusal where the end of one order may hold for those before it, which have no such bound of their own. */
export function refuseTrailing(orders: readonly Order[], vocabulary: Vocabulary): void {
  const sentences = orders.map(({ sentence }) => sentence);
  for (const [at, { sentence, statements }] of orders.entries()) {
    const from = sentences.findLastIndex(({ apart }, index) => index <= at && (apart || index === 0));
    const earlier = orders.slice(from, at).flatMap((one) => one.statements);
    const open = trailing(sentence.tokens, vocabulary).bounds.filter(
      ({ kind }) =>
        statements.some((one) => !lacks(kind, one)) &&
        earlier.some((one) => lacks(kind, one) && !statements.some((other) => isOpposite(one, other))),
    );
    if (open.length === 0) continue;
    const bound = sentence.tokens.filter((token) => open.some(({ words }) => words.includes(token)));
    const rest = sentence.tokens.filter((token) => !bound.includes(token));
    const all = sentences.map((one, index) => ({
      ...one,
      tokens: index === from ? [...bound, COMMA, ...one.tokens] : index === at ? rest : one.tokens,
    }));
    const alone = sentences.map((one, index) => ({ ...one, apart: one.apart || (index > from && index <= at) }));
    const last = sentences[at + 1]?.apart !== false;
    const but = sentences.some((one) => one.but);
    throw new Refusal(
      `It is not clear whether ${quoted(said(bound))} holds for all of it, or for ${quoted(said(rest))} alone.`,
      ['Which of the two is meant?'],
      but ? {} : { choices: [...(last ? [textOf(all)] : []), textOf(alone)] },
    );
  }
}

/** Whether it is not certain which orders share a time or ports, read word by word. */
export function sharesBounds(sentences: readonly Sentence[], vocabulary: Vocabulary): boolean {
  const scoped = attempt(() => withLeads(sentences, vocabulary));
  const isLast = (one: Sentence, at: number) => at > 0 && !one.apart && trailing(one.tokens, vocabulary).end > 0;
  return !scoped || scoped.some(({ lead }) => lead.time ?? lead.ports) || sentences.some(isLast);
}

function between(sentences: readonly Sentence[], at: number, bound: readonly Token[]): Refusal {
  const apart = sentences.map((one, index) => ({
    ...one,
    apart: one.apart || index === at,
    tokens: trimmed(one.tokens.filter((token) => !bound.includes(token))),
  }));
  const put = (place: number, put: (words: readonly Token[]) => readonly Token[]) =>
    textOf(apart.map((one, index) => (index === place ? { ...one, tokens: put(one.tokens) } : one)));
  return new Refusal(
    `${quoted(said(bound))} stands between two orders, and it is not clear which of them it is about.`,
    ['Which of the two is meant?'],
    { choices: [put(at - 1, (words) => [...words, ...bound]), put(at, (words) => [...bound, COMMA, ...words])] },
  );
}

const COMMA: Token = { text: ',', quoted: false, sym: 'COMMA' };

function textOf(sentences: readonly Pick<Sentence, 'tokens' | 'apart'>[]): string {
  return sentences
    .map(({ tokens, apart }, at) => `${at === 0 ? '' : apart ? '. ' : '; '}${said(trimmed(tokens))}`)
    .join('');
}

/** Without courtesies and joints at either end. */
function trimmed(tokens: readonly Token[]): readonly Token[] {
  const isIdle = ({ sym }: Token) => sym !== undefined && (IDLE.has(sym) || JOINTS.has(sym));
  const from = tokens.findIndex((token) => !isIdle(token));
  return from < 0 ? [] : tokens.slice(from, tokens.findLastIndex((token) => !isIdle(token)) + 1);
}

interface Bound {
  readonly kind: Kind;
  readonly words: readonly Token[];
}

/** Times and ports at the start of a sentence, up to the token before `end`. */
function leading(tokens: readonly Token[], vocabulary: Vocabulary): { bounds: Bounds; end: number } {
  const bounds: { [kind in Kind]?: readonly Token[] } = {};
  let end = 0;
  for (let at = 0; at < tokens.length; ) {
    const sym = tokens[at]?.sym;
    const found = sym && IDLE.has(sym) ? undefined : boundAt(tokens, at, vocabulary);
    if (found) {
      bounds[found.kind] = tokens.slice(at, found.end);
      end = found.end;
      at = found.end;
    } else if (sym && IDLE.has(sym)) at++;
    else break;
  }
  return { bounds, end };
}

/** Times and ports at the end of a sentence: how many words from the end they are, and which. */
function trailing(tokens: readonly Token[], vocabulary: Vocabulary): { bounds: readonly Bound[]; end: number } {
  const bounds: Bound[] = [];
  let end = tokens.length;
  for (;;) {
    while (IDLE.has(tokens[end - 1]?.sym ?? 'LET')) end--;
    const start = startOf(tokens.slice(0, end), vocabulary);
    if (!start) break;
    bounds.push({ kind: start.kind, words: tokens.slice(start.at, end) });
    end = start.at;
  }
  return { bounds, end: bounds.length > 0 ? tokens.length - end : 0 };
}

/** Where a bound begins that goes on to the end. */
function startOf(tokens: readonly Token[], vocabulary: Vocabulary): { kind: Kind; at: number } | undefined {
  for (let at = Math.max(1, tokens.length - LONGEST_BOUND); at < tokens.length; at++) {
    const found = boundAt(tokens, at, vocabulary) ?? plainAt(tokens, at);
    const before = tokens[at - 1]?.sym;
    if (found?.end === tokens.length && before !== 'EXCEPT' && before !== 'TO') return { kind: found.kind, at };
  }
  return undefined;
}

function boundAt(
  tokens: readonly Token[],
  at: number,
  vocabulary: Vocabulary,
): { kind: Kind; end: number } | undefined {
  const { sym, text = '', quoted: named } = tokens[at] ?? {};
  if (named) return undefined;
  const time = attempt(() => timeAt(tokens, at, vocabulary));
  if (time) return { kind: 'time', end: time.end };
  const linked = sym === 'ON' || sym === 'OVER' || sym === 'BY' || PREPOSITIONS.has(text);
  const ports = linked ? attempt(() => portsAt(tokens, at + 1)) : undefined;
  return ports && { kind: 'ports', end: ports.end };
}

/** "web -> db 5432" and "…, port 443". */
function plainAt(tokens: readonly Token[], at: number): { kind: Kind; end: number } | undefined {
  const isNumber = /^(?:\d+|tcp|udp|ports?)\b/.test(tokens[at]?.text ?? '') && !tokens[at]?.quoted;
  const ports = isNumber ? attempt(() => portsAt(tokens, at)) : undefined;
  return ports && { kind: 'ports', end: ports.end };
}
