const BUCKETS_A_MS = 100;
/** Slower than this counts as this. */
const MAX_MS = 10_000;

/** Times in buckets of 10 µs: a million of them leave nothing for the garbage collector of the process that measures. */
export class Histogram {
  readonly #buckets = new Uint32Array(MAX_MS * BUCKETS_A_MS + 1);
  #count = 0;

  add(ms: number): void {
    const bucket = Math.min(this.#buckets.length - 1, Math.max(0, Math.floor(ms * BUCKETS_A_MS)));
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1;
    this.#count++;
  }

  /** @returns milliseconds that this share of the times stayed below; infinite without any */
  at(share: number): number {
    let left = this.#count * share;
    if (this.#count === 0) return Number.POSITIVE_INFINITY;
    const bucket = this.#buckets.findIndex((count) => {
      left -= count;
      return left <= 0;
    });
    return (bucket + 1) / BUCKETS_A_MS;
  }

  clear(): void {
    this.#buckets.fill(0);
    this.#count = 0;
  }
}
