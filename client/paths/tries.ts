import type { FirstCheck } from '../../net/signal/message.ts';
import { ANSWERER_LATER_MS, RETURN_WAITS_MS, SECOND_SIDE_LATER_MS, TRY_WAITS_MS, waitOf } from './schedule.ts';

/** When the direct path is tried again, and who begins to send in each try. */
export class Tries {
  #waits: readonly number[] = TRY_WAITS_MS;
  #count = 0;
  #at: number | undefined;
  #wasLost = false;

  get deadline(): number {
    return this.#at ?? Number.POSITIVE_INFINITY;
  }

  /** A path was open, and none is since. */
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

  /** The peer started anew: no path was ever open to this process. */
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

  /** A try found no path. `fraction`, from 0 to below 1, spreads the next. */
  exhausted(isOfferer: boolean, now: number, fraction: number): void {
    const later = isOfferer ? 0 : ANSWERER_LATER_MS;
    this.#at = now + later + waitOf(this.#waits, this.#count, fraction);
    this.#count += 1;
  }

  /** Order of the next try. Behind a router that notes stray packets only one order works, so tries alternate. */
  get firstCheck(): FirstCheck {
    if (this.#count === 0) return 'both';
    return this.#count % 2 === 1 ? 'answerer' : 'offerer';
  }
}

/** How much later than the other a side begins to send; the OFFER tells both whose check is the first. */
export function laterMs(side: 'offerer' | 'answerer', firstCheck: FirstCheck): number {
  return firstCheck === 'both' || firstCheck === side ? 0 : SECOND_SIDE_LATER_MS;
}
