import type { OrderInput } from '../../core/intent/orders/order.ts';
import { checked, denied, isolated, limited, limitedAccess, revoked } from './closings.ts';
import { allow, allowed, only, onlyTo } from './grants.ts';
import type { Holding } from './held.ts';
import { otherPorts } from './ports.ts';
import type { Reading } from './reading.ts';
import { quoted, Refusal, textOf } from './refusal.ts';
import type { Side } from './sides.ts';
import type { Spared } from './spared.ts';
import { elseOf, mutual, order, unclear, withoutEnd, wordsOf } from './terms.ts';

/** Returns the orders of clauses that say who may reach whom, in the order of the sentence. */
export function ordersOf(readings: readonly Reading[], holding: Holding): OrderInput[] {
  refuseUnshared(readings);
  const orders: OrderInput[] = [];
  for (const [at, reading] of readings.entries()) {
    const before = readings.slice(0, at);
    const next = readings[at + 1];
    if (reading.act === 'spare from' || reading.act === 'spare to') refuseStray(reading, before);
    else if (next && CLOSES_ELSE.has(next.act) && OPENS.has(reading.act)) continueWith(reading, orders, holding);
    else orders.push(...ordersOfClause(withSpared(reading, readings.slice(at + 1)), before, holding));
  }
  return orders;
}

type Acts = ReadonlySet<Reading['act']>;

const CLOSES_ELSE: Acts = new Set(['nothing else in', 'nothing else out']);
const OPENS: Acts = new Set(['allow', 'only', 'only to', 'keep']);

/** "Do not let anyone but ops reach api" says that ops may: it is "let only ops reach api". */
function isOnlyLet({ from, words }: Reading): boolean {
  const isAnyone = from.groups.every(({ kind }) => kind === 'everyone') && from.except.length > 0;
  return isAnyone && words.some(({ sym, text }) => sym === 'DENY' && LETTING.test(text));
}

const LETTING = /\b(?:let|allow|permit|give|grant)/;

/** Where all else is closed, "only" and "keep" say no more than who stays. */
function continueWith(reading: Reading, orders: OrderInput[], holding: Holding): void {
  const grant = allow(reading);
  if (reading.act === 'keep' && !holding.isSo([grant])) throw notSo(reading);
  orders.push(...(holding.isSo([grant]) ? [] : [grant]));
}

function ordersOfClause(reading: Reading, before: readonly Reading[], holding: Holding): OrderInput[] {
  const { act, from, to } = reading;
  if (reading.spared.length > 0 && act !== 'isolate' && act !== 'deny') throw unclear(reading, 'What stays open?');
  if (act === 'deny' && reading.words[0]?.sym === 'KEEP' && before.some((one) => CLOSING.has(one.act)))
    throw unclear(reading, 'Does it stay open, or is it closed? Say "let … reach …" or "block … from …".');
  if (reading.exclusive && act !== 'allow') throw unclear(reading, 'Who else is meant?');
  switch (act) {
    case 'allow':
      return allowed(reading, holding);
    case 'keep':
      if (!holding.isSo([allow(reading)])) throw notSo(reading);
      return [allow(reading)];
    case 'only':
      return only(reading, holding);
    case 'only to':
      return onlyTo(reading, holding);
    case 'deny':
      if (isOnlyLet(reading)) return only({ ...reading, from: { groups: from.except, except: [] } }, holding);
      return denied(reading, before, holding);
    case 'separate':
      return mutual('deny', { ...reading, isMutual: true });
    case 'isolate':
      return isolated(reading, holding);
    case 'revoke':
      return revoked(reading, from, to, holding);
    case 'limit':
      return limited(reading);
    case 'limit access':
      return limitedAccess(reading, holding);
    case 'swap':
      return [...revoked(reading, reading.old ?? from, to, holding), allow(reading)];
    case 'nothing else in':
    case 'nothing else out':
      return closeElse(reading, before, holding);
    case 'others out':
      return othersOut(reading, before, holding);
    case 'nothing changes':
    case 'inbound stays':
    case 'outbound stays':
    case 'said so':
    case 'nothing in':
    case 'nothing out':
      requireFit(reading, before, holding);
      return [];
    default:
      throw unclear(reading, 'Say it in a sentence of its own.');
  }
}

