/** How often the watchdog looks, ms. All limits below are counted in such ticks. */
export const TICK_MS = 500;

/** Ticks without a turn after which the stall is reported: 5 s. */
const REPORT_AFTER = 10;
/** Ticks without a turn after which a supervised process ends: 20 s. */
const END_AFTER = 40;
/** The same for a process that was asked to stop: 5 s. */
const END_STOPPING_AFTER = 10;
/** A tick that took more than this many times its length was late. */
const LATE = 2;

export interface LoopSample {
  /** Time of the look on a monotonic clock, ms. */
  readonly at: number;
  /** Turns of the serving thread so far. */
  readonly turns: number;
  readonly phase: 'starting' | 'serving' | 'stopping';
}

export type StallVerdict = 'turning' | 'waiting' | 'stalled' | 'hopeless';

/**
 * Counts how long the serving thread has not turned, in ticks of the watchdog itself. A tick that comes late restarts the
 * count: the machine was suspended or had no time for this process, and then the serving thread had none either.
 */
export class StallCount {
  readonly #tickMs: number;
  readonly #isSupervised: boolean;
  #last: LoopSample | undefined;
  #ticks = 0;

  constructor({ tickMs = TICK_MS, isSupervised }: { readonly tickMs?: number; readonly isSupervised: boolean }) {
    this.#tickMs = tickMs;
    this.#isSupervised = isSupervised;
  }

  /** Returns `stalled` once for each stall, and `hopeless` from when the process should end. */
  tick(look: LoopSample): StallVerdict {
    const last = this.#last;
    this.#last = look;
    const isLate = last !== undefined && look.at - last.at > LATE * this.#tickMs;
    const turned = last === undefined || look.turns !== last.turns || look.phase !== last.phase;
    if (turned || isLate || look.phase === 'starting') {
      this.#ticks = 0;
      return turned ? 'turning' : 'waiting';
    }
    this.#ticks += 1;
    if (this.#ticks >= this.#endAfter(look.phase)) return 'hopeless';
    return this.#ticks === REPORT_AFTER ? 'stalled' : 'waiting';
  }

  #endAfter(phase: 'serving' | 'stopping'): number {
    if (phase === 'stopping') return END_STOPPING_AFTER;
    return this.#isSupervised ? END_AFTER : Number.POSITIVE_INFINITY;
  }
}
