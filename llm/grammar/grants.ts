import type { OrderInput } from '../../core/intent/orders/order.ts';
import type { Holding } from './held.ts';
import { otherPorts } from './ports.ts';
import type { Reading } from './reading.ts';
import { EVERYONE, elseOf, mutual, order, unclear, withoutEnd } from './terms.ts';

export function allowed(reading: Reading, holding: Holding): OrderInput[] {
  if (reading.exclusive === 'unclear' || reading.isAll) {
    if (isElseClosed(reading, holding)) {
      refuseWholeOpening(reading, holding);
      return [allow(reading)];
    }
    throw unclear(reading, 'Should others be closed, or other ports? Say "let only …", or "limit access to … to …".');
  }
  if (reading.exclusive === 'in') return only(reading, holding);
  return [...mutual('allow', reading), ...(reading.both ? [] : deniedExceptions(reading, holding))];
}

export function allow(reading: Reading): OrderInput {
  const [first, ...more] = mutual('allow', reading);
  if (!first || more.length > 0) throw unclear(reading, 'Who should reach whom? Name two.');
  return first;
}

/** Denies to those who are left out of a grant what is open to them now. */
function deniedExceptions(reading: Reading, holding: Holding): OrderInput[] {
  const { from, to, ports } = reading;
  const outs = [
    ...(from.except.length > 0 ? [order('deny', reading, { groups: from.except, except: [] }, to)] : []),
    ...(to.except.length > 0
      ? [order('deny', reading, { ...from, except: [] }, { groups: to.except, except: [] })]
      : []),
  ];
  const spared = ports.filter((word) => word.startsWith('!')).map((word) => word.slice(1));
  if (spared.length > 0) outs.push(order('deny', reading, from, to, { ports: spared }));
  return outs.filter((out) => !holding.isSo([out]));
}

/** True where the source reaches nothing else, and the target is reached by nobody else. */
function isElseClosed(reading: Reading, holding: Holding): boolean {
  const { from, to, ports } = reading;
  const rest = ports.length === 0 ? undefined : otherPorts(ports);
  const outs = [
    ...elseOf(reading, 'out', [{ direction: 'to', side: to, ports }]),
    ...elseOf(reading, 'in', [{ direction: 'from', side: from, ports }]),
    ...(rest ? [order('deny', reading, from, to, { ports: rest, both_ways: false })] : []),
  ].map(({ for: _, until: __, ...plain }) => plain);
  return holding.isSo(outs);
}

export function only(reading: Reading, holding: Holding): OrderInput[] {
  const { from, to, ports, isMutual } = reading;
  if (isMutual || from.groups.some(({ kind }) => kind === 'everyone')) throw unclear(reading, 'Who alone is meant?');
  const isPassive = reading.words.some(({ sym }) => sym === 'ACCEPT');
  if (isPassive && ports.length > 0)
    throw unclear(
      reading,
      'Should other ports be closed too? Add "no other inbound", or say "only web may reach db on 5432".',
    );
  refuseWholeOpening(reading, holding);
  const isOpen = isOpenNow(reading, holding);
  const whole = order('only', reading, from, to);
  if (holding.canBeWritten([whole])) return [whole];
  if (!isOpen || from.except.length > 0) return [whole];
  return [order('deny', reading, { groups: [EVERYONE], except: from.groups }, to)];
}

export function onlyTo(reading: Reading, holding: Holding): OrderInput[] {
  const { from, to, ports } = reading;
  if (ports.length > 0)
    throw unclear(
      reading,
      'Should others be closed, or other ports of it? Add "no other outbound", or say "limit … to port …".',
    );
  refuseWholeOpening(reading, holding);
  const whole = order('only', reading, from, to, { side: 'from' });
  if (holding.canBeWritten([whole])) return [whole];
  return [order('deny', reading, from, { groups: [EVERYONE], except: to.groups })];
}

/** A sentence that restricts, without ports, opens nothing that is closed. */
function refuseWholeOpening(reading: Reading, holding: Holding): void {
  if (reading.ports.length > 0 || isOpenNow(reading, holding)) return;
  throw unclear(reading, 'They may not reach all of it now. On which ports should they, alone?');
}

function isOpenNow(reading: Reading, holding: Holding): boolean {
  return holding.isSo([withoutEnd(order('allow', reading, reading.from, reading.to))]);
}
