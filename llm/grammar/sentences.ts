import type { Sym, Token } from './lexicon.ts';
import { Refusal } from './refusal.ts';

const MAX_STATEMENTS = 10;
/** What a sentence begins with that asks for something. */
export const STARTS: ReadonlySet<Sym> = new Set([
  'LET',
  'OPEN',
  'DENY',
  'CLOSE',
  'KEEP',
  'KEEP_OPEN',
  'ISOLATE',
  'CUT',
  'LOCK',
  'REVOKE',
  'LIMIT',
  'DELETE',
  'RENAME',
  'UNDO',
  'DISABLE',
  'WHITELIST',
  'PUT',
]);
const BREAKS: ReadonlySet<Sym> = new Set(['STOP', 'THEN', 'ALSO', 'AND', 'COMMA', 'POLITE', 'EXCEPT']);
/** Words that make a sentence of their own wherever they stand. */
export const BESIDES: ReadonlySet<Sym> = new Set([
  ...(['NO_OTHER_IN', 'NO_OTHER_OUT', 'NOTHING_IN', 'NOTHING_OUT', 'OTHER_PORTS_STAY'] as const),
  ...(['INBOUND_STAYS', 'OUTBOUND_STAYS'] as const),
]);
/** A sentence of nothing else asks for nothing. */
const EMPTY: ReadonlySet<Sym> = new Set(['POLITE', 'COMMA', 'AND', 'ALSO']);
const MODALS: ReadonlySet<Sym> = new Set(['MAY', 'NEEDS', 'MAY_NOT']);

/** What makes an order of a sentence without a verb of order. */
const ENDING: ReadonlySet<Sym> = new Set(['NOT', 'NEED_NOT', 'LOSE']);

/** One thing that is asked for, and the "but" that joins it to the one before. */
export interface Sentence {
  readonly tokens: readonly Token[];
  readonly but?: Token;
  /** Whether a full stop, or nothing, stands before it. */
  readonly apart: boolean;
  /** Whether nothing but a comma joins it to the one before. */
  readonly loose: boolean;
}

/** The sentences of an intent, one for each thing that is asked for. @throws Refusal when there are too many. */
export function sentencesOf(tokens: readonly Token[]): Sentence[] {
  const sentences = split(tokens).filter((one) => one.tokens.some(({ sym }) => !sym || !EMPTY.has(sym)));
  if (sentences.length > MAX_STATEMENTS) {
    throw new Refusal(`More than ${MAX_STATEMENTS} things are asked for at once: say it in several steps.`);
  }
  return sentences;
}

/** Sentences end at a full stop, at "then", where "and" is followed by another verb, and at a comma before "ci must not". */
function split(tokens: readonly Token[]): Sentence[] {
  const sentences: Sentence[] = [];
  const afterBreak = nextOf(tokens, (token) => !isBreaker(token));
  const afterName = nextOf(tokens, ({ sym }) => sym !== undefined);
  let said: Token[] = [];
  let saying = false;
  let but: Token | undefined;
  let [apart, loose] = [true, false];
  const push = (words: readonly Token[]) => {
    sentences.push({ tokens: words, apart, loose, ...(but && { but }) });
    apart = false;
  };
  const end = (joint: readonly Token[] = []) => {
    if (said.length > 0) push(said);
    said = [];
    saying = false;
    but = joint.find(isBut);
    loose = joint.length > 0 && joint.every(({ sym }) => sym === 'COMMA');
    apart ||= joint.some(({ sym, text }) => sym === 'STOP' && text !== ';');
  };
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at];
    if (token === undefined) break;
    const verb = afterBreak[at] ?? tokens.length;
    const modal = afterName[at + 1] ?? tokens.length;
    if (token.sym === 'STOP' || token.sym === 'THEN') {
      if (token.text === '?' && said.length > 0) said.push(token);
      end([token]);
    } else if (token.sym && BESIDES.has(token.sym)) {
      end();
      push([token]);
    } else if (saying && (token.sym === 'COMMA' || isBut(token)) && modal > at + 1 && isOneOf(tokens[modal], MODALS))
      end([token]);
    else if (saying && verb > at && isOneOf(tokens[verb], STARTS)) {
      end(tokens.slice(at, verb));
      at = verb - 1;
    } else {
      said.push(token);
      saying ||= isOneOf(token, STARTS) || isOneOf(token, MODALS) || isOneOf(token, ENDING);
    }
  }
  end();
  return sentences.flatMap(({ tokens: all, ...first }) =>
    splitModals(all).map(
      ({ tokens: one, loose: comma }, index): Sentence => ({
        ...(index === 0 ? first : { apart: false, loose: comma }),
        tokens: withoutConnective(one),
      }),
    ),
  );
}

/** For each place the first one from there on that fits, found in one pass from the end. */
function nextOf(tokens: readonly Token[], fits: (token: Token) => boolean): number[] {
  const next: number[] = [];
  for (let at = tokens.length - 1; at >= 0; at--) {
    const token = tokens[at];
    next[at] = token && fits(token) ? at : (next[at + 1] ?? tokens.length);
  }
  return next;
}

function isOneOf(token: Token | undefined, syms: ReadonlySet<Sym>): boolean {
  return token?.sym !== undefined && syms.has(token.sym);
}

function withoutConnective(sentence: readonly Token[]): readonly Token[] {
  const last = sentence.at(-1)?.sym;
  return last === 'AND' || last === 'COMMA' ? sentence.slice(0, -1) : sentence;
}

/** "But" goes on with another sentence; any other exception does not. */
function isBreaker(token: Token): boolean {
  if (token.sym === undefined || !BREAKS.has(token.sym)) return false;
  return token.sym !== 'EXCEPT' || isBut(token);
}

function isBut({ sym, text }: Token): boolean {
  return sym === 'EXCEPT' && text === 'but';
}

/** `web may reach db and api may reach cache`: two sentences, where it is certain who belongs to which. */
function splitModals(sentence: readonly Token[], loose = false): Pick<Sentence, 'tokens' | 'loose'>[] {
  const modals = sentence.flatMap((token, at) => (isOneOf(token, MODALS) ? [at] : []));
  const [first, second] = modals;
  if (first === undefined || second === undefined || sentence.some((token) => isOneOf(token, STARTS)))
    return [{ tokens: sentence, loose }];
  const joints = sentence.flatMap((token, at) =>
    at > first && at < second && (token.sym === 'AND' || token.sym === 'COMMA' || isBut(token)) ? [at] : [],
  );
  const [joint] = joints.length === 2 && (joints[1] ?? 0) - (joints[0] ?? 0) === 1 ? joints.slice(1) : joints;
  const apart = joints.length === 1 || joint !== joints[0];
  if (joint === undefined || !apart || joint === second - 1) return [{ tokens: sentence, loose }];
  const comma = sentence[joint]?.sym === 'COMMA';
  return [{ tokens: sentence.slice(0, joint), loose }, ...splitModals(sentence.slice(joint + 1), comma)];
}
