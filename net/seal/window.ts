/** How far behind the newest sequence number a message may arrive. */
export const WINDOW_WIDTH = 64;

/** Accepts each sequence number once, in any order within the width (RFC 4303 appendix A2). */
export class ReplayWindow {
  #newest = -1;
  /** Bit n: `newest - n` was seen. */
  #seen = 0n;

  /** True if the number is new; the call uses it up. Call only for messages that proved authentic. */
  use(seq: number): boolean {
    if (seq > this.#newest) {
      const ahead = seq - this.#newest;
      this.#seen = ahead >= WINDOW_WIDTH ? 1n : BigInt.asUintN(WINDOW_WIDTH, (this.#seen << BigInt(ahead)) | 1n);
      this.#newest = seq;
      return true;
    }
    const behind = this.#newest - seq;
    if (behind >= WINDOW_WIDTH) return false;
    const bit = 1n << BigInt(behind);
    if ((this.#seen & bit) !== 0n) return false;
    this.#seen |= bit;
    return true;
  }
}
