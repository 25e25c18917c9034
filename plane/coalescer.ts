/** Quiet time after which changes go out, ms. */
export const TRAILING_MS = 50;
/** The longest a change waits while others keep coming, ms. */
export const CAP_MS = 1_000;
const MAX_REASONS = 3;

/** Gathers changes that follow each other closely, so that they go out as one, with their reasons. */
export class Coalescer {
  #first: number | undefined;
  #last = 0;
  #reasons = new Set<string>();
  #more = 0;

  add(reason: string, now: number): void {
    this.#first ??= now;
    this.#last = now;
    if (this.#reasons.size < MAX_REASONS) this.#reasons.add(reason);
    else if (!this.#reasons.has(reason)) this.#more += 1;
  }

  /** When what was gathered has to go out, ms; undefined when there is nothing. */
  get dueAt(): number | undefined {
    return this.#first === undefined ? undefined : Math.min(this.#last + TRAILING_MS, this.#first + CAP_MS);
  }

  /** The reasons of what was gathered, in one line; the next change begins anew. */
  take(): string | undefined {
    if (this.#first === undefined) return undefined;
    const more = this.#more > 0 ? [`${this.#more} more`] : [];
    const reason = [...this.#reasons, ...more].join('; ');
    this.#first = undefined;
    this.#reasons = new Set();
    this.#more = 0;
    return reason;
  }
}
