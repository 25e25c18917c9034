import type { Sym, Token } from './lexicon.ts';
import { match, patternOf } from './match.ts';
import { unclearOnly } from './misunderstood.ts';
import { quoted, Refusal, said } from './refusal.ts';
import { BESIDES } from './sentences.ts';
import type { Statement } from './statements.ts';

/** Sentences that say what holds besides the one before them. */

const NOBODY_ELSE = ['NOBODY_ELSE', 'NOBODY_ELSE MAY'].map(patternOf);
const NOBODY_INTO = ['NOBODY_ELSE MAY REACH PRONOUN|LAST_CHANGE', 'NOBODY_ELSE MAY ACCESS TO PRONOUN|LAST_CHANGE'].map(
  patternOf,
);
const ELSE_CLOSED = patternOf('ELSE_CLOSED');
const NOTHING_ELSE = patternOf('NOTHING_ELSE');
const TAKEN_BACK = patternOf('REVOKE|CLOSE|CUT|DENY PRONOUN|LAST_CHANGE OFF?');
const OTHERS_CLOSED = ['NO_OTHER_IN', 'NO_OTHER_OUT'].map(patternOf);
const OTHERS_TO = patternOf('DENY|CLOSE|CUT OTHER_IN TO|ON|FOR {who}');
const OTHERS_FROM = patternOf('DENY|CLOSE|CUT OTHER_OUT FROM|OF|FOR {who}');

/** The statement before with what is said besides it; undefined for any other sentence. */
export function besides(tokens: readonly Token[], before: Statement | undefined): Statement | undefined {
  if (match(ELSE_CLOSED, tokens)) return before && { ...before, elseClosed: true };
  if (match(NOTHING_ELSE, tokens) && before) throw unclearOnly([...before.words, ...tokens], before, before.slots);
  if (match(TAKEN_BACK, tokens) && before?.wish === 'takeBack') return before;
  const [only, second] = tokens;
  if (only?.sym && !second && BESIDES.has(only.sym) && !only.sym.startsWith('NO_OTHER')) return restated(only, before);
  if (before?.wish !== 'allow') return undefined;
  if (NOBODY_INTO.some((pattern) => match(pattern, tokens))) return { ...before, exclusive: 'inward' };
  return NOBODY_ELSE.some((pattern) => match(pattern, tokens)) ? { ...before, exclusive: 'in' } : undefined;
}

/** What is so already, as the statement before it is read. @throws Refusal where it is not. */
function restated(word: Token, before: Statement | undefined): Statement {
  if (before && isSo(word.sym, before)) return before;
  throw new Refusal(
    `${quoted(word.text)} does not go with what is said before it${before ? `: ${quoted(before.text)}` : ''}.`,
    ['What should be open or closed in the end? Say it in one sentence.'],
  );
}

function isSo(sym: Sym | undefined, { wish, ports, exclusive, slots, mutual }: Statement): boolean {
  const oneWay = ['allow', 'deny', 'takeBack', 'revoke'].includes(wish) && !exclusive && !mutual && !slots['both'];
  switch (sym) {
    case 'NOTHING_IN':
    case 'NOTHING_OUT':
      return wish === 'isolate';
    case 'OTHER_PORTS_STAY':
      return ports.length > 0 && (oneWay || wish === 'only' || (wish === 'allow' && exclusive === 'in'));
    case 'INBOUND_STAYS':
      return oneWay && slots['source'] !== undefined;
    case 'OUTBOUND_STAYS':
      return oneWay && slots['target'] !== undefined;
    default:
      return false;
  }
}

const EVERYONE: Token = { text: 'everyone', quoted: false };

/** Whether a sentence closes all other traffic into, or out of, what the sentence before it is about. */
export function closesOthers(tokens: readonly Token[]): boolean {
  return [...OTHERS_CLOSED, OTHERS_TO, OTHERS_FROM].some((pattern) => match(pattern, tokens));
}

/** "Only", where the sentence behind says what it is about: who is reached ("… no other outbound") or who reaches. */
export function withoutOnly(tokens: readonly Token[], next: readonly Token[]): readonly Token[] {
  const at = tokens.findIndex(({ sym }) => sym === 'ONLY');
  if (at < 0 || tokens.some(({ sym }, index) => sym === 'ONLY' && index !== at)) return tokens;
  const passive = tokens.some(({ sym }) => sym === 'ACCEPT');
  const outward = !passive && at > 0 && ['MAY', 'REACH'].includes(tokens[at - 1]?.sym ?? '');
  const inward = passive ? at > 0 : at === 0;
  return (isInward(next) ? inward : outward) ? tokens.filter((_, index) => index !== at) : tokens;
}

function isInward(tokens: readonly Token[]): boolean {
  return tokens.some(({ sym }) => sym === 'NO_OTHER_IN' || sym === 'OTHER_IN');
}

/** "No other outbound": all that the source reaches is closed, but for what the statement before it is about. */
export function othersClosed(tokens: readonly Token[], before: Statement, all: readonly Statement[]): Statement {
  const { source, target } = before.slots;
  const who = match(OTHERS_TO, tokens)?.['who'] ?? match(OTHERS_FROM, tokens)?.['who'];
  const inbound = isInward(tokens);
  const own = inbound ? target : source;
  const side = inbound ? 'target' : 'source';
  const group = all.filter((one) => one === before || said(one.slots[side] ?? []) === said(own ?? []));
  const plain = group.every((one) => one.exceptions.length + one.spared.length === 0 && !one.exclusive && !one.mutual);
  const open = group.every(
    (one) => ['allow', 'keep', 'only', 'onlyTo'].includes(one.wish) && one.until === undefined && isPlain(one),
  );
  const same = who === undefined || said(who) === said(own ?? []);
  if (!plain || !open || !same || !source || !target) {
    throw new Refusal(`It is not clear what ${quoted(said(tokens))} leaves open.`, [
      'What should stay open? Say "block all traffic to <target> except <ports> from <source>".',
    ]);
  }
  const exceptions = group.map(({ slots, ports }) => ({
    source: inbound ? slots['source'] : undefined,
    target: inbound ? undefined : slots['target'],
    ports,
    kept: true,
  }));
  return {
    ...before,
    wish: 'deny',
    slots: inbound ? { source: [EVERYONE], target } : { source, target: [EVERYONE] },
    ports: [],
    portsPlace: undefined,
    exceptions,
  };
}

/** Both sides are named, each without an exception. */
function isPlain({ slots: { source, target } }: Statement): boolean {
  return [source, target].every((side) => side?.every(({ sym }) => sym !== 'EXCEPT'));
}
