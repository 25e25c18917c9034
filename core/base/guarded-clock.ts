import type { Clock } from './ports.ts';

/** The sources of a guarded clock; both in milliseconds. */
export interface TimeSources {
  /** The clock of the host, since the epoch: it may be set to anything at any time. */
  wall(): number;
  /** Since an instant of no meaning: it never goes back, and stands still while the host sleeps. */
  monotonic(): number;
}

type Wall = TimeSources['wall'];

/** The wall clock went another way than the time that passed. */
export interface ClockStep {
  readonly direction: 'forward' | 'back';
  readonly ms: number;
  /** Lead of the guarded clock over the wall clock from here on. */
  readonly aheadMs: number;
}

/** Smaller differences between two readings come from a clock that is steered, not one that was set. */
const STEP_MS = 1_000;
/** Ahead of the wall clock it runs at half speed, until the wall clock has caught up. */
const SLOWED = 0.5;

/**
 * A clock that never goes back. It shows the wall clock; where that was set back it runs on from where it was, at half
 * speed, until the two meet, so that what expired stays expired and order by time is order by revision. Set forward, or
 * after a sleep of the host, it follows at once: what ended meanwhile has ended (docs/operating.md#the-clock).
 */
export class GuardedClock implements Clock {
  readonly #sources: TimeSources;
  /** Told of each step, once. */
  onStep: (step: ClockStep) => void = () => undefined;
  readonly #steps = { forward: 0, back: 0 };
  /** The wall clock of the host, unless {@link goBy} sets another one. */
  #wallNow: Wall;
  #shown: number;
  #wall: number;
  #monotonic: number;

  constructor(sources: TimeSources) {
    this.#sources = sources;
    this.#wallNow = sources.wall;
    this.#wall = sources.wall();
    this.#monotonic = sources.monotonic();
    this.#shown = this.#wall;
  }

  /** Shows another wall clock than that of the host: from the beginning, so that what they differ by is no step. */
  goBy(wall: Wall): void {
    this.#wallNow = wall;
    this.#wall = wall();
    this.#shown = this.#wall;
    this.#monotonic = this.#sources.monotonic();
  }

  /** Goes on from an instant that was shown before this start; one that is past already changes nothing. */
  startFrom(instant: number): void {
    const ms = instant - this.now();
    if (ms <= 0) return;
    this.#shown = instant;
    if (ms >= STEP_MS) this.#tell('back', ms);
  }

  now(): number {
    const [wall, monotonic] = [this.#wallNow(), this.#sources.monotonic()];
    const passed = Math.max(0, monotonic - this.#monotonic);
    const step = wall - this.#wall - passed;
    this.#shown = Math.max(wall, this.#shown + passed * SLOWED);
    this.#wall = wall;
    this.#monotonic = monotonic;
    if (Math.abs(step) >= STEP_MS) this.#tell(step > 0 ? 'forward' : 'back', Math.round(Math.abs(step)));
    return Math.floor(this.#shown);
  }

  /** How far it is ahead of the wall clock, ms; 0 while it shows that. */
  get aheadMs(): number {
    return Math.max(0, this.now() - this.#wall);
  }

  /** How far the clock of the host is from the wall clock that it goes by, ms; 0 where that is the one of the host. */
  get hostAheadMs(): number {
    return this.#wallNow === this.#sources.wall ? 0 : this.#sources.wall() - this.#wallNow();
  }

  /** Steps of the wall clock since the start. */
  get steps(): { readonly forward: number; readonly back: number } {
    return this.#steps;
  }

  #tell(direction: ClockStep['direction'], ms: number): void {
    this.#steps[direction] += 1;
    this.onStep({ direction, ms, aheadMs: Math.max(0, Math.floor(this.#shown) - this.#wall) });
  }
}
