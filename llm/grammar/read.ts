import { MeshError } from '../../core/base/errors.ts';
import { nearest } from '../../core/base/nearest.ts';
import { API_VERSION } from '../../core/base/record.ts';
import { formatSecond } from '../../core/base/time.ts';
import type { OrderInput } from '../../core/intent/orders/order.ts';
import type { OrderDraft, RevertTarget } from '../../core/intent/plan/planner.ts';
import { type NetworkState, writtenPolicies } from '../../core/state/state.ts';
import { beginIn } from './begin.ts';
import { clausesOf } from './clauses.ts';
import { draftOf } from './draft.ts';
import { eachWithPorts } from './each.ts';
import { amended } from './follow-up.ts';
import { Holding } from './held.ts';
import { recognize, type Vocabulary } from './lexicon.ts';
import { isNameIn, isPlaceIn, type Names, namesOf } from './names.ts';
import { ordersOf } from './orders.ts';
import { type Reading, readClause } from './reading.ts';
import { withoutReason } from './reasons.ts';
import { enumerated, quoted, Refusal } from './refusal.ts';
import type { Token } from './token.ts';
import { tokenize, type Word } from './tokens.ts';

/** The network, the moment and the place in which a sentence is read. */
export interface SentenceContext {
  readonly state: NetworkState;
  /** Milliseconds. */
  readonly now: number;
  readonly timeZone: string;
  /** Sentences said before, oldest first. */
  readonly history?: readonly string[];
}

/** A sentence as orders, exactly, or the reason why it is not read. */
export type SentenceReading =
  | {
      readonly outcome: 'orders';
      readonly orders: readonly OrderInput[];
      /** Custom resources, for what orders cannot say. */
      readonly documents?: readonly unknown[];
      /** Policies that are deleted, as `policy/NAME`. */
      readonly delete?: readonly string[];
      /** Reasons in the sentence, which change nothing. */
      readonly reasons: readonly string[];
    }
  | { readonly outcome: 'revert'; readonly target: RevertTarget }
  | {
      readonly outcome: 'refused';
      readonly reason: string;
      readonly questions: readonly string[];
      readonly draft: Required<OrderDraft>;
    };

/** Reads a sentence: every word of it, or none. */
export function readSentence(sentence: string, context: SentenceContext): SentenceReading {
  const names = namesOf(context.state);
  const vocabulary = vocabularyOf(names, context);
  let tokens: readonly Token[] = [];
  let words: readonly Word[] = [];
  try {
    words = tokenize(sentence);
    tokens = recognize(words, vocabulary);
    refuseQuestion(tokens);
    const { rest, reason } = withoutReason(tokens, vocabulary.isName);
    return answerOf(readingsOf(rest, lastOf(context, vocabulary, names), names), context, reason);
  } catch (error) {
    const [reason, questions] = refusalOf(error);
    const begin = beginIn(words, vocabulary);
    const draft = draftOf(tokens, names);
    if (begin === undefined) return { outcome: 'refused', reason, questions, draft };
    const starts = formatSecond(begin);
    const orders = draft.orders.map((order) => ({ ...order, starts }));
    return { outcome: 'refused', reason, questions: [startsText(starts), ...questions], draft: { ...draft, orders } };
  }
}

function startsText(starts: string): string {
  return `Should it begin at ${starts}? No sentence says that: send it as an order with starts (mesh allow with --starts ${starts}).`;
}

/** "Web can reach db?" asks whether it is so; "could you let web reach db?" asks for it. */
function refuseQuestion(tokens: readonly Token[]): void {
  const isRequest = tokens.some(({ text }) => /^(?:can|could|would|will) (?:you|we)/.test(text));
  if (tokens.at(-1)?.text !== '?' || isRequest) return;
  throw new Refusal('This is a question, and only changes are planned.', [
    'Should something change? Then say "let … reach …" or "block … from …".',
  ]);
}

