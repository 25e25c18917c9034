/** Unanswered checks after which a path is lost. */
const MISSES = 4;
/** The least time the last of them is given; more on slow paths. */
const LAST_MISS_MS = 100;
/** A path without traffic is looked at this often; each wait is drawn anew, so that many peers spread. */
const IDLE_MIN_MS = 15_000;
const IDLE_MAX_MS = 25_000;
/** Between checks of a path that something speaks against. */
const DOUBT_MS = 75;
/** How long an idle path's check may take before more follow fast. */
const IDLE_PATIENCE_MS = 500;
/** Enough for a second of round trip; what is sent beyond is not remembered one by one. */
const MAX_OUTSTANDING = 16;

/** Tells whether the other side still answers on the path in use (RFC 7675), asked often under traffic and rarely without. */
export class Consent {
  roundTripMs: number;
  readonly #random: () => number;
  #isActive = false;
  #isDoubted = false;
  #interval: number;
  #nextAt: number;
  /** When the checks that came after the last answered one were sent. */
  #outstanding: number[] = [];

  /** `interval` is that under traffic. `random` gives numbers from 0 to below 1. */
  constructor(now: number, roundTripMs: number, interval: number, random: () => number) {
    this.roundTripMs = roundTripMs;
    this.#interval = interval;
    this.#random = random;
    // Both sides have only just begun: the first check is soon.
    this.#nextAt = now + interval;
  }

  get misses(): number {
    return this.#outstanding.length;
  }

  /** When there is something to do next. */
  get deadline(): number {
    return Math.min(this.#nextAt, this.#lostAt);
  }

  isDue(now: number): boolean {
    return now >= this.#nextAt;
  }

  isLost(now: number): boolean {
    return now >= this.#lostAt;
  }

  sent(now: number): void {
    const isFirst = this.#outstanding.length === 0;
    if (this.#outstanding.length < MAX_OUTSTANDING) this.#outstanding.push(now);
    const isPatient = isFirst && !this.#isActive;
    const patience = isPatient ? Math.max(IDLE_PATIENCE_MS, 2 * this.roundTripMs) : this.#interval;
    this.#nextAt = now + (this.#isDoubted ? DOUBT_MS : patience);
  }

  /** The check that was sent then was answered. */
  answered(sentAt: number, now: number): void {
    this.#isDoubted = false;
    this.roundTripMs = (this.roundTripMs * 3 + (now - sentAt)) / 4;
    if (this.#isActive) this.#outstanding = this.#outstanding.filter((at) => at > sentAt);
    else {
      // Forget the other requests: their late answers would keep a slow path from ever being idle.
      this.#outstanding = [];
      this.#nextAt = now + IDLE_MIN_MS + this.#random() * (IDLE_MAX_MS - IDLE_MIN_MS);
    }
  }

  setTraffic(isActive: boolean, interval: number, now: number): void {
    this.#interval = interval;
    if (isActive && !this.#isActive) this.#nextAt = Math.min(this.#nextAt, now);
    this.#isActive = isActive;
  }

  /** Something speaks against the path: it is asked now, and soon given up. */
  doubt(now: number): void {
    this.#isDoubted = true;
    this.#nextAt = Math.min(this.#nextAt, now);
  }

  get #lostAt(): number {
    const last = this.#outstanding[MISSES - 1] ?? Number.POSITIVE_INFINITY;
    return last + Math.max(LAST_MISS_MS, 1.5 * this.roundTripMs);
  }
}
