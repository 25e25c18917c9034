import { Standstill } from '../../core/call/standstill.ts';

/** Below what counts as a standstill by far, so that a busy second is none. */
const TURN_MS = 500;

/**
 * Notices standstills of this process until it is stopped.
 *
 * @param isAlone on its store: nobody wrote there while its machine was paused, so a clock that is set forward is none
 */
export function watchStandstill(isAlone: boolean): Standstill & { readonly stop: () => void } {
  const monotonic = () => performance.now();
  const standstill = new Standstill({ monotonic, wall: isAlone ? monotonic : Date.now });
  const timer = setInterval(() => standstill.turn(), TURN_MS).unref();
  return Object.assign(standstill, { stop: () => clearInterval(timer) });
}
