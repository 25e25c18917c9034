import type { RelayCosts } from '../../net/signal/relay-costs.ts';

/** Cost of a relay that was not measured yet, ms. */
const UNMEASURED_MS = 1_000;
/** The largest round trip that counts. */
const LONGEST_MS = 10_000;
/** Comes on top for a relay that failed, until it has proven itself: it is used where there is no other. */
const DOUBT_MS = 20_000;
/** How long a relay that failed has to work before it counts as before; twice as long after each failure, up to this. */
const FIRST_TRIAL_MS = 5_000;
const LONGEST_TRIAL_MS = 300_000;
/** After so long without a failure the next is a first one. */
const FORGIVEN_MS = 600_000;
/** Least change of a round trip that is published, and least part of it. */
const NEWS_MS = 10;
const NEWS_PART = 0.3;
/** The best of so many measurements counts. */
const KEPT_MEASUREMENTS = 3;

interface Relay {
  readonly measured: number[];
  /** Undefined before anything was tried. */
  isUsable: boolean | undefined;
  failures: number;
  failedAt: number;
  /** When it counts as before; undefined while it does. */
  trialEnds: number | undefined;
}

/**
 * Relay costs that this node publishes, steady under jitter: both ends of a pair derive their relay from them, which
 * changes no more often.
 */
export class OwnCosts {
  readonly #relays = new Map<string, Relay>();
  #costs: RelayCosts = new Map();

  /** These relays alone; what is known of them stays known. */
  use(names: ReadonlySet<string>, now: number): void {
    for (const name of this.#relays.keys()) if (!names.has(name)) this.#relays.delete(name);
    for (const name of names) {
      if (this.#relays.has(name)) continue;
      const fresh = { isUsable: undefined, failures: 0, failedAt: Number.NEGATIVE_INFINITY, trialEnds: undefined };
      this.#relays.set(name, { measured: [], ...fresh });
    }
    this.tick(now);
  }

  /** Published costs; another object once they change. */
  get costs(): RelayCosts {
    return this.#costs;
  }

  /** Milliseconds; undefined before the first measurement that was answered. */
  roundTripOf(name: string): number | undefined {
    const measured = this.#relays.get(name)?.measured ?? [];
    return measured.length > 0 ? Math.min(...measured) : undefined;
  }

  /** It failed last: there is a reason to try it again and again. */
  isDown(name: string): boolean {
    const relay = this.#relays.get(name);
    return relay?.isUsable === false && relay.failures > 0;
  }

  /**
   * A round trip of so many milliseconds; undefined where nothing answered. Where there is a session, or was one that failed, that
   * alone says whether the relay can be used.
   */
  measured(name: string, roundTripMs: number | undefined, hasSession: boolean, now: number): void {
    const relay = this.#relays.get(name);
    if (!relay) return;
    if (roundTripMs !== undefined) {
      relay.measured.push(roundTripMs);
      if (relay.measured.length > KEPT_MEASUREMENTS) relay.measured.shift();
    }
    const isOpen = relay.isUsable === undefined || !hasSession;
    if (isOpen && !this.isDown(name)) relay.isUsable = roundTripMs !== undefined;
    this.tick(now);
  }

  /** A session with it began, or answers again. */
  up(name: string, now: number): void {
    const relay = this.#relays.get(name);
    if (!relay) return;
    if (relay.isUsable === false && relay.failures > 0) {
      relay.trialEnds = now + Math.min(FIRST_TRIAL_MS * 2 ** (relay.failures - 1), LONGEST_TRIAL_MS);
    }
    relay.isUsable = true;
    this.tick(now);
  }

  /** The session with it ended or does not answer, or it refused one. Once for all attempts until it is up again. */
  down(name: string, now: number): void {
    const relay = this.#relays.get(name);
    if (!relay || (relay.isUsable === false && relay.failures > 0)) return;
    if (now - relay.failedAt >= FORGIVEN_MS) relay.failures = 0;
    relay.isUsable = false;
    relay.failures = Math.min(relay.failures + 1, 20);
    relay.failedAt = now;
    relay.trialEnds = undefined;
    this.tick(now);
  }

  tick(now: number): void {
    const said = new Map<string, number>();
    for (const [name, relay] of this.#relays) {
      if (relay.isUsable !== true) continue;
      if (relay.trialEnds !== undefined && now >= relay.trialEnds) relay.trialEnds = undefined;
      said.set(name, this.#steady(name, relay));
    }
    if (!isSame(said, this.#costs)) this.#costs = said;
  }

  #steady(name: string, { trialEnds }: Relay): number {
    const doubt = trialEnds === undefined ? 0 : DOUBT_MS;
    const cost = doubt + Math.round(Math.min(this.roundTripOf(name) ?? UNMEASURED_MS, LONGEST_MS));
    const before = this.#costs.get(name);
    if (before === undefined || before >= DOUBT_MS !== doubt > 0) return cost;
    return Math.abs(cost - before) > Math.max(NEWS_MS, before * NEWS_PART) ? cost : before;
  }
}

function isSame(a: RelayCosts, b: RelayCosts): boolean {
  return a.size === b.size && [...a].every(([name, cost]) => b.get(name) === cost);
}
