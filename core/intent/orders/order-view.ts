import { formatSecond, parseInstant } from '../../base/time.ts';
import { lookUpById } from '../../model/find.ts';
import type { NetworkState } from '../../state/state.ts';
import type { Order, OrderInput } from './order.ts';
import { readWord } from './who.ts';

type Network = Pick<NetworkState, 'peers' | 'networks'>;

/** Returns kept orders as callers send them. A peer keeps its id where its name would mean somebody else, or is gone. */
export function orderInputsOf(orders: readonly Order[], state: Network): OrderInput[] {
  return orders.map(({ do: verb, from, to, exceptFrom, exceptTo, side, ports, startsAt, expiresAt, through }) => {
    const named = (words: readonly string[]) => words.map((word) => nameOf(word, state));
    return {
      do: verb,
      from: named(from),
      to: named(to),
      ...(exceptFrom && { except_from: named(exceptFrom) }),
      ...(exceptTo && { except_to: named(exceptTo) }),
      ...(side && { side }),
      ...(ports && { ports: [...ports] }),
      ...(through && { through: [...through] }),
      ...(startsAt !== undefined && { starts: formatSecond(parseInstant(startsAt)) }),
      ...(expiresAt !== undefined && { until: formatSecond(parseInstant(expiresAt)) }),
    };
  });
}

function nameOf(word: string, state: Network): string {
  const name = lookUpById(state.peers, word)?.name;
  if (name === undefined) return word;
  const read = readWord(name, state);
  return 'word' in read && read.word === word ? name : word;
}
