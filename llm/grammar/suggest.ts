import type { NetworkState } from '../../core/state/state.ts';
import { withoutBrackets } from './brackets.ts';
import { MAX_CHOICES } from './choices.ts';
import { recognise, type Sym, type Token } from './lexicon.ts';
import { namesOf } from './names.ts';
import { withPortConditions } from './port-conditions.ts';
import { quoted } from './refusal.ts';
import { type At, atomsOf, attempt } from './suggest-atoms.ts';
import { clausesOf } from './suggest-clauses.ts';
import { frameOf } from './suggest-frames.ts';
import { ordersOf } from './suggest-orders.ts';
import { sentencesFor } from './suggest-sentences.ts';
import { tokenise } from './tokens.ts';
import type { Vocabulary } from './vocabulary.ts';

/** Sentences that are tried by planning them; one takes milliseconds. */
export const MAX_TRIED = 24;
/** More orders in one message are a programme, and said in several. */
const MAX_ORDERS = 6;
const SHOWN_WORDS = 6;

export interface Suggested {
  readonly choices: readonly string[];
  readonly question: string;
  /** Where it asks for one thing: how that is said, whether it is planned or not. */
  readonly likeliest: string;
  /** True where every word of the intent is accounted for. */
  readonly isWhole: boolean;
  /** Whether every word of the intent is in the one choice. */
  readonly certain: boolean;
}

/**
 * What an intent that is not understood may mean, from what is known in it. A restriction that it has no place for
 * leaves nothing to offer, and every other word that is left out is quoted.
 */
export function suggested(
  intent: string,
  vocabulary: Vocabulary,
  at: At,
  isPlanned: (intent: string) => boolean,
): Suggested | undefined {
  const tokens = attempt(() => plainTokens(intent, at.state, vocabulary));
  if (!tokens || (tokens.at(-1)?.text === '?' && !tokens.some(({ sym }) => sym === 'POLITE'))) return undefined;
  if (hasPortsOfLast(tokens)) return undefined;
  const clauses = clausesOf(atomsOf(tokens, at));
  const orders = ordersOf(clauses.map(frameOf));
  if (!orders || orders.frames.length > MAX_ORDERS) return undefined;
  let tried = 0;
  const isTried = (text: string) => tried++ < MAX_TRIED && isPlanned(text);
  const forms = orders.frames.map(sentencesFor);
  // Where a sentence does not say whether, what forbids is offered beside what allows, never alone.
  const unsaid = orders.frames.some(({ polarity, old, only }) => polarity === undefined && !old && !only);
  const choices = combined(
    unsaid ? forms.map(([first, ...more]) => (first && isTried(first) ? [first, ...more] : [])) : forms,
    isTried,
  );
  const words = orders.unknown;
  const [likeliest = ''] = forms.length === 1 ? (forms[0] ?? []) : [];
  if (choices.length === 0 && likeliest === '') return undefined;
  return {
    likeliest,
    choices,
    question: questionOf(words, choices.length),
    isWhole: words.length === 0,
    certain: words.length === 0 && choices.length === 1,
  };
}

/** "By env=prod and by bastion on 22": ports behind the last of a list, which may belong to it alone. */
function hasPortsOfLast(tokens: readonly Token[]): boolean {
  const link = tokens.findIndex(
    ({ sym }, at) => (sym === 'AND' || sym === 'COMMA') && LINKS.has(tokens[at + 1]?.sym ?? 'AND'),
  );
  const isPorts = ({ sym }: Token) => sym === 'ON' || sym === 'OVER';
  return link >= 0 && !tokens.slice(0, link).some(isPorts) && tokens.slice(link).some(isPorts);
}

const LINKS: ReadonlySet<Sym> = new Set(['BY', 'FROM', 'TO']);

function questionOf(words: readonly string[], count: number): string {
  const asked = count === 1 ? 'is this what you mean?' : 'is one of these what you mean?';
  if (words.length === 0) return `${asked.charAt(0).toUpperCase()}${asked.slice(1)}`;
  const shown = words.slice(0, SHOWN_WORDS).map(quoted);
  const more = words.length - shown.length;
  const list = [...shown, ...(more > 0 ? [`${more} more words`] : [])];
  const named = list.length === 1 ? list.join('') : `${list.slice(0, -1).join(', ')} and ${list.at(-1)}`;
  return `${named} ${list.length === 1 ? 'was' : 'were'} not understood and ${list.length === 1 ? 'is' : 'are'} left out; ${asked}`;
}

/** The orders together: first each as it is likeliest meant, then one of them otherwise. */
function combined(orders: readonly (readonly string[])[], isPlanned: (text: string) => boolean): string[] {
  const apart = orders.length === 1 ? orders : orders.map((forms) => forms.filter(isPlanned));
  const first = apart.map(([text]) => text ?? '');
  if (first.some((text) => text === '')) return [];
  const candidates = [first, ...apart.flatMap((forms, at) => forms.slice(1).map((form) => first.with(at, form)))];
  const found: string[] = [];
  for (const candidate of candidates) {
    const text = candidate.join('; ');
    if (found.length < MAX_CHOICES && !found.includes(text) && isPlanned(text)) found.push(text);
  }
  return found;
}

const STOP: Token = { text: ';', quoted: false, sym: 'STOP' };

/** The words without brackets; "1)" begins a part, and so does a colon. */
export function plainTokens(intent: string, state: NetworkState, vocabulary: Vocabulary): Token[] {
  const { pairs } = namesOf(state);
  const keys = new Set(pairs.map(({ key }) => `${key.toLowerCase()}:`));
  const text = intent.replaceAll(/\S+/g, (word) =>
    word.endsWith(':') && !keys.has(word.toLowerCase()) ? `${word.slice(0, -1)} ;` : word,
  );
  const tokens = withPortConditions(recognise(tokenise(text)));
  const found: Token[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at];
    if (!token) break;
    const next = tokens[at + 1];
    if (/^\d{1,2}$/.test(token.text) && next?.sym === 'BRACKET_END') {
      found.push(STOP);
      at++;
    } else if (token.sym === 'BRACKET') {
      const end = tokens.findIndex(({ sym }, index) => index > at && sym === 'BRACKET_END');
      const inner = tokens.slice(at + 1, end < 0 ? undefined : end);
      found.push(...(attempt(() => withoutBrackets([token, ...inner, BRACKET_END], vocabulary)) ?? inner));
      at = end < 0 ? tokens.length : end;
    } else if (token.sym !== 'BRACKET_END') found.push(token);
  }
  return withoutStress(found);
}

/** "… but only until friday": what is limited is the time, which says it already. */
function withoutStress(tokens: readonly Token[]): Token[] {
  const isStress = (at: number) => {
    const next = tokens[at + 1];
    const timed = next?.sym === 'UNTIL' || (next?.sym === 'FOR' && /^\d/.test(tokens[at + 2]?.text ?? ''));
    return tokens[at]?.sym === 'ONLY' && timed;
  };
  return tokens.filter((token, at) => !isStress(at) && !(token.text === 'but' && isStress(at + 1)));
}

const BRACKET_END: Token = { text: ')', quoted: false, sym: 'BRACKET_END' };
