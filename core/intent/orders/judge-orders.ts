import type { EffectSide } from '../../effect/effect.ts';
import type { Reachability } from '../../reachability/reachability.ts';
import type { NetworkState } from '../../state/state.ts';
import type { Named } from '../verify/excess.ts';
import type { Order } from './order.ts';
import { MAX_TOLD, unmetPairs, unmetText } from './order-result.ts';
import { type Region, readOrder, regionsOf } from './regions.ts';
import { endsOfSide, type Side } from './who.ts';

/** Returns a function of the connections that orders name in a state. */
export function namedByOrders(orders: readonly Order[]): (side: EffectSide, on: NetworkState) => readonly Named[] {
  return (side, on) => {
    const whoOf = (end: Side) => ({ peers: new Set(endsOfSide(end, on).peers), ranges: end.ranges });
    return regionsIn(orders, on).flatMap((region) =>
      region.side === side ? [{ src: whoOf(region.from), dst: whoOf(region.to), ports: region.spans }] : [],
    );
  };
}

/**
 * Returns connections that are not as ordered after a change, as sentences: those that a policy contradicts, and those that a
 * stage above policies holds.
 */
export function ordersUnmet(
  orders: readonly Order[],
  before: NetworkState,
  { after, is }: { readonly after: NetworkState; readonly is: Reachability },
): readonly [contradicted: readonly string[], held: readonly string[]] {
  const all = unmetPairs(regionsIn(orders, before), after, is);
  const texts = (isHeld: boolean) => all.flatMap((one) => (one.isHeld === isHeld ? [unmetText(one)] : []));
  return [texts(false), texts(true).slice(0, MAX_TOLD)];
}

function regionsIn(orders: readonly Order[], state: NetworkState): Region[] {
  return orders.flatMap((order) => regionsOf(readOrder(order, state), state));
}
