/** Sources remembered in each of the two generations. */
const MAX_SOURCES = 32_768;
/** A source that was silent this long has a full bucket anyway. */
const GENERATION_MS = 10_000;

interface Bucket {
  tokens: number;
  at: number;
}

/**
 * A token bucket for each source in bounded memory: the newer generation takes all writes, and when it is full or old the
 * older one is forgotten. A forgotten source starts again with a full bucket.
 */
export class SourceLimit {
  readonly #perMs: number;
  readonly #burst: number;
  #newer = new Map<string | number, Bucket>();
  #older = new Map<string | number, Bucket>();
  #since = 0;

  constructor(perSecond: number, burst: number) {
    this.#perMs = perSecond / 1_000;
    this.#burst = burst;
  }

  /** True if this source may have one more answer now, or one that costs as much as several. */
  take(source: string | number, now: number, cost = 1): boolean {
    if (this.#newer.size >= MAX_SOURCES || now - this.#since >= GENERATION_MS || now < this.#since) this.#turn(now);
    let bucket = this.#newer.get(source);
    if (bucket === undefined) {
      bucket = this.#older.get(source) ?? { tokens: this.#burst, at: now };
      this.#newer.set(source, bucket);
    }
    // A clock that jumped back gives nothing and takes nothing.
    const elapsed = Math.max(0, now - bucket.at);
    bucket.tokens = Math.min(this.#burst, bucket.tokens + elapsed * this.#perMs);
    bucket.at = now;
    if (bucket.tokens < cost) return false;
    bucket.tokens -= cost;
    return true;
  }

  get sources(): number {
    return this.#newer.size + this.#older.size;
  }

  #turn(now: number): void {
    this.#older = this.#newer;
    this.#newer = new Map();
    this.#since = now;
  }
}
