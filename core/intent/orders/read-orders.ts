import { type FieldError, invalidInput } from '../../base/errors.ts';
import { MAX_FIELD_ERRORS } from '../../base/schema-errors.ts';
import { formatInstant, formatSecond } from '../../base/time.ts';
import { zonedText } from '../../base/time-zone.ts';
import { lookUp, quoted } from '../../model/find.ts';
import { allRulesOf } from '../../model/policy-match.ts';
import { holderOf, isOfAgent } from '../../model/presets.ts';
import { indexOfNames, nearestOf } from '../../model/with-nearest.ts';
import type { NetworkState } from '../../state/state.ts';
import { type Order, type OrderInput, orderText } from './order.ts';
import { portFault } from './order-ports.ts';
import { beginOfOrder, type Clocks, endOfOrder } from './order-times.ts';
import { mayOverlap, readOrder, regionsOf } from './regions.ts';
import { type Group, leavesOutNetwork, readWord, type Side, sideOf } from './who.ts';

const SIDES = ['from', 'to', 'except_from', 'except_to'] as const;

/**
 * Reads orders as callers send them.
 *
 * @throws MeshError `invalid_input` that names each faulty word, or two orders that contradict each other
 */
export function readOrders(inputs: readonly OrderInput[], state: NetworkState, clocks: Clocks): Order[] {
  const orders = ordersAt('/orders', inputs, state, clocks);
  refuseOtherBegins(orders);
  refuseContradictions(orders, state);
  return orders;
}

/**
 * Reads what has to hold after a change, in the form of orders.
 *
 * @throws MeshError `invalid_input` that names each faulty word
 */
export function readHold(inputs: readonly OrderInput[], state: NetworkState, clocks: Clocks): Order[] {
  return ordersAt('/hold', inputs, state, clocks);
}

function ordersAt(field: '/orders' | '/hold', inputs: readonly OrderInput[], state: NetworkState, clocks: Clocks) {
  const errors: FieldError[] = [];
  const orders = inputs.flatMap((input, index) => {
    const at = `${field}/${index}`;
    const before = errors.length;
    const words = SIDES.map((side) => wordsOf(input[side] ?? [], `${at}/${side}`, state, errors));
    (input.ports ?? []).forEach((word, place) => {
      const detail = portFault(word);
      if (detail !== undefined) errors.push({ pointer: `${at}/ports/${place}`, detail });
    });
    const startsAt = beginOfOrder(input, at, clocks, errors);
    const expiresAt = endOfOrder(input, at, startsAt, clocks, errors);
    errors.push(...misfits(input, at), ...throughFaults(input, at, state));
    if (errors.length > before) return [];
    const through = input.through?.flatMap((name) => lookUp(state.policies, name)?.name ?? []);
    return ordersOf({ ...input, through }, words, { startsAt, expiresAt }, clocks).map((order) => ({ order, at }));
  });
  const faults = errors.length > 0 ? errors : orders.flatMap(({ order, at }) => emptiness(order, at, state));
  if (faults.length > 0) throw invalidInput(faults.slice(0, MAX_FIELD_ERRORS));
  return orders.map(({ order }) => order);
}

interface Words {
  readonly ids: readonly string[];
  readonly names: readonly string[];
}

function wordsOf(words: readonly string[], at: string, state: NetworkState, errors: FieldError[]): Words {
  const read = words.map((word, index) => {
    const found = readWord(word, state);
    if ('word' in found) return found;
    errors.push({
      pointer: `${at}/${index}`,
      detail: found.fault,
      ...(found.offered !== undefined && { offered: found.offered }),
    });
    return { word, shown: word };
  });
  return { ids: read.map(({ word }) => word), names: read.map(({ shown }) => shown) };
}

function misfits(input: OrderInput, at: string): FieldError[] {
  const found: FieldError[] = [];
  const refuse = (field: string, detail: string) => found.push({ pointer: `${at}/${field}`, detail });
  if (input.do === 'remove' && (input.for ?? input.until) !== undefined)
    refuse(
      input.for === undefined ? 'until' : 'for',
      'What remove takes away does not come back by itself: use deny for a time.',
    );
  if (input.do === 'remove' && input.starts !== undefined)
    refuse('starts', 'What remove takes away goes at once: send it at that time, or use deny with starts.');
  if (input.do === 'only' && input.both_ways) refuse('both_ways', 'only has one direction: send one order each way.');
  if (input.do !== 'only' && input.side !== undefined) refuse('side', 'side is for only.');
  return found;
}

/** A hole is made in the rules of a DENY that is named, which nobody may mean by mistake. */
function throughFaults(input: OrderInput, at: string, { policies }: NetworkState): FieldError[] {
  if (input.through === undefined) return [];
  const refuse = (detail: string) => [{ pointer: `${at}/through`, detail }];
  if (input.do !== 'allow') return refuse('through is for allow.');
  if ((input.for ?? input.until) !== undefined)
    return refuse(
      'A hole in a DENY does not close by itself: leave out for and until, and send a deny when it is to end.',
    );
  if (input.starts !== undefined)
    return refuse('A hole in a DENY is made at once: leave out starts, and send the order at that time.');
  return input.through.flatMap((name, index): FieldError[] => {
    const fault = (detail: string) => [{ pointer: `${at}/through/${index}`, detail }];
    const policy = lookUp(policies, name);
    if (!policy) {
      const near = nearestOf(name, indexOfNames(policies)).map(quoted);
      return fault(
        `There is no policy ${quoted(name)}.${near.length > 0 ? ` Did you mean ${near.join(' or ')}?` : ''}`,
      );
    }
    if (isOfAgent(policy))
      return fault(`${policy.name} holds ${holderOf(policy)} to a preset, and no order changes it.`);
    const isDeny = policy.spec.action === 'DENY' && allRulesOf(policy.spec).length > 0;
    return isDeny
      ? []
      : fault(`${policy.name} is no DENY with rules, so nothing is to be made a hole in: leave it out.`);
  });
}

