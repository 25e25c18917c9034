/** Maximum rate by which one good clock runs faster than another, also while it is steered. */
const DRIFT = 0.000_5;

/**
 * A clock elsewhere, known by what it answered when it was asked: it was read between the question and the answer. What
 * several answers agree on is known better than any of them says; where they do not agree it was set, and the newest holds.
 */
export class RemoteClock {
  readonly #monotonic: () => number;
  /** Bounds of the difference between the remote clock and the monotonic clock. */
  #least = Number.NEGATIVE_INFINITY;
  #most = Number.POSITIVE_INFINITY;
  #heardAt = 0;

  /** @param monotonic milliseconds on a clock that nobody sets */
  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Asks it once. @param ask answers milliseconds since the epoch, of which fractions are cut off */
  async hear(ask: () => Promise<number>): Promise<void> {
    const askedAt = this.#monotonic();
    const shown = await ask();
    const heardAt = this.#monotonic();
    const drift = (heardAt - this.#heardAt) * DRIFT;
    const [least, most] = [shown - heardAt, shown + 1 - askedAt];
    const [surely, atMost] = [Math.max(least, this.#least - drift), Math.min(most, this.#most + drift)];
    [this.#least, this.#most] = surely <= atMost ? [surely, atMost] : [least, most];
    this.#heardAt = heardAt;
  }

  /** After it was heard once. */
  now(): number {
    return this.#monotonic() + (this.#least + this.#most) / 2;
  }
}
