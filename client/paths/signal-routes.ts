import type { Endpoint } from '../tunnel/tunnel.ts';

/** How a signal travels past the bus. */
export type SignalRoute = Endpoint | 'relay';

/** Addresses at which one peer is looked for. */
export const MAX_KNOWN_ENDPOINTS = 3;

/**
 * Where signals for one peer go when the bus does not carry them: by the relay, and to the addresses at which it was reached
 * last. Only to a peer that was met: nodes that never met cannot connect without the bus.
 */
export class SignalRoutes {
  #isMet: boolean;
  /** Where it was reached directly, the newest first. */
  #endpoints: readonly Endpoint[];
  /** True when the peer's process sent its last signal this way: it may have no bus. */
  #heardBy: SignalRoute | 'bus' | undefined;

  /** `known`: of an earlier process of this node; undefined when the peer was never met. */
  constructor(known: readonly Endpoint[] | undefined) {
    this.#isMet = known !== undefined;
    this.#endpoints = known?.slice(0, MAX_KNOWN_ENDPOINTS) ?? [];
  }

  get isMet(): boolean {
    return this.#isMet;
  }

  get endpoints(): readonly Endpoint[] {
    return this.#endpoints;
  }

  met(): void {
    this.#isMet = true;
  }

  /** The peer is reached there. */
  opened(endpoint: Endpoint): void {
    const others = this.#endpoints.filter((known) => !isSame(known, endpoint));
    this.#endpoints = [endpoint, ...others].slice(0, MAX_KNOWN_ENDPOINTS);
  }

  /** A signal of the peer's proven process came so. */
  heard(by: SignalRoute | 'bus'): void {
    this.#heardBy = by;
  }

  /** The routes for the next signal, beside the bus while that is up. */
  next(isBusUp: boolean, isRelayReady: boolean): readonly SignalRoute[] {
    const isOnBus = this.#heardBy === undefined || this.#heardBy === 'bus';
    if (!this.#isMet || (isBusUp && isOnBus)) return [];
    const heardAt = typeof this.#heardBy === 'object' ? [this.#heardBy] : [];
    const others = this.#endpoints.filter((known) => !heardAt.some((one) => isSame(one, known)));
    return [...(isRelayReady ? (['relay'] as const) : []), ...heardAt, ...others];
  }
}

function isSame(a: Endpoint, b: Endpoint): boolean {
  return a.address === b.address && a.port === b.port;
}
