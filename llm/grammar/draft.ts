import type { OrderInput, Verb } from '../../core/intent/orders/order.ts';
import type { DraftOrder, OrderDraft } from '../../core/intent/plan/planner.ts';
import { clausesOf } from './clauses.ts';
import { ARTICLES } from './determiners.ts';
import { type Act, type Fit, fitting } from './forms.ts';
import { isNameIn, type Names } from './names.ts';
import { Refusal } from './refusal.ts';
import { readSide } from './sides.ts';
import { withoutCommas } from './spared.ts';
import { endOf } from './terms.ts';
import type { Token } from './token.ts';

type Syms = ReadonlySet<Token['sym']>;

const VERBS: Readonly<Partial<Record<Act, Verb>>> = { allow: 'allow', deny: 'deny', revoke: 'remove' };
/** Acts whose `from` and `to` are those of an order. */
const DIRECTED: ReadonlySet<Act> = new Set(['allow', 'deny', 'revoke', 'only']);
/** A clause of these words alone neither restricts nor leaves out anything, and has no alternative. */
const PLAIN: Syms = new Set([
  ...([undefined, 'AND', 'COMMA', 'OF', 'POLITE', 'LET', 'GIVE', 'OPEN', 'DENY', 'REVOKE', 'MAY', 'MAY_NOT'] as const),
  ...(['NEEDS', 'NEED_NOT', 'LOSE', 'REACH', 'REACHING', 'ARROW', 'ACCESS', 'TO', 'FROM', 'ON', 'POSS'] as const),
  ...(['PORTS', 'TIME'] as const),
]);
/** Words behind a form that leave its ends as they are. */
const BEHIND: Syms = new Set([
  ...([undefined, 'ON', 'OVER', 'FOR', 'ACCESS', 'INSTEAD', 'BOTH_WAYS', 'NOBODY_ELSE', 'NOTHING_ELSE'] as const),
]);
const MAX_BEHIND = 8;
const MAX_UNREAD = 20;
const ENDS: Syms = new Set(['TIME', 'TEMPORARILY', 'FOR_GOOD']);
/** Unread words that may say when an order begins or ends. */
const TIMELY =
  /^(?:temporar|start|begin|until|till|tomorrow|tonight|today|week|day|hour|minute|month|noon|midnight|morning|evening|afternoon|next|during|later|monday|tuesday|wednesday|thursday|friday|saturday|sunday)/;

/** A clause with the form that fits its beginning, and the words behind that form. */
interface Recognized {
  readonly fit: Fit | undefined;
  readonly behind: readonly Token[];
  readonly ports: readonly (readonly string[])[];
  readonly isPlain: boolean;
}

/**
 * Returns the certain parts of a sentence that is refused. A part that is not certain is empty, and `do` is left out, so
 * that a caller has to complete it.
 */
export function draftOf(tokens: readonly Token[], names: Names): Required<OrderDraft> {
  const clauses = (attempt(() => clausesOf(tokens)) ?? []).map(recognized);
  // Ports of one clause may be meant for all, and "push to" needs some.
  const isPortless = tokens.every(({ ports, isClient }) => !ports && !isClient);
  const drafts = clauses.map((clause) => clauseDraft(clause, names, isPortless));
  const unread = drafts.flatMap((draft) => draft.unread.filter((word) => !ARTICLES.has(word)));
  const isCertain = drafts.every((draft) => draft.isCertain);
  const end = draftEnd(tokens, unread, clauses.length);
  const orders = drafts.flatMap(({ order }) => {
    if (!order) return [];
    const { do: verb, ...ends } = order;
    return [{ ...(isCertain && verb && { do: verb }), ...ends, ...end }];
  });
  return { orders, unread: [...new Set(unread)].slice(0, MAX_UNREAD) };
}

