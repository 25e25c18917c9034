/** xorshift32: spreads queue groups without asking the system for randomness. Not for secrets. */
export class Dice {
  #state: number;

  constructor(seed: string) {
    let state = 7;
    for (let at = 0; at < seed.length; at++) state = (state * 31 + seed.charCodeAt(at)) | 0;
    this.#state = (state | 1) >>> 0;
  }

  /** A number from 0 up to, but not including, `sides`. */
  roll(sides: number): number {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x >>> 0;
    return this.#state % sides;
  }
}
