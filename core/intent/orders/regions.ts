import { parseInstant } from '../../base/time.ts';
import { type PortSpan, subtract } from '../../effect/port-spans.ts';
import { EVERY_ADDRESS, intersection, without } from '../../model/ranges.ts';
import type { NetworkState } from '../../state/state.ts';
import type { Order } from './order.ts';
import { portsOfWords } from './order-ports.ts';
import { both, minus } from './selectors.ts';
import { type Group, insideOf, membersOf, type Side, sideOf } from './who.ts';

/** An order with the meaning of its words in a state. */
export interface ReadOrder {
  readonly order: Order;
  readonly from: Side;
  readonly to: Side;
  readonly spans: readonly PortSpan[];
  /** ms; infinite for none. */
  readonly endsAt: number;
}

/** Connections that an order opens or closes: all from one side to the other on some ports. */
export interface Region {
  readonly side: 'opened' | 'closed';
  readonly from: Side;
  readonly to: Side;
  readonly spans: readonly PortSpan[];
}

export function readOrder(order: Order, state: Pick<NetworkState, 'peers' | 'networks'>): ReadOrder {
  return {
    order,
    from: sideOf(order.from, order.exceptFrom ?? [], state),
    to: sideOf(order.to, order.exceptTo ?? [], state),
    spans: portsOfWords(order.ports ?? []),
    endsAt: order.expiresAt === undefined ? Number.POSITIVE_INFINITY : parseInstant(order.expiresAt),
  };
}

/** Returns all that an order is about; of `only` both what it lets in and what it shuts out. */
export function regionsOf({ order, from, to, spans }: ReadOrder, state: Pick<NetworkState, 'networks'>): Region[] {
  const all = { from, to, spans };
  switch (order.do) {
    case 'allow':
      return [{ side: 'opened', ...all }];
    case 'deny':
    case 'remove':
      return [{ side: 'closed', ...all }];
    case 'only': {
      const opened: Region = { side: 'opened', ...all };
      if (order.side === 'from') return [opened, { side: 'closed', from, to: everyoneBut(to, state), spans }];
      return [opened, { side: 'closed', from: everyoneBut(from, state), to, spans }];
    }
    default:
      return order.do satisfies never;
  }
}

/** Returns every peer and every address outside that is not on a side. */
export function everyoneBut({ groups, ranges }: Side, state: Pick<NetworkState, 'networks'>): Side {
  const others = (selectors: readonly Group[]) =>
    minus(
      {},
      selectors.map(({ selector }) => selector),
    ).map((selector) => ({ selector }));
  const isOfNetworks = groups.some(({ network }) => network !== undefined);
  return {
    groups: isOfNetworks
      ? [...state.networks.keys()].flatMap((network) =>
          others(groups.filter((group) => group.network === undefined || group.network === network)).map((group) => ({
            ...group,
            network,
          })),
        )
      : others(groups),
    ranges: without(without(EVERY_ADDRESS, insideOf(state)), ranges),
  };
}

/** Returns true if two regions may share a connection, now or with peers that join later. */
export function mayOverlap(a: Region, b: Region, state: NetworkState): boolean {
  if (subtract(a.spans, subtract(a.spans, b.spans)).length === 0) return false;
  const [from, to] = [shared(a.from, b.from, state), shared(a.to, b.to, state)];
  const isPair = from.groups.some((src) =>
    to.groups.some((dst) => {
      const [one, other] = [src.selector.peers, dst.selector.peers];
      const isSelf = one?.length === 1 && other?.length === 1 && one[0] === other[0];
      return !isSelf && (src.network === undefined || dst.network === undefined || src.network === dst.network);
    }),
  );
  return isPair || (from.ranges.length > 0 && to.groups.length > 0) || (from.groups.length > 0 && to.ranges.length > 0);
}

function shared(a: Side, b: Side, state: NetworkState): Side {
  const groups = a.groups.flatMap((one) =>
    b.groups.flatMap((other): Group[] => {
      if (one.network !== undefined && other.network !== undefined && one.network !== other.network) return [];
      const network = one.network ?? other.network;
      const selector = both(one.selector, other.selector);
      if (!selector) return [];
      const group = { selector, ...(network !== undefined && { network }) };
      if (selector.peers === undefined) return [group];
      const ids = membersOf(group, state).map(({ uid }) => uid);
      return ids.length === 0 ? [] : [{ ...group, selector: { peers: ids } }];
    }),
  );
  return { groups, ranges: intersection(a.ranges, b.ranges) };
}
