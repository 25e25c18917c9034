import { type Act, fitting } from './forms.ts';
import type { Slots } from './match.ts';
import type { Names } from './names.ts';
import { UNREAD } from './phrases.ts';
import { portsWithout } from './ports.ts';
import { quoted, Refusal, textOf } from './refusal.ts';
import { readSide, type Side } from './sides.ts';
import { SIDE_WORDS, type Spared, takeException, withoutCommas } from './spared.ts';
import type { Token, Until } from './token.ts';
import { everyone } from './who.ts';

/** A clause as it was read. */
export interface Reading {
  readonly act: Act;
  readonly from: Side;
  readonly to: Side;
  /** The two ends are one list, of which each reaches the others. */
  readonly both?: Side;
  readonly old?: Side;
  /** The name of a policy. */
  readonly name?: string;
  /** Ports said as what is reached ("ssh to web"), or else behind ("to web on 22"); none for all. */
  readonly ports: readonly string[];
  /** True where ports stand behind all else: "limit access to db to web on 5432" closes the others too. */
  readonly isPortsLast: boolean;
  readonly spared: readonly Spared[];
  readonly until?: Until;
  readonly isMutual: boolean;
  /** "And nobody else", or where it may be about either end. */
  readonly exclusive?: 'in' | 'unclear';
  /** "And nothing else". */
  readonly isAll: boolean;
  /** True where the clause names who reaches. */
  readonly isFromNamed: boolean;
  /** "Everyone else". */
  readonly isOthers: boolean;
  readonly words: readonly Token[];
}

const CLOSING: ReadonlySet<Act> = new Set(['deny', 'isolate', 'separate', 'revoke', 'limit', 'limit access']);
/** Acts in which "or" joins as "and" does. */
const EITHER: ReadonlySet<Act> = new Set([...CLOSING, 'only', 'only to']);

/**
 * Reads a clause.
 *
 * @throws Refusal where a word of it is not read, or a name is not there
 */
export function readClause(tokens: readonly Token[], names: Names): Reading {
  const ends = takeEnds(tokens);
  const { head, spared, left } = takeException(ends.rest, names);
  const flagged = takeFlags(head);
  const { rest, tail } = takePorts(flagged.rest);
  const fit = fitting(rest);
  if (!fit) throw unread(tokens, rest);
  const { slots } = fit;
  const isLock = fit.act === 'limit' && rest[0]?.sym === 'LOCK' && tail.length === 0;
  const act = isLock ? 'isolate' : fit.act;
  const noun = rest.flatMap(({ ports }) => (ports ? [ports] : []));
  const all = [...noun, ...tail];
  const [first = []] = all;
  if (all.some((ports) => JSON.stringify(ports) !== JSON.stringify(first)))
    throw new Refusal(`${quoted(textOf(tokens))} names ports twice.`, ['Which ports are meant?']);
  if (left && !CLOSING.has(act) && act !== 'allow' && act !== 'only') throw unread(tokens, rest);
  const isClient = rest.some((token) => token.isClient);
  if (isClient && first.length === 0)
    throw new Refusal(`${quoted(textOf(tokens))} names no port.`, ['On which ports?']);
  refuseMisplacedPorts(flagged.rest);
  if (CLOSING.has(act)) refusePortsOfException(flagged.rest);
  const isEither = EITHER.has(act);
  const isNone = rest[0]?.sym === 'NO';
  const side = (slot: string): Side => {
    const said = slots[slot];
    // "No laptop may reach db" is about all of them.
    const words = isNone && slot === 'from' && said ? [ALL, ...said] : said;
    if (!words) return { groups: [everyone(names)], except: [] };
    return readSide(words, names, isEither || slot === 'old');
  };
  const isOthers = (slots['from'] ?? []).some(({ text }) => text === 'else');
  const both = slots['both'] && readSide(slots['both'], names, isEither);
  const from = isOthers
    ? { groups: [everyone(names)], except: [] }
    : side(isLock ? 'to' : act === 'isolate' ? 'who' : 'from');
  const [fromSide, toSide] = both ? [both, both] : withMovedException(from, side('to'), slots);
  return {
    act,
    from: fromSide,
    to: toSide,
    ...(both && { both }),
    ...(slots['old'] && { old: side('old') }),
    ...(slots['name'] && { name: textOf(slots['name']).replaceAll('"', '').replace(/^the /, '') }),
    ports: left ? portsWithout(first, left) : first,
    isPortsLast: noun.length === 0,
    spared,
    ...(ends.until && { until: ends.until }),
    isMutual: flagged.isMutual || both !== undefined,
    ...(flagged.exclusive && { exclusive: exclusiveOf(act, rest, flagged) }),
    isAll: flagged.isAll,
    isFromNamed: slots['from'] !== undefined,
    isOthers,
    words: tokens,
  };
}

