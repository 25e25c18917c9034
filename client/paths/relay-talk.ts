import type { RelaysSignal } from '../../net/signal/message.ts';
import { digestOfCosts, type RelayCosts } from '../../net/signal/relay-costs.ts';

/** Between two signals to a peer that does not say that it has heard; then it is told no more until something is new. */
const AGAIN_MS = [1_000, 2_000, 4_000, 8_000, 16_000] as const;
/** Between two signals to one peer, whatever it asks. */
const MIN_GAP_MS = 250;

/**
 * Exchange of two nodes about their relays: each sends its own costs, until the other confirms them. A peer of an
 * earlier version never does.
 */
export class RelayTalk {
  #own: RelayCosts | undefined;
  #theirs: RelayCosts | undefined;
  /** The peer knows these of this node. */
  #confirmedCosts: string | undefined;
  #sayAt = Number.POSITIVE_INFINITY;
  #saidAt = Number.NEGATIVE_INFINITY;
  #tries = 0;

  get theirs(): RelayCosts | undefined {
    return this.#theirs;
  }

  get deadline(): number {
    return this.#sayAt;
  }

  /** This node's own; to be said at that time or before. Undefined: nothing is said. */
  use(own: RelayCosts | undefined, at: number): void {
    this.#own = own;
    this.#tries = 0;
    if (this.#isKnown) this.#sayAt = Number.POSITIVE_INFINITY;
    else this.#sayBy(at);
  }

  /** Another process of the peer was proven: it knows nothing. */
  restarted(now: number): void {
    this.#theirs = undefined;
    this.#confirmedCosts = undefined;
    this.#tries = 0;
    if (this.#own) this.#sayBy(now);
  }

  /** Makes a delayed message due now. */
  hurry(now: number): void {
    if (!this.#isKnown && this.#tries < AGAIN_MS.length) this.#sayBy(now);
  }

  /** @returns whether it is news */
  received({ costs, seen, ask }: RelaysSignal, now: number): boolean {
    const isNews = this.#theirs === undefined || digestOfCosts(costs) !== digestOfCosts(this.#theirs);
    this.#theirs = costs;
    this.#confirmedCosts = seen;
    if (this.#isKnown) this.#sayAt = Number.POSITIVE_INFINITY;
    if (ask && this.#own) this.#sayBy(now);
    return isNews;
  }

  postpone(at: number): void {
    this.#sayAt = at;
  }

  /** To be sent now, once `deadline` has come. */
  say(now: number): RelaysSignal | undefined {
    if (this.#own === undefined) {
      this.#sayAt = Number.POSITIVE_INFINITY;
      return undefined;
    }
    const ask = !this.#isKnown;
    // It may know these instead from now on, whether it says so or not.
    if (ask) this.#confirmedCosts = undefined;
    const again = ask ? AGAIN_MS[this.#tries] : undefined;
    this.#tries += 1;
    this.#saidAt = now;
    this.#sayAt = again === undefined ? Number.POSITIVE_INFINITY : now + again;
    return {
      kind: 'RELAYS',
      costs: this.#own,
      ...(this.#theirs && { seen: digestOfCosts(this.#theirs) }),
      ask,
    };
  }

  get #isKnown(): boolean {
    return this.#own === undefined || this.#confirmedCosts === digestOfCosts(this.#own);
  }

  #sayBy(at: number): void {
    this.#sayAt = Math.max(Math.min(this.#sayAt, at), this.#saidAt + MIN_GAP_MS);
  }
}
