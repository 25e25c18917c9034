/** How long a lease lasts from when it was asked for, ms. */
export const LEASE_MS = 4_000;
/** So long before its end its holder is done: what it sent last has arrived when another one begins. */
const MARGIN_MS = 250;

interface ShareLease {
  readonly fence: number;
  /** When this plane stops to count on it, by its own monotonic clock. */
  until: number;
  /** It is `ending` while what is under way may still be written, and nothing new begins. */
  state: 'waiting' | 'led' | 'ending';
}

/**
 * The shares that this plane has the lease of, by a clock that only goes on: it counts from before the store was asked, so
 * that it stops before another plane can begin, however late the answer came or this process was woken.
 */
export class LeasedShares {
  readonly #held = new Map<number, ShareLease>();

  acquired(share: number, fence: number, askedAt: number): void {
    const known = this.#held.get(share);
    const until = askedAt + LEASE_MS - MARGIN_MS;
    // Another fence is another tenure: what was led under the former one has ended.
    if (known?.fence === fence) known.until = Math.max(known.until, until);
    else this.#held.set(share, { fence, until, state: 'waiting' });
  }

  lost(share: number): void {
    this.#held.delete(share);
  }

  lead(share: number): void {
    const held = this.#held.get(share);
    if (held?.state === 'waiting') held.state = 'led';
  }

  /** Begins nothing more, and is held still. */
  leave(share: number): void {
    const held = this.#held.get(share);
    if (held) held.state = 'ending';
  }

  /** A lease that was not renewed in time has ended what was led under it, whatever happens then. */
  expire(now: number): void {
    for (const held of this.#held.values()) if (held.until <= now && held.state === 'led') held.state = 'waiting';
  }

  leads(share: number, now: number): boolean {
    const held = this.#held.get(share);
    return held?.state === 'led' && now < held.until;
  }

  /** Returns the fence that a write must name, also a write under way in a share that is being given away. */
  fenceOf(share: number): number | undefined {
    return this.#held.get(share)?.fence;
  }

  has(share: number): boolean {
    return this.#held.has(share);
  }

  led(now: number): number[] {
    return [...this.#held.keys()].filter((share) => this.leads(share, now)).sort((a, b) => a - b);
  }

  /** Held, and not led yet. */
  waiting(): number[] {
    return [...this.#held].flatMap(([share, { state }]) => (state === 'waiting' ? [share] : []));
  }

  all(): number[] {
    return [...this.#held.keys()];
  }

  /** When the first that is led ends, if it is not renewed. */
  get endsAt(): number | undefined {
    let first: number | undefined;
    for (const { state, until } of this.#held.values()) {
      if (state === 'led' && (first === undefined || until < first)) first = until;
    }
    return first;
  }
}