function recognized(clause: readonly Token[]): Recognized {
  const tokens = withoutCommas(clause.filter(({ sym }) => !ENDS.has(sym) && sym !== 'POLITE' && sym !== 'PORTS'));
  const ports = clause.flatMap((token) => (token.ports ? [token.ports] : []));
  const isPlain = clause.every(({ sym }) => PLAIN.has(sym));
  if (isDivided(clause)) return { fit: undefined, behind: tokens, ports, isPlain };
  for (let end = tokens.length; end > 0 && end >= tokens.length - MAX_BEHIND; end--) {
    const behind = tokens.slice(end);
    if (!behind.every(({ sym }) => BEHIND.has(sym))) break;
    const fit = fitting(tokens.slice(0, end));
    if (fit && DIRECTED.has(fit.act)) return { fit, behind, ports, isPlain };
  }
  return { fit: undefined, behind: tokens, ports, isPlain };
}

/** "Let web reach db on 5432 and cache": ports between names may be of some of them alone. */
function isDivided(clause: readonly Token[]): boolean {
  const isName = ({ sym }: Token) => sym === undefined;
  const [first, last] = [clause.findIndex(isName), clause.findLastIndex(isName)];
  return clause.some(({ sym }, at) => sym === 'PORTS' && at > first && at < last);
}

interface ClauseDraft {
  readonly order?: DraftOrder;
  /** True where every word is read but the names that nobody has. */
  readonly isCertain: boolean;
  readonly unread: readonly string[];
}

function clauseDraft({ fit, behind, ports, isPlain }: Recognized, names: Names, isPortless: boolean): ClauseDraft {
  if (!fit) {
    const strange = behind.filter(({ sym, text }) => !PLAIN.has(sym) || (sym === undefined && !isNameIn(names, text)));
    return { isCertain: false, unread: strange.map(({ text }) => text) };
  }
  const sides = [fit.slots['from'], fit.slots['to']].map((words = []) => ({ words, found: wordsOf(words, names) }));
  const missing = sides.filter(({ found }) => found.length === 0).map(({ words }) => words);
  const strange = missing.flat().filter(({ sym, text }) => sym === undefined && !isNameIn(names, text));
  const isWhole = isPlain && behind.length === 0;
  const isCertain = isWhole && missing.every(isNameList);
  const [first = [], second] = ports;
  const verb = VERBS[fit.act];
  const isOnAll = isPortless && isWhole && missing.length === 0;
  const order: DraftOrder = {
    ...(verb && { do: verb }),
    from: sides[0]?.found ?? [],
    to: sides[1]?.found ?? [],
    ...(!isOnAll && { ports: isCertain && !second ? [...first] : [] }),
  };
  return { order, isCertain, unread: [...strange, ...behind].map(({ text }) => text) };
}

/** True for one word for each name: "api-2 respectively" may say more than who is meant. */
function isNameList(words: readonly Token[]): boolean {
  let count = 0;
  for (const { sym, text } of words) {
    if (sym === 'AND' || sym === 'COMMA') count = 0;
    else if (sym !== undefined || (!ARTICLES.has(text) && ++count > 1)) return false;
  }
  return words.length > 0;
}

/** Returns the one end of a sentence of one clause; an empty one where it may end otherwise. */
function draftEnd(
  tokens: readonly Token[],
  unread: readonly string[],
  clauses: number,
): Pick<OrderInput, 'for' | 'until'> {
  const ends = tokens.filter(({ sym }) => ENDS.has(sym));
  const [only, second] = ends;
  const isTimely = unread.some((word) => TIMELY.test(word));
  if (!only && !isTimely) return {};
  return !only?.until || second || isTimely || clauses > 1 ? { for: '' } : endOf({ until: only.until });
}

/** None for names of which one is not certain, or of which somebody is left out. */
function wordsOf(tokens: readonly Token[], names: Names): string[] {
  const side = tokens.length === 0 ? undefined : attempt(() => readSide(tokens, names, false));
  return side && side.except.length === 0 ? side.groups.map(({ word }) => word) : [];
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
