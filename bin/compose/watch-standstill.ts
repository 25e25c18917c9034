import { setTimeout as after, setImmediate as nextTurn } from 'node:timers/promises';
import { Standstill } from '../../core/call/standstill.ts';

/** Below what counts as a standstill by far, so that a busy second is none. */
const TICK_MS = 500;
/** The time within which packets in flight arrive. */
const SETTLE_MS = 1_000;
/** Turns without a new connection: a turn accepts one, and the next turn reads from it. */
const QUIET_TICKS = 2;
/** As many connections as a listening socket has waiting at most: who comes after them connected later. */
const BACKLOG = 512;

export interface StandstillWatch extends Standstill {
  /** Tells of a connection that was accepted. */
  accepted(): void;
  stop(): void;
}

/**
 * Notices standstills of this process until it is stopped. In a cluster a clock of the host that is set forward looks the same:
 * the database alone could tell them apart, and its answer comes after what waited was read.
 *
 * @param isAlone on its store: nobody wrote there while its machine was paused, so a clock that is set forward is none
 */
export function watchStandstill(isAlone: boolean): StandstillWatch {
  const monotonic = () => performance.now();
  const { accepted, allRead } = followBacklog();
  const drained = () => Promise.all([after(SETTLE_MS, undefined, { ref: false }), allRead()]);
  const standstill = new Standstill({ monotonic, wall: isAlone ? monotonic : Date.now }, drained);
  const timer = setInterval(() => standstill.turn(), TICK_MS).unref();
  return Object.assign(standstill, { accepted, stop: () => clearInterval(timer) });
}

/** Follows how a server comes to all that waits: the event loop accepts one connection a turn, and reads on all that it has. */
export function followBacklog() {
  let count = 0;
  return {
    /** Tells of a connection that was accepted. */
    accepted(): void {
      count += 1;
    },
    /** Resolves once all that waited when it was called has been read. */
    async allRead(): Promise<void> {
      const first = count;
      let quiet = 0;
      while (quiet < QUIET_TICKS && count - first <= BACKLOG) {
        const before = count;
        await nextTurn();
        quiet = count === before ? quiet + 1 : 0;
      }
      for (let turn = 0; turn < QUIET_TICKS; turn += 1) await nextTurn();
    },
  };
}
