import { Standstill } from '../../core/call/standstill.ts';

/** Below what counts as a standstill by far, so that a busy second is none. */
const TURN_MS = 500;

/** Notices standstills of this process until it is stopped. */
export function watchStandstill(): Standstill & { readonly stop: () => void } {
  const standstill = new Standstill({ monotonic: () => performance.now(), wall: Date.now });
  const timer = setInterval(() => standstill.turn(), TURN_MS).unref();
  return Object.assign(standstill, { stop: () => clearInterval(timer) });
}