interface Times {
  /** ms */
  readonly startsAt: number | undefined;
  readonly expiresAt: number | undefined;
}

function ordersOf(
  input: OrderInput,
  words: readonly Words[],
  { startsAt, expiresAt }: Times,
  { timeZone }: Clocks,
): Order[] {
  const [from, to, exceptFrom, exceptTo] = words.map(({ ids }) => ids) as [string[], string[], string[], string[]];
  const [fromNames = [], toNames = [], exceptFromNames = [], exceptToNames = []] = words.map(({ names }) => [...names]);
  const timed = (textOf: (at: number) => string) => ({
    ...(startsAt !== undefined && { startsAt: textOf(startsAt) }),
    ...(expiresAt !== undefined && { expiresAt: textOf(expiresAt) }),
  });
  const clocks = timed((at) => {
    const clock = zonedText(at, timeZone);
    return timeZone === 'UTC' ? clock : `${clock} (${formatSecond(at)})`;
  });
  const common = {
    do: input.do,
    ...(input.side !== undefined && { side: input.side }),
    ...(input.ports?.length && { ports: input.ports }),
    ...timed(formatInstant),
    ...(input.through?.length && { through: input.through }),
  };
  const one = (src: string[], dst: string[], butSrc: string[], butDst: string[], text: string): Order => ({
    ...common,
    from: src,
    to: dst,
    ...(butSrc.length > 0 && { exceptFrom: butSrc }),
    ...(butDst.length > 0 && { exceptTo: butDst }),
    text,
  });
  const there = orderText(
    { ...input, from: fromNames, to: toNames, except_from: exceptFromNames, except_to: exceptToNames },
    clocks,
  );
  const back = orderText(
    { ...input, from: toNames, to: fromNames, except_from: exceptToNames, except_to: exceptFromNames },
    clocks,
  );
  const orders = [one(from, to, exceptFrom, exceptTo, there)];
  return input.both_ways ? [...orders, one(to, from, exceptTo, exceptFrom, back)] : orders;
}

/** An order about nobody is more often misspelt than meant. */
function emptiness(order: Order, pointer: string, state: NetworkState): FieldError[] {
  const { from, to, spans } = readOrder(order, state);
  const isEmpty = ({ groups, ranges }: Side) => ranges.length === 0 && groups.every(isNobody);
  if (spans.length === 0) return [{ pointer, detail: `${order.text} leaves out all of its ports.` }];
  if (isEmpty(from) || isEmpty(to))
    return [{ pointer, detail: `${order.text}: one side is nobody. Leave out less, or name others.` }];
  if (from.groups.length + to.groups.length === 0)
    return [
      {
        pointer,
        detail: `${order.text}: one side has to be peers, since Mesh decides nothing between addresses outside.`,
      },
    ];
  if (isSamePeer(from, to)) return [{ pointer, detail: `${order.text}: a peer always reaches itself.` }];
  const ends = [
    [order.from, order.exceptFrom ?? []],
    [order.to, order.exceptTo ?? []],
  ] as const;
  if (ends.some(([words, left]) => leavesOutNetwork(sideOf(words, [], state), sideOf(left, [], state))))
    return [{ pointer, detail: `${order.text}: a network cannot be left out: name the other networks instead.` }];
  return [];
}

/** Labels that contradict each other, as in `env=prod,env!=prod`, match nobody ever. */
function isNobody({ selector }: Group): boolean {
  return selector.peers?.length === 0;
}

function isSamePeer(from: Side, to: Side): boolean {
  const [one, other] = [from, to].map(({ groups, ranges }) =>
    groups.length === 1 && ranges.length === 0 ? groups[0]?.selector.peers : undefined,
  );
  return one?.length === 1 && other?.length === 1 && one[0] === other[0];
}

/** A plan is judged at one instant. */
function refuseOtherBegins(orders: readonly Order[]): void {
  const at = orders.findIndex(({ startsAt }) => startsAt !== orders[0]?.startsAt);
  if (at < 0) return;
  const detail = 'All orders of a call begin together: send those that begin at another time in a call of their own.';
  throw invalidInput([{ pointer: '/orders', detail }], detail);
}

function refuseContradictions(orders: readonly Order[], state: NetworkState): void {
  const regions = orders.map((order) => regionsOf(readOrder(order, state), state));
  for (const [index, order] of orders.entries()) {
    for (const [at, other] of orders.entries()) {
      if (at <= index) continue;
      const isContradiction = regions[index]?.some((one) =>
        regions[at]?.some((two) => one.side !== two.side && mayOverlap(one, two, state)),
      );
      if (!isContradiction) continue;
      const detail = `These orders contradict each other: "${order.text}" and "${other.text}". Leave the one out of the other with except_from, except_to or ports.`;
      throw invalidInput([{ pointer: `/orders/${at}`, detail }], detail);
    }
  }
}
