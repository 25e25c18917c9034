import type { RelayLimits } from './limits.ts';
import type { ByeReason } from './reasons.ts';
import type { RelaySession } from './session.ts';

/** Ticks come every second; a gap above this is no slow tick but a clock that jumped. */
const MAX_TICK_GAP_MS = 10_000;

/** Finds the sessions that took too long, by a clock that may jump. */
export class SessionTimeouts {
  readonly #limits: RelayLimits;
  #tickedAt: number | undefined;

  constructor(limits: RelayLimits) {
    this.#limits = limits;
  }

  *find(sessions: Iterable<RelaySession>, now: number): Generator<readonly [RelaySession, ByeReason]> {
    const unseen = this.#unseenMs(now);
    for (const session of sessions) {
      // Never in the future: a clock that was set back would make a session immortal.
      session.openedAt = Math.min(now, session.openedAt + unseen);
      session.heardAt = Math.min(now, session.heardAt + unseen);
      const reason = session.closing === undefined ? this.#reasonOf(session, now) : undefined;
      if (reason !== undefined) yield [session, reason];
    }
  }

  #reasonOf({ isHandshaking, openedAt, heardAt, expiresAt }: RelaySession, now: number): ByeReason | undefined {
    if (isHandshaking) return now - openedAt >= this.#limits.handshakeMs ? 'handshake-timeout' : undefined;
    if (now - heardAt >= this.#limits.deadMs) return 'silent';
    return now >= expiresAt ? 'credential-expired' : undefined;
  }

  /** Time that nobody lived through: the clock was set forward, or the machine slept. It counts as nobody's silence. */
  #unseenMs(now: number): number {
    const passed = now - (this.#tickedAt ?? now);
    this.#tickedAt = now;
    return passed > MAX_TICK_GAP_MS ? passed : 0;
  }
}
