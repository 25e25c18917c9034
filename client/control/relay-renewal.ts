/** A credential is renewed no sooner than after this, however little of its life this clock sees left. */
const SOONEST_MS = 60_000;
/** And no later than after this, however much: half of what a control plane gives (docs/relays.md). */
const LATEST_MS = 43_200_000;

/**
 * When the credential of the relays is to be renewed: once half of its life is over. A wall clock says how long that is, for the
 * end is an instant; what passes of it is measured by one that nobody sets.
 */
export class RelayRenewal {
  /** Milliseconds; must not jump. */
  readonly #elapsed: () => number;
  #at = Number.POSITIVE_INFINITY;

  constructor(elapsed: () => number = () => performance.now()) {
    this.#elapsed = elapsed;
  }

  /** A credential came that ends in so long; undefined: none did. */
  took(lifeMs: number | undefined): void {
    const half = Math.min(Math.max((lifeMs ?? 0) / 2, SOONEST_MS), LATEST_MS);
    this.#at = lifeMs === undefined ? Number.POSITIVE_INFINITY : this.#elapsed() + half;
  }

  get isDue(): boolean {
    return this.#elapsed() >= this.#at;
  }
}
