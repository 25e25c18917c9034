import { MeshError } from '../../core/base/errors.ts';
import { compileOrders } from '../../core/intent/orders/compile-orders.ts';
import type { Order, OrderInput } from '../../core/intent/orders/order.ts';
import { unmetPairs } from '../../core/intent/orders/order-result.ts';
import { readOrders } from '../../core/intent/orders/read-orders.ts';
import { readOrder, regionsOf } from '../../core/intent/orders/regions.ts';
import { compile } from '../../core/reachability/engine.ts';
import type { Reachability } from '../../core/reachability/reachability.ts';
import { modelOf } from '../../core/state/network-model.ts';
import type { NetworkState } from '../../core/state/state.ts';
import type { Clocks } from './zones.ts';

/** Answers what holds in a network, so that the verb of an order fits it. */
export class Holding {
  readonly #state: NetworkState;
  readonly #clocks: Clocks;
  readonly #compiled = new WeakMap<NetworkState, Reachability>();

  constructor(state: NetworkState, clocks: Clocks) {
    this.#state = state;
    this.#clocks = clocks;
  }

  /** Returns true where all that orders say is so now. */
  isSo(orders: readonly OrderInput[]): boolean {
    const state = this.#state;
    const regions = this.#read(orders).flatMap((order) => regionsOf(readOrder(order, state), state));
    return unmetPairs(regions, state, this.#reach(state)).length === 0;
  }

  /** Returns true where policies can be written that make all of it so. */
  canBeWritten(orders: readonly OrderInput[]): boolean {
    try {
      const { notChanged } = compileOrders(this.#read(orders), this.#state, {
        now: this.#clocks.now,
        joins: [],
        isPersons: true,
        reachOf: (state) => this.#reach(state),
      });
      return notChanged.length === 0;
    } catch (error) {
      if (error instanceof MeshError) return false;
      throw error;
    }
  }

  /** @throws MeshError `invalid_input` for orders that contradict each other or that name nobody */
  check(orders: readonly OrderInput[]): void {
    this.#read(orders);
  }

  #read(orders: readonly OrderInput[]): Order[] {
    return readOrders(orders, this.#state, this.#clocks);
  }

  #reach(state: NetworkState): Reachability {
    const known = this.#compiled.get(state) ?? compile(modelOf(state, this.#clocks.now));
    this.#compiled.set(state, known);
    return known;
  }
}
