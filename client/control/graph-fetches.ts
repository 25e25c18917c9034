import type { Clock } from '../../core/base/ports.ts';

/** Outcome of a fetch: any answer, or none. */
export type FetchOutcome = 'answered' | 'away';

const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;
/** Whoever asks to confirm does not make the node fetch more often. */
const CONFIRM_MS = 1_000;

/** When the whole graph is fetched over the API: one at a time, and again and again until there is an answer. */
export class GraphFetches {
  readonly #fetch: (why: string) => Promise<FetchOutcome>;
  readonly #clock: Clock;
  #underWay: Promise<void> | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #isStopped = false;

  /** `fetch` does not reject. */
  constructor(fetch: (why: string) => Promise<FetchOutcome>, clock: Clock) {
    this.#fetch = fetch;
    this.#clock = clock;
  }

  /** Now, or with the one under way. Resolves after it, however it ended. */
  now(why: string): Promise<void> {
    this.#underWay ??= this.#once(why).finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  /** Soon, because something speaks for a change. */
  async confirm(why: string): Promise<void> {
    // An answer that is on its way may be of before.
    await this.#underWay;
    if (this.#retryTimer !== undefined || this.#isStopped) return;
    const wait = this.#fetchedAt + CONFIRM_MS - this.#clock.now();
    if (wait <= 0 || wait > CONFIRM_MS) await this.now(why);
    else this.#later(why, wait);
  }

  /** The API answers: waits are short again. */
  reached(): void {
    this.#retryMs = FIRST_RETRY_MS;
  }

  /** Resolves when none is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#retryTimer);
    await this.#underWay;
  }

  async #once(why: string): Promise<void> {
    if (this.#isStopped) return;
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    this.#fetchedAt = this.#clock.now();
    if ((await this.#fetch(why)) === 'answered') this.reached();
    else if (!this.#isStopped) {
      this.#later(why, this.#retryMs * (0.5 + Math.random()));
      this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
    }
  }

  #later(why: string, ms: number): void {
    this.#retryTimer = setTimeout(() => {
      this.#retryTimer = undefined;
      void this.now(why);
    }, ms);
  }
}
