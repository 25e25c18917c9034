/** Keys that may not come back before their last credential has run out. */
export class Revocations {
  readonly #until = new Map<string, number>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  add(publicKey: Uint8Array, until: number): void {
    const name = Buffer.from(publicKey).toString('base64');
    this.#until.set(name, Math.max(until, this.#until.get(name) ?? 0));
    if (this.#until.size <= this.#max) return;
    let [soonest, end]: [string, number] = [name, Number.POSITIVE_INFINITY];
    for (const [key, at] of this.#until) if (at < end) [soonest, end] = [key, at];
    this.#until.delete(soonest);
  }

  remove(publicKey: Uint8Array): void {
    this.#until.delete(Buffer.from(publicKey).toString('base64'));
  }

  /** When the key may come back; undefined when it is not kept out. */
  until(publicKey: Uint8Array): number | undefined {
    return this.#until.get(Buffer.from(publicKey).toString('base64'));
  }

  *[Symbol.iterator](): Iterator<{ readonly publicKey: Uint8Array; readonly until: number }> {
    for (const [key, until] of this.#until) yield { publicKey: Uint8Array.from(Buffer.from(key, 'base64')), until };
  }

  get size(): number {
    return this.#until.size;
  }

  has(publicKey: Uint8Array, now: number): boolean {
    const until = this.until(publicKey);
    return until !== undefined && now < until;
  }

  forgetUntil(now: number): void {
    for (const [key, until] of this.#until) if (until <= now) this.#until.delete(key);
  }
}
