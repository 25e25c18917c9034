/** The first wait after a failure, and the longest. */
const FIRST_MS = 500;
const LONGEST_MS = 30_000;

/** Waits that double, each drawn from its upper half, so that a thousand nodes do not come back at once. */
export class Backoff {
  readonly #random: () => number;
  #next = FIRST_MS;

  /** `random` gives numbers from 0 to below 1. */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Milliseconds to wait before the next try. */
  next(): number {
    const most = this.#next;
    this.#next = Math.min(LONGEST_MS, most * 2);
    return Math.round(most * (0.5 + this.#random() / 2));
  }

  reset(): void {
    this.#next = FIRST_MS;
  }
}
