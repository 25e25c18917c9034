import type { Clock } from '../../core/base/ports.ts';

/** Beats again and again, never twice at a time. */
export class Pulse {
  readonly #beat: () => Promise<void>;
  readonly #restMs: () => number;
  readonly #clock: Clock;
  #timer: NodeJS.Timeout | undefined;
  #at = Number.POSITIVE_INFINITY;
  #beating: Promise<void> | undefined;
  /** Delay that was requested while a beat was under way. */
  #nextMs = Number.POSITIVE_INFINITY;
  #isStopped = false;

  /** `restMs`: from the end of a beat to the next. `beat` does not reject. */
  constructor(beat: () => Promise<void>, restMs: () => number, clock: Clock) {
    this.#beat = beat;
    this.#restMs = restMs;
    this.#clock = clock;
  }

  /** A beat after that time at the latest: one that is due earlier stays. */
  soon(ms: number = this.#restMs()): void {
    if (this.#isStopped) return;
    if (this.#beating !== undefined) {
      this.#nextMs = Math.min(this.#nextMs, ms);
      return;
    }
    const at = this.#clock.now() + ms;
    if (this.#timer !== undefined && this.#at <= at) return;
    clearTimeout(this.#timer);
    this.#at = at;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#nextMs = Number.POSITIVE_INFINITY;
      this.#beating = this.#beat().finally(() => {
        this.#beating = undefined;
        this.soon(Math.min(this.#nextMs, this.#restMs()));
      });
    }, ms);
  }

  /** Resolves when no beat is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#beating;
  }
}
