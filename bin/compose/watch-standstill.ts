import { setTimeout as after, setImmediate as nextTurn } from 'node:timers/promises';
import { Standstill } from '../../core/call/standstill.ts';

/** Below what counts as a standstill by far, so that a busy second is none. */
const TURN_MS = 500;
/** What the network still has on its way arrives within this time. */
const SETTLE_MS = 1_000;
/** What one turn accepts, the next one reads. */
const QUIET_TURNS = 2;
/** As many connections as a listening socket has waiting at most: who comes after them connected later. */
const BACKLOG = 512;

export interface WatchedStandstill extends Standstill {
  /** Tells of a connection that was accepted. */
  accepted(): void;
  stop(): void;
}

/**
 * Notices standstills of this process until it is stopped.
 *
 * @param isAlone on its store: nobody wrote there while its machine was paused, so a clock that is set forward is none
 */
export function watchStandstill(isAlone: boolean): WatchedStandstill {
  const monotonic = () => performance.now();
  let acceptedCount = 0;
  /** The event loop accepts one connection in each turn, and reads what has arrived on all that it has. */
  const allAreRead = async () => {
    const first = acceptedCount;
    let quiet = 0;
    while (quiet < QUIET_TURNS && acceptedCount - first <= BACKLOG) {
      const before = acceptedCount;
      await nextTurn();
      quiet = acceptedCount === before ? quiet + 1 : 0;
    }
    for (let turn = 0; turn < QUIET_TURNS; turn += 1) await nextTurn();
  };
  const drained = () => Promise.all([after(SETTLE_MS, undefined, { ref: false }), allAreRead()]);
  const standstill = new Standstill({ monotonic, wall: isAlone ? monotonic : Date.now }, drained);
  const timer = setInterval(() => standstill.turn(), TURN_MS).unref();
  return Object.assign(standstill, {
    accepted: () => {
      acceptedCount += 1;
    },
    stop: () => clearInterval(timer),
  });
}