function refusalOf(error: unknown): [reason: string, questions: readonly string[]] {
  if (error instanceof Refusal) return [error.message, error.questions.length > 0 ? error.questions : [ASK]];
  if (error instanceof MeshError) return [error.message, [ASK]];
  throw error;
}

const ASK = 'What should hold? Say it in other words, or as orders.';

function vocabularyOf(names: Names, { now, timeZone }: SentenceContext): Vocabulary {
  return { now, timeZone, isName: (word) => isNameIn(names, word), isPlace: (word) => isPlaceIn(names, word) };
}

/** Sentences before that are looked at. */
const MAX_HISTORY = 10;

/** The last order that was said before; undefined where the last sentence was none, or several. */
function lastOf({ history = [] }: SentenceContext, vocabulary: Vocabulary, names: Names): Reading | undefined {
  let last: Reading | undefined;
  for (const sentence of history.slice(-MAX_HISTORY)) {
    try {
      const [only, second] = readingsOf(recognize(tokenize(sentence), vocabulary), last, names);
      last = second ? undefined : only;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      last = undefined;
    }
  }
  return last;
}

function readingsOf(tokens: readonly Token[], last: Reading | undefined, names: Names): Reading[] {
  const next = amended(tokens, last, names);
  if (next) return [next];
  const clauses = shared(clausesOf(tokens)).flatMap(eachWithPorts);
  if (clauses.length === 0) throw new Refusal('Nothing is asked for.', [ASK]);
  return clauses.map((clause) => readClause(clause, names));
}

/** "Until 18:00, ci may reach db and api may reach db": what stands before all of it holds for all of it. */
function shared([first = [], ...others]: readonly (readonly Token[])[]): (readonly Token[])[] {
  const [lead] = first;
  const isShared = lead?.sym === 'TIME' || lead?.sym === 'PORTS';
  if (!isShared || others.some((clause) => clause.some(({ sym }) => sym === lead.sym))) return [first, ...others];
  return [first, ...others.map((clause) => [lead, ...clause])];
}

function answerOf(readings: readonly Reading[], context: SentenceContext, reasons: readonly string[]): SentenceReading {
  const [only, second] = readings;
  if (only && !second && only.act === 'undo') return { outcome: 'revert', target: { to: 'before-last' } };
  const of = (act: Reading['act']) => readings.filter((one) => one.act === act);
  const deleted = of('delete policy').map(({ name = '' }) => `policy/${policyNamed(name, context.state)}`);
  const isDefault = of('default deny').length > 0;
  const rest = readings.filter(({ act }) => act !== 'delete policy' && act !== 'default deny');
  if (isDefault && readings.some(({ until }) => until)) throw new Refusal('A default has no end.', [ASK]);
  const holding = new Holding(context.state, context);
  const orders = rest.length === 0 ? [] : ordersOf(rest, holding);
  if (orders.length > 0) holding.check(orders);
  return {
    outcome: 'orders',
    orders,
    reasons,
    ...(isDefault && { documents: [defaultDeny(context.state)] }),
    ...(deleted.length > 0 && { delete: deleted }),
  };
}

function policyNamed(name: string, state: NetworkState): string {
  const policies = writtenPolicies(state);
  const found = [...policies.keys()].find((one) => one.toLowerCase() === name.toLowerCase());
  if (found) return found;
  const near = nearest(name, policies.keys());
  const known = enumerated([...policies.keys()].sort().map(quoted));
  throw new Refusal(`There is no policy ${quoted(name)}.`, [
    near.length > 0 ? `Is ${enumerated(near.map(quoted))} meant?` : `Which policy? ${known || 'There is none'}.`,
  ]);
}

/** Isolates every peer, so that only what other policies allow is open. */
function defaultDeny(state: NetworkState): unknown {
  const policies = writtenPolicies(state);
  let name = 'default-deny';
  for (let count = 2; policies.has(name); count += 1) name = `default-deny-${count}`;
  return {
    apiVersion: API_VERSION,
    kind: 'MeshPolicy',
    metadata: { name },
    spec: { action: 'DENY', peerSelector: {} },
  };
}
