/** The first wait after a failure, the longest of the first ones, and the longest of all. */
const FIRST_MS = 500;
const LONGEST_AT_FIRST_MS = 1_000;
const LONGEST_MS = 30_000;
/** Time within which a relay that was only restarted is back. */
const AT_FIRST_MS = 15_000;

/** Waits that double after a while, each drawn from its upper half, so that a thousand nodes do not come back at once. */
export class Backoff {
  readonly #random: () => number;
  #next = FIRST_MS;
  #sumMs = 0;

  /** `random` gives numbers from 0 to below 1. */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Milliseconds to wait before the next try. */
  next(): number {
    const most = this.#next;
    this.#sumMs += most;
    this.#next = Math.min(this.#sumMs < AT_FIRST_MS ? LONGEST_AT_FIRST_MS : LONGEST_MS, most * 2);
    return Math.round(most * (0.5 + this.#random() / 2));
  }

  reset(): void {
    this.#next = FIRST_MS;
    this.#sumMs = 0;
  }
}