const ALL: Token = { text: 'all', quoted: false };

interface Ends {
  readonly rest: readonly Token[];
  readonly until?: Until;
}

/** Takes out when it ends, and words that say that it does. */
function takeEnds(tokens: readonly Token[]): Ends {
  const times = tokens.flatMap(({ until }) => (until ? [until] : []));
  const [until, second] = times;
  const isTemporary = tokens.some(({ sym }) => sym === 'TEMPORARILY');
  const isForGood = tokens.some(({ sym }) => sym === 'FOR_GOOD');
  if (second || (isForGood && (until || isTemporary)))
    throw new Refusal(`${quoted(textOf(tokens))} ends at more than one time.`, ['Until when?']);
  if (isTemporary && !until) throw new Refusal('It is not said when it ends.', [UNREAD.TEMPORARILY ?? '']);
  const rest = tokens.filter(
    ({ sym }) => sym !== 'TIME' && sym !== 'TEMPORARILY' && sym !== 'FOR_GOOD' && sym !== 'POLITE',
  );
  return { rest: withoutCommas(rest), ...(until && { until }) };
}

interface Flagged {
  readonly rest: readonly Token[];
  readonly exclusive: boolean;
  /** True where "and nobody else" stands behind who is reached. */
  readonly isBehind: boolean;
  readonly isAll: boolean;
  readonly isMutual: boolean;
}

function takeFlags(tokens: readonly Token[]): Flagged {
  const isOwnClause = tokens[0]?.sym === 'NOBODY_ELSE' && tokens[1]?.sym === 'MAY';
  const at = isOwnClause ? -1 : tokens.findIndex(({ sym }) => sym === 'NOBODY_ELSE');
  const reach = tokens.findIndex(({ sym }) => sym === 'REACH');
  const taken: ReadonlySet<Token['sym']> = new Set([
    'NOTHING_ELSE',
    'BOTH_WAYS',
    ...(at < 0 ? [] : (['NOBODY_ELSE'] as const)),
  ]);
  return {
    rest: withoutCommas(tokens.filter(({ sym }) => !taken.has(sym))),
    exclusive: at >= 0,
    isBehind: at >= 0 && reach >= 0 && at > reach,
    isAll: tokens.some(({ sym }) => sym === 'NOTHING_ELSE'),
    isMutual: tokens.some(({ sym }) => sym === 'BOTH_WAYS'),
  };
}

const TALKING = /\b(?:talk|speak|communicate|contact|call)/;

/** "Web-1 may talk to db-1 and nobody else": nobody else to db-1, or web-1 to nobody else. */
function exclusiveOf(act: Act, rest: readonly Token[], { isBehind }: Flagged): 'in' | 'unclear' {
  const talks = rest.some(({ sym, text }) => sym === 'REACH' && TALKING.test(text));
  const isOrder = rest.some(({ sym }) => sym === 'LET' || sym === 'OPEN');
  return act === 'allow' && isBehind && (talks || !isOrder) ? 'unclear' : 'in';
}