/** "…, no other outbound", "…; block everything else to db": for what the clauses before said. */
function closeElse(reading: Reading, before: readonly Reading[], holding: Holding): OrderInput[] {
  const direction = reading.act === 'nothing else in' ? 'in' : 'out';
  const grants = before.filter(({ act }) => OPENS.has(act));
  const [first] = grants;
  const other = direction === 'in' ? 'only to' : 'only';
  if (!first || grants.length < before.length || grants.some(({ act, isMutual }) => act === other || isMutual))
    throw unclear(reading, 'Else than what? Say who may reach whom first.');
  const ownOf = ({ from, to }: Reading) => (direction === 'in' ? to : from);
  const own = ownOf(first);
  const named = reading.words.some(({ sym }) => sym === undefined) ? ownOf(reading) : undefined;
  const isSame = (side: Side) => wordsOf(side, 'deny').join() === wordsOf(own, 'deny').join();
  if (!grants.every((grant) => isSame(ownOf(grant))) || (named && !isSame(named)) || own.except.length > 0)
    throw unclear(reading, 'Of whom is everything else to be closed?');
  const spared = grants.map(
    ({ from, to, ports }): Spared =>
      direction === 'in' ? { direction: 'from', side: from, ports } : { direction: 'to', side: to, ports },
  );
  const ends = { ...first, from: own, to: own };
  return checked(ends, elseOf(ends, direction, spared), spared, holding);
}

/** "Anna and bob may reach each other, nobody else may reach them". */
function othersOut(reading: Reading, before: readonly Reading[], holding: Holding): OrderInput[] {
  const [first, second] = before;
  if (!first?.both || first.act !== 'allow' || second) throw unclear(reading, 'Who else than whom?');
  const mutual = { ...first, isMutual: false, from: first.both, to: first.both };
  return only({ ...mutual, ports: first.ports }, holding);
}

/** Clauses that add nothing are read only where that is so. */
function requireFit(reading: Reading, before: readonly Reading[], holding: Holding): void {
  const last = before.findLast(({ act }) => act !== 'nothing in' && act !== 'nothing out');
  const { act, words } = reading;
  const isFit = (() => {
    if (!last) return false;
    if (act === 'said so') return last.act === 'revoke';
    if (act === 'nothing in' || act === 'nothing out') return last.act === 'isolate' && last.spared.length === 0;
    if (act === 'inbound stays') return last.act === 'deny' && !last.isMutual && isNamed(last.from);
    if (act === 'outbound stays') return last.act === 'deny' && !last.isMutual && isNamed(last.to);
    if (words.some(({ sym }) => sym === 'OTHER_PORTS_STAY')) return OPENS.has(last.act) && last.ports.length > 0;
    if (last.act !== 'allow' || last.exclusive) return false;
    if (/\bclosed\b|\bblocked\b/.test(textOf(words))) {
      const rest = otherPorts(last.ports);
      return rest !== undefined && holding.isSo([withoutEnd(order('deny', last, last.from, last.to, { ports: rest }))]);
    }
    return true;
  })();
  if (!isFit) throw unclear(reading, 'What should change by it? Leave it out, or say what is to be closed.');
}

function isNamed({ groups }: Side): boolean {
  return groups.every(({ kind }) => kind !== 'everyone');
}

/** "Isolate web-1 but keep ssh from ops": what follows "but" stays open. */
function withSpared(reading: Reading, after: readonly Reading[]): Reading {
  if (reading.act !== 'isolate') return reading;
  const end = after.findIndex(({ act }) => act !== 'spare from' && act !== 'spare to' && act !== 'keep');
  const those = after.slice(0, end < 0 ? undefined : end);
  const spared = those.flatMap(({ act, from, to, ports }): Spared[] => {
    if (act === 'spare from') return [{ direction: 'from', side: from, ports }];
    return act === 'spare to' ? [{ direction: 'to', side: to, ports }] : [];
  });
  return { ...reading, spared: [...reading.spared, ...spared] };
}

function refuseStray(reading: Reading, before: readonly Reading[]): void {
  const last = before.findLast(({ act }) => act !== 'spare from' && act !== 'spare to');
  if (last?.act !== 'isolate') throw unclear(reading, 'What stays open of whom?');
  if (reading.until) throw unclear(reading, 'Until when is what?');
}

/** "Let ci reach db; let api reach db on 5432 for 2 hours": ports and ends of one clause may be meant for all. */
function refuseUnshared(readings: readonly Reading[]): void {
  const grants = readings.filter(({ act }) => OPENS.has(act));
  const orders = readings.filter(({ act }) => OPENS.has(act) || CLOSING.has(act));
  const isSome = (list: readonly boolean[]) => list.includes(true) && list.includes(false);
  if (!isSome(orders.map(({ until }) => until !== undefined)) && !isSome(grants.map(({ ports }) => ports.length > 0)))
    return;
  throw new Refusal(
    `It is not clear for which parts of ${quoted(readings.map(({ words }) => textOf(words)).join('; '))} the ports and times hold.`,
    ['Which ports and times are meant for each? Say them with each, or ask for one thing at a time.'],
  );
}

const CLOSING: Acts = new Set(['deny', 'isolate', 'separate', 'revoke', 'limit', 'limit access', 'swap']);

function notSo({ words }: Reading): Refusal {
  return new Refusal(`${quoted(textOf(words))} is not so now, so nothing can be kept.`, [
    'Should it be opened? Then say "let … reach …".',
  ]);
}
