import type { Sym, Token } from './lexicon.ts';
import { ARTICLES } from './phrases.ts';
import { portsAt } from './ports.ts';
import { STARTS } from './sentences.ts';
import type { Vocabulary } from './vocabulary.ts';

/** Verbs that tell how something is, and order nothing. */
const TELLING: ReadonlySet<string> = new Set([
  ...[
    'is',
    'are',
    'was',
    'were',
    'has been',
    'looks',
    'look',
    'seems',
    'seem',
    'appears',
    'sounds',
    'depends',
    'depend',
  ],
  ...['relies', 'rely', 'runs', 'run', 'works', 'work', 'lives', 'live', 'belongs', 'belong', 'got', 'broke', 'breaks'],
  ...[
    'fails',
    'failed',
    'asked',
    'asks',
    'told',
    'said',
    'reported',
    'noticed',
    'happened',
    'does',
    'did',
    'form',
    'forms',
  ],
  ...['complained', 'complains', 'wants', 'want', 'started', 'starts', 'comes', 'come', 'joined', 'joins', 'moved'],
]);
/** What may stand in a remark beside words that are none of the grammar. */
const INSIDE: ReadonlySet<Sym> = new Set([
  'PRONOUN',
  'LAST_CHANGE',
  'OF',
  'TO',
  'FOR',
  'ON',
  'BY',
  'FROM',
  'AND',
  'POSS',
  'POLITE',
]);
/** Words that narrow what is said, by time, by kind or by number. */
const NARROWING: ReadonlySet<string> = new Set([
  ...[
    'new',
    'other',
    'others',
    'rest',
    'else',
    'half',
    'any',
    'some',
    'all',
    'every',
    'everyone',
    'everything',
    'anything',
  ],
  ...[
    'weekday',
    'weekdays',
    'weekend',
    'weekends',
    'night',
    'nights',
    'hours',
    'hour',
    'minutes',
    'days',
    'day',
    'week',
  ],
  ...[
    'weeks',
    'month',
    'months',
    'morning',
    'evening',
    'daily',
    'business',
    'office',
    'working',
    'temporary',
    'read-only',
  ],
  ...['nothing', 'neither', 'enough', 'exception', 'exempt', 'excluded', 'included', 'allowed', 'blocked', 'forbidden'],
  ...[
    'denied',
    'open',
    'closed',
    'reachable',
    'accessible',
    'isolated',
    'limited',
    'restricted',
    'out',
    'off',
    'welcome',
  ],
]);
/** Words that claim a right or give orders to the planner: no remark, whatever stands around them. */
const CLAIMS: ReadonlySet<string> = new Set([
  ...[
    'approved',
    'approves',
    'authorised',
    'authorized',
    'trusted',
    'safe',
    'signed',
    'permission',
    'permitted',
    'admin',
  ],
  ...[
    'mode',
    'you',
    'your',
    'system',
    'assistant',
    'ignore',
    'instruction',
    'instructions',
    'override',
    'policy',
    'rules',
  ],
]);
/** Who or what a remark may tell something about, beside names. */
const SUBJECTS: ReadonlySet<string> = new Set(['he', 'she', 'we', 'i', 'there', 'somebody', 'someone', 'what']);
const ENDS: ReadonlySet<Sym> = new Set(['COMMA', 'STOP']);
const ORDERS: ReadonlySet<Sym> = new Set(['MAY', 'NEEDS', 'MAY_NOT', 'ARROW', 'NOT', 'NO']);

export interface Remarked {
  readonly tokens: readonly Token[];
  /** Clauses that change nothing, to be shown. */
  readonly remarks: readonly (readonly Token[])[];
}

/**
 * Takes out the clauses that only tell something: "…, he is debugging a migration", "looks compromised!". One that names a
 * port, a time, an exception or a restriction, or asks for something, is none.
 */
export function withoutRemarks(tokens: readonly Token[], vocabulary: Vocabulary): Remarked {
  const clauses = clausesOf(tokens);
  const told = clauses.map(({ words }) => isRemark(words, vocabulary) && namesNobody(words, clauses, vocabulary));
  const orders = clauses.some(({ words }, index) => !told[index] && isOrder(words));
  if (!orders || !told.includes(true)) return { tokens, remarks: [] };
  const kept: Token[] = [];
  const remarks: (readonly Token[])[] = [];
  for (const [index, { words, end }] of clauses.entries()) {
    if (told[index]) {
      remarks.push(words);
      // The break before a remark goes with it, unless a sentence ends there.
      if (kept.at(-1)?.sym === 'COMMA') kept.pop();
      if (kept.length > 0 && end) kept.push(end);
    } else kept.push(...words, ...(end ? [end] : []));
  }
  return { tokens: kept, remarks };
}

interface Clause {
  readonly words: readonly Token[];
  /** The comma or full stop behind it. */
  readonly end?: Token;
}

function clausesOf(tokens: readonly Token[]): Clause[] {
  const clauses: Clause[] = [];
  let words: Token[] = [];
  for (const token of tokens) {
    if (token.sym && ENDS.has(token.sym) && token.text !== '?') {
      clauses.push({ words, end: token });
      words = [];
    } else words.push(token);
  }
  if (words.length > 0) clauses.push({ words });
  return clauses;
}

function isOrder(words: readonly Token[]): boolean {
  return words.some(({ sym }) => sym !== undefined && (STARTS.has(sym) || ORDERS.has(sym)));
}

function isRemark(words: readonly Token[], { isName }: Vocabulary): boolean {
  const [first] = words;
  if (!first || first.quoted || !isTold(first, isName)) return false;
  const telling = words.findIndex(({ text, quoted, sym }) => !quoted && !sym && TELLING.has(text));
  if (telling < 0) return false;
  const strange = words.some(({ text, sym }) => !sym && !TELLING.has(text) && !isName(text));
  return (
    strange &&
    words.every(
      ({ sym, text, quoted }, at) =>
        !quoted &&
        !NARROWING.has(text) &&
        (sym ? INSIDE.has(sym) : !CLAIMS.has(text)) &&
        (isName(text) || !/\d/.test(text)) &&
        !portsAt(words, at) &&
        !(text === 'in' && words.slice(at + 1).some((token) => isName(token.text))),
    )
  );
}

/** A remark begins with what it is about, or with its verb: "looks odd". Any other word may be an order or say which ones. */
function isTold({ sym, text }: Token, isName: Vocabulary['isName']): boolean {
  if (sym) return sym === 'PRONOUN' || sym === 'LAST_CHANGE';
  return ARTICLES.has(text) || SUBJECTS.has(text) || TELLING.has(text) || isName(text);
}

/** A remark on somebody whom no order names may mean them too, unless it says what something is for. */
function namesNobody(words: readonly Token[], clauses: readonly Clause[], { isName }: Vocabulary): boolean {
  const [first, second] = words;
  if (first?.sym && second?.text === 'is' && ['what', 'why'].includes(words[2]?.text ?? '')) return true;
  const ordered = new Set(clauses.flatMap((one) => (isOrder(one.words) ? one.words.map(({ text }) => text) : [])));
  return words.every(({ sym, text }) => sym || !isName(text) || ordered.has(text));
}
