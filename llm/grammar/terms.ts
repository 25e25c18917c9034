import { formatDuration } from '../../core/base/duration.ts';
import { formatSecond } from '../../core/base/time.ts';
import type { OrderInput, Verb } from '../../core/intent/orders/order.ts';
import { otherPorts } from './ports.ts';
import type { Reading } from './reading.ts';
import { quoted, Refusal, textOf } from './refusal.ts';
import type { Side } from './sides.ts';
import type { Spared } from './spared.ts';

export const EVERYONE: Side['groups'][number] = {
  word: 'anyone',
  peers: new Set(),
  kind: 'everyone',
  pairs: [],
  isLinked: false,
};

type Extra = Partial<Pick<OrderInput, 'both_ways' | 'side' | 'ports'>>;

type Terms = Pick<Reading, 'ports' | 'until' | 'isMutual'>;

export function wordsOf({ groups }: Side, verb: Verb): string[] {
  return groups.map(({ word, kind }) =>
    kind === 'everyone' ? (verb === 'allow' || verb === 'only' ? 'peers' : 'anyone') : word,
  );
}

/** An order with the ports and the end of its clause. */
export function order(verb: Verb, reading: Terms, from: Side, to: Side, extra: Extra = {}): OrderInput {
  const left = (side: Side) => side.except.map(({ word }) => word);
  const ports = extra.ports ?? reading.ports;
  const isBoth = extra.both_ways ?? reading.isMutual;
  return {
    do: verb,
    from: wordsOf(from, verb),
    to: wordsOf(to, verb),
    ...(from.except.length > 0 && { except_from: left(from) }),
    ...(to.except.length > 0 && { except_to: left(to) }),
    ...(extra.side && { side: extra.side }),
    ...(ports.length > 0 && { ports: [...ports] }),
    ...(isBoth && { both_ways: true }),
    ...(verb !== 'remove' && endOf(reading)),
  };
}

export function endOf({ until }: Pick<Reading, 'until'>): Pick<OrderInput, 'for' | 'until'> {
  if (until === undefined) return {};
  return until.span === undefined ? { until: formatSecond(until.at) } : { for: formatDuration(until.span) };
}

export function withoutEnd({ for: _, until: __, ...rest }: OrderInput): OrderInput {
  return rest;
}

/** Orders between those that are joined, each with the others; within a group where it is one. */
export function mutual(verb: Verb, reading: Reading): OrderInput[] {
  const { both, from, to } = reading;
  if (!both) return [order(verb, reading, from, to)];
  const [only, second] = both.groups;
  if (both.except.length > 0 || !only) throw unclear(reading, 'Who should be left out, and of what? Name each.');
  if (!second) return [order(verb, reading, both, both, { both_ways: false })];
  return both.groups.slice(0, -1).map((group, at) => {
    const others = both.groups.slice(at + 1);
    return order(verb, reading, { groups: [group], except: [] }, { groups: others, except: [] }, { both_ways: true });
  });
}

/** Closes all of one end but what is spared. */
export function elseOf(reading: Reading, direction: 'in' | 'out', spared: readonly Spared[]): OrderInput[] {
  const all: Side = { groups: [EVERYONE], except: spared.flatMap(({ side }) => side.groups) };
  const own = direction === 'in' ? reading.to : reading.from;
  if (spared.some(({ side }) => side.except.length > 0 || side.groups.some(({ kind }) => kind === 'everyone')))
    throw unclear(reading, 'What stays open? Name it without an exception.');
  const plain = { ...reading, ports: [], isMutual: false };
  const whole = direction === 'in' ? order('deny', plain, all, own) : order('deny', plain, own, all);
  const parts = spared.flatMap(({ side, ports }) => {
    const rest = ports.length === 0 ? undefined : otherPorts(ports);
    if (!rest) return [];
    return [
      direction === 'in'
        ? order('deny', plain, side, own, { ports: rest })
        : order('deny', plain, own, side, { ports: rest }),
    ];
  });
  return [whole, ...parts];
}

export function unclear({ words }: Reading, question: string): Refusal {
  return new Refusal(`${quoted(textOf(words))} is not clear here.`, [question]);
}
