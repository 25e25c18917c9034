/** Checks of full size in a row that stay unanswered before large packets count as lost. */
export const FULL_TRIES = 6;
const AGAIN_MS = 250;
/** Under traffic there is one check for so many of consent: with 200 ms each 3 s, and 1.5 s more until the path is left. */
const CONSENTS_PER_CHECK = 15;
/** Without traffic nothing is lost: a path is checked again when its traffic begins. */
const IDLE_MS = 300_000;

/** Returns how long check number `attempts` of a row may take: the last one has time for its answer on slow paths, too. */
export function fullWaitMs(attempts: number, roundTripMs: number): number {
  return attempts < FULL_TRIES ? AGAIN_MS : Math.max(AGAIN_MS, 1.5 * roundTripMs);
}

/** Tracks by padded checks whether the selected path carries full-size packets. */
export class FullSize {
  readonly #random: () => number;
  #isActive = false;
  #interval: number;
  #unanswered = 0;
  #answeredAt: number;
  #nextAt: number;

  /**
   * @param answeredAt when a check of full size was answered last; -Infinity: never
   * @param interval of consent under traffic, in milliseconds
   * @param random gives numbers from 0 to below 1
   */
  constructor(answeredAt: number, interval: number, random: () => number) {
    this.#interval = interval;
    this.#random = random;
    this.#answeredAt = answeredAt;
    this.#nextAt = answeredAt + this.#period;
  }

  /** Large packets are lost, as far as the last checks say. */
  get isLost(): boolean {
    return this.#unanswered >= FULL_TRIES;
  }

  /** The first check without traffic stays unanswered: consent, which is asked rarely then, can tell why. */
  get isDoubtful(): boolean {
    return !this.#isActive && this.#unanswered === 1;
  }

  get deadline(): number {
    return this.#nextAt;
  }

  isDue(now: number): boolean {
    return now >= this.#nextAt;
  }

  sent(now: number, roundTripMs: number): void {
    // Where no other path is, a path that loses them stays in use and is asked as if it did not.
    if (this.isLost) this.#nextAt = now + this.#period;
    else {
      this.#unanswered += 1;
      this.#nextAt = now + fullWaitMs(this.#unanswered, roundTripMs);
    }
  }

  answered(now: number): void {
    this.#unanswered = 0;
    this.#answeredAt = now;
    this.#nextAt = now + this.#period;
  }

  setTraffic(isActive: boolean, interval: number, now: number): void {
    this.#interval = interval;
    if (isActive === this.#isActive) return;
    this.#isActive = isActive;
    if (this.#unanswered === 0) this.#nextAt = Math.max(now, this.#answeredAt + this.#period);
  }

  get #period(): number {
    return this.#isActive ? this.#interval * CONSENTS_PER_CHECK : IDLE_MS * (1 + this.#random() / 4);
  }
}
