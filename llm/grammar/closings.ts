import type { OrderInput } from '../../core/intent/orders/order.ts';
import type { Holding } from './held.ts';
import { otherPorts } from './ports.ts';
import type { Reading } from './reading.ts';
import type { Side } from './sides.ts';
import type { Spared } from './spared.ts';
import { EVERYONE, elseOf, mutual, order, unclear, withoutEnd, wordsOf } from './terms.ts';

export function denied(reading: Reading, before: readonly Reading[], holding: Holding): OrderInput[] {
  const { from, to, isOthers, spared } = reading;
  if (reading.words.some(({ text }) => text === 'deny') && isUnclearAccess(reading))
    throw unclear(reading, 'Whose access to what? Say "block all traffic to …", or "deny web access to db".');
  if (isOthers) return [order('deny', reading, { groups: [EVERYONE], except: othersOf(reading, before) }, to)];
  if (spared.length === 0) return mutual('deny', reading);
  if (reading.ports.length > 0 && spared.some(({ ports }) => ports.length > 0))
    throw unclear(reading, 'Which ports stay open?');
  const [first] = spared;
  if (!first || spared.some(({ direction }) => direction !== first.direction))
    throw unclear(reading, 'What stays open?');
  const end = first.direction === 'from' ? from : to;
  if (end.except.length > 0 || !end.groups.some(({ kind }) => kind === 'everyone'))
    throw unclear(reading, 'What stays open?');
  if (spared.every(({ ports }) => ports.length === 0)) {
    const all: Side = { groups: [EVERYONE], except: spared.flatMap(({ side }) => side.groups) };
    return [first.direction === 'from' ? order('deny', reading, all, to) : order('deny', reading, from, all)];
  }
  return checked(reading, elseOf(reading, first.direction === 'from' ? 'in' : 'out', spared), spared, holding);
}

/** True for "deny access to ops" and "revoke access to ops": it may be theirs, or the one to them. */
function isUnclearAccess({ words, isFromNamed }: Reading): boolean {
  const access = words.find(({ sym }) => sym === 'ACCESS');
  const text = access?.text ?? '';
  return !isFromNamed && text.endsWith('access') && !/^(?:all|any) /.test(text);
}

/** "Let web reach api; block everyone else from api": all but those who were let in. */
function othersOf(reading: Reading, before: readonly Reading[]): Side['groups'] {
  const wanted = wordsOf(reading.to, 'deny').join();
  const let_ = before.filter(({ act, to }) => act === 'allow' && wordsOf(to, 'deny').join() === wanted);
  if (let_.length === 0 || let_.length < before.length) throw unclear(reading, 'Everyone else than whom?');
  return let_.flatMap(({ from }) => from.groups);
}

/** Refuses denials that close something that is spared: exceptions may overlap. */
export function checked(
  reading: Reading,
  orders: readonly OrderInput[],
  spared: readonly Spared[],
  holding: Holding,
): OrderInput[] {
  const stay = spared.map(({ direction, side, ports }) => {
    const plain = { ...reading, ports, isMutual: false };
    return direction === 'from' ? order('allow', plain, side, reading.to) : order('allow', plain, reading.from, side);
  });
  holding.check([...orders, ...stay].map(withoutEnd));
  return [...orders];
}

export function isolated(reading: Reading, holding: Holding): OrderInput[] {
  const { from, spared, ports } = reading;
  if (from.groups.some(({ kind }) => kind !== 'peer' && kind !== 'labels'))
    throw unclear(reading, 'Which peers should be isolated?');
  if (ports.length > 0)
    throw unclear(
      reading,
      'Should all be closed but these ports, or these alone? Say "limit web to port 443" or "block ssh to web".',
    );
  const anyone: Side = { groups: [EVERYONE], except: [] };
  if (spared.length === 0) return [order('deny', reading, from, anyone, { both_ways: true })];
  const inward = spared.filter(({ direction }) => direction === 'from');
  const outward = spared.filter(({ direction }) => direction === 'to');
  const ends = { ...reading, to: from };
  const orders = [...elseOf(ends, 'in', inward), ...elseOf(ends, 'out', outward)];
  return checked(ends, orders, spared, holding);
}

/** Takes away what policies give, and closes what is open besides. */
export function revoked(reading: Reading, from: Side, to: Side, holding: Holding): OrderInput[] {
  if (isUnclearAccess(reading))
    throw unclear(reading, 'Whose access? Say "revoke all access to …", or "revoke web\'s access to db".');
  const removal = order('remove', reading, from, to);
  if (reading.until === undefined && holding.canBeWritten([removal])) return [removal];
  return [order('deny', reading, from, to)];
}

/** "Limit db to port 5432": all other ports are closed. */
export function limited(reading: Reading): OrderInput[] {
  const { from, to, ports } = reading;
  const rest = otherPorts(ports);
  if (!rest) throw unclear(reading, 'Limit it to what? Say "limit db to port 5432", or "limit access to db to web".');
  return [order('deny', reading, from, to, { ports: rest })];
}

/** "Limit access to db to web on 5432": all others are closed, and all other ports. */
export function limitedAccess(reading: Reading, holding: Holding): OrderInput[] {
  const { from, to, ports, isPortsLast } = reading;
  if (from.groups.some(({ kind }) => kind === 'everyone')) throw unclear(reading, 'To whom?');
  if (ports.length > 0 && isPortsLast) {
    const spared: Spared[] = [{ direction: 'from', side: from, ports }];
    return checked(reading, elseOf(reading, 'in', spared), spared, holding);
  }
  const isOpen = holding.isSo([withoutEnd(order('allow', reading, from, to))]);
  const whole = order('only', reading, from, to);
  if (isOpen && holding.canBeWritten([whole])) return [whole];
  if (from.except.length > 0) throw unclear(reading, 'Who alone may reach it?');
  return [order('deny', reading, { groups: [EVERYONE], except: from.groups }, to)];
}
