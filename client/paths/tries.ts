import { ANSWERER_LATER_MS, RETURN_WAITS_MS, SECOND_SIDE_LATER_MS, TRY_WAITS_MS, waitOf } from './schedule.ts';

/** When the direct way is tried again, and who begins to send in each try. */
export class Tries {
  #waits: readonly number[] = TRY_WAITS_MS;
  #count = 0;
  #at: number | undefined;
  #wasLost = false;

  get deadline(): number {
    return this.#at ?? Number.POSITIVE_INFINITY;
  }

  /** A way was open, and none is since. */
  get wasLost(): boolean {
    return this.#wasLost;
  }

  plan(at: number): void {
    this.#at = at;
  }

  cancel(): void {
    this.#at = undefined;
  }

  /** Earlier tries say nothing of the next: something has changed. */
  forget(): void {
    this.#count = 0;
  }

  /** The peer started anew: no way was ever open to this process. */
  restarted(): void {
    this.forget();
    this.#waits = TRY_WAITS_MS;
  }

  opened(): void {
    this.restarted();
    this.cancel();
    this.#wasLost = false;
  }

  lost(): void {
    this.forget();
    this.#waits = RETURN_WAITS_MS;
    this.#wasLost = true;
  }

  /** A try found no way. `fraction`, from 0 to below 1, spreads the next. */
  exhausted(isOfferer: boolean, now: number, fraction: number): void {
    const later = isOfferer ? 0 : ANSWERER_LATER_MS;
    this.#at = now + later + waitOf(this.#waits, this.#count, fraction);
    this.#count += 1;
  }

  /** For the OFFER of the next try: the one drawn, but for what says the order. */
  tieBreaker(drawn: bigint): bigint {
    const order = this.#count === 0 ? 0n : BigInt((this.#count % 2) + 1);
    const ordered = drawn - (drawn % 3n) + order;
    return ordered < 2n ** 64n ? ordered : order;
  }
}

/**
 * How much later than the other a side begins to send. Behind a router that notes stray packets only one order works, so
 * tries alternate; what is left of the OFFER's tie breaker, divided by three, says it to both: 0 together, 1 the OFFER's
 * side first, 2 the other.
 */
export function laterMs(side: 'offerer' | 'answerer', offeredTieBreaker: bigint): number {
  const first = ['both', 'offerer', 'answerer'][Number(offeredTieBreaker % 3n)];
  return first === 'both' || first === side ? 0 : SECOND_SIDE_LATER_MS;
}
