import type { EffectSide } from '../../effect/effect.ts';
import type { Reachability } from '../../reachability/reachability.ts';
import type { NetworkState } from '../../state/state.ts';
import type { Named } from '../verify/excess.ts';
import type { Order } from './order.ts';
import { hasPair, MAX_TOLD, OPEN_BY_DEFAULT, unmetPairs, unmetText } from './order-result.ts';
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
  { after, is }: After,
): readonly [contradicted: readonly string[], held: readonly string[]] {
  const all = unmetPairs(regionsIn(orders, after), after, is);
  const texts = (isHeld: boolean) => all.flatMap((one) => (one.isHeld === isHeld ? [unmetText(one)] : []));
  return [texts(false), texts(true).slice(0, MAX_TOLD)];
}

/** Returns what has to hold after a change and does not, as sentences. An opening between no two peers does not hold. */
export function holdUnmet(hold: readonly Order[], { after, is }: After): readonly string[] {
  return hold.flatMap((order) => {
    const regions = regionsIn([order], after);
    const isEmpty = regions.some((region) => region.side === 'opened' && !hasPair(region, after, is));
    const unmet = isEmpty
      ? ['these are no two peers that are ready']
      : unmetPairs(regions, after, is).map((pairs) =>
          unmetText(pairs.reason === OPEN_BY_DEFAULT ? { ...pairs, reason: 'it is open by default' } : pairs),
        );
    return unmet.slice(0, MAX_TOLD).map((text) => `"${order.text}": ${text}`);
  });
}

interface After {
  readonly after: NetworkState;
  /** Compiled. */
  readonly is: Reachability;
}

function regionsIn(orders: readonly Order[], state: NetworkState): Region[] {
  return orders.flatMap((order) => regionsOf(readOrder(order, state), state));
}
