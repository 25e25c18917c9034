/** Lets actions through at a steady rate with a small burst, whoever asks: what keeps a thousand pairs from a storm. */
export class Pacer {
  readonly #intervalMs: number;
  readonly #burst: number;
  /** When the bucket would be empty but for what flows in. */
  #spentUntil = Number.NEGATIVE_INFINITY;

  constructor(perSecond: number, burst: number) {
    this.#intervalMs = 1_000 / perSecond;
    this.#burst = burst;
  }

  /** @returns undefined when the action may happen now, else when to ask again */
  take(now: number): number | undefined {
    const earliest = now - this.#burst * this.#intervalMs;
    // A clock that went back must not hold everything up.
    if (this.#spentUntil < earliest || this.#spentUntil > now + this.#intervalMs) this.#spentUntil = earliest;
    if (this.#spentUntil + this.#intervalMs > now) return this.#spentUntil + this.#intervalMs;
    this.#spentUntil += this.#intervalMs;
    return undefined;
  }
}