function takePorts(tokens: readonly Token[]): { rest: readonly Token[]; tail: readonly (readonly string[])[] } {
  const tail = tokens.flatMap(({ sym, ports }) => (sym === 'PORTS' && ports ? [ports] : []));
  return { rest: withoutCommas(tokens.filter(({ sym }) => sym !== 'PORTS')), tail };
}

function unread(tokens: readonly Token[], rest: readonly Token[]): Refusal {
  const odd = rest.find(({ sym }) => sym && sym in UNREAD);
  const question = odd?.sym ? UNREAD[odd.sym as keyof typeof UNREAD] : undefined;
  return new Refusal(
    `${quoted(textOf(tokens))} is none of the sentences that are read${odd ? `: ${quoted(odd.text)} is not clear here` : ''}.`,
    [question ?? 'Who should reach whom, on which ports? Say "let web reach db on 5432" or "block ci from db".'],
  );
}

/** "Let web (port 80) reach db", "on 5432 and cache": the ports may be of one name alone. */
function refuseMisplacedPorts(tokens: readonly Token[]): void {
  const at = tokens.findIndex(({ sym }) => sym === 'PORTS');
  const [before, next, second] = [tokens[at - 1], tokens[at + 1], tokens[at + 2]];
  if (at <= 0 || !next) return;
  const isList =
    SIDE_WORDS.has(next.sym) && (next.sym === undefined || (second !== undefined && SIDE_WORDS.has(second.sym)));
  const isOfSource = before?.sym === undefined && MOVING.has(next.sym);
  if (isList || isOfSource)
    throw new Refusal(`It is not clear for whom the ports in ${quoted(textOf(tokens))} are.`, [
      'Which ports, of whom? Name them at the end.',
    ]);
}

const MOVING: ReadonlySet<Token['sym']> = new Set(['REACH', 'REACHING', 'MAY', 'MAY_NOT', 'NEEDS', 'ACCEPT', 'ARROW']);

/** "Block ci from everything except web-1 on 8080": the ports may be of the exception alone. */
function refusePortsOfException(tokens: readonly Token[]): void {
  const at = tokens.findIndex(({ sym }) => sym === 'PORTS');
  const before = tokens.slice(0, Math.max(at, 0)).findLast(({ sym }) => sym !== undefined && !SIDE_WORDS.has(sym));
  if (at < 0 || before?.sym !== 'EXCEPT') return;
  throw new Refusal(`${quoted(textOf(tokens))} can mean ports of the exception, or of all of it.`, [
    'Which of the two? Name the ports before: "block ssh from ci to web except web-1".',
  ]);
}

/** "Let everyone reach api on 443 except ci": those who are left out are of the end that they belong to. */
function withMovedException(from: Side, to: Side, slots: Slots): [Side, Side] {
  const isStray = from.except.find((one) => !belongs(one, from));
  if (isStray)
    throw new Refusal(`${isStray.word} is none of those that it is left out of.`, ['Who is left out, of whom?']);
  if (to.except.length === 0 || !slots['to']) return [from, to];
  const isIn = (side: Side) => to.except.every((one) => belongs(one, side));
  const [isOfFrom, isOfTo] = [isIn(from), isIn(to)];
  if (isOfTo) return [from, to];
  if (isOfFrom && !isOfTo && from.except.length === 0)
    return [
      { ...from, except: to.except },
      { ...to, except: [] },
    ];
  throw new Refusal(`It is not clear who is left out in ${quoted(textOf(slots['to']))}.`, [
    'Who is left out, of whom?',
  ]);
}

/** True where someone who is left out is among those that are named. */
function belongs(one: Side['groups'][number], { groups }: Side): boolean {
  if (groups.some(({ kind }) => kind === 'everyone')) return true;
  if (one.kind === 'addresses') return groups.some(({ kind }) => kind === 'addresses');
  return [...one.peers].some((peer) => groups.some(({ peers }) => peers.has(peer)));
}
