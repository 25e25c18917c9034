import { RELAY_PROBE_WAITS_MS, RELAY_RECHECK_MS, waitOf } from './schedule.ts';

/** Tells whether the relay has one peer, and when to ask again: soon while it has not, rarely while it has. */
export class RelayPresence {
  #isRelayReady = false;
  #isPresent = false;
  /** Answers in a row that the peer is not there. */
  #absences = 0;
  #askAt: number | undefined;
  #heardAt = Number.NEGATIVE_INFINITY;

  /** The relay has the peer, as far as is known. */
  get isPresent(): boolean {
    return this.#isRelayReady && this.#isPresent;
  }

  /** The present process of the peer has sent packets by the relay. */
  get hasCarried(): boolean {
    return this.#heardAt > Number.NEGATIVE_INFINITY;
  }

  get deadline(): number {
    return this.#askAt ?? Number.POSITIVE_INFINITY;
  }

  /** This node's session with the relay began or ended: what is known of the peer is void. */
  relayChanged(isReady: boolean, now: number): void {
    this.#isRelayReady = isReady;
    this.#isPresent = false;
    this.#absences = 0;
    this.#askAt = isReady ? now : undefined;
  }

  /** The relay's answer. `fraction`, from 0 to below 1, spreads the next question. */
  answered(isPresent: boolean, now: number, fraction: number): void {
    this.#isPresent = isPresent;
    this.#absences = isPresent ? 0 : this.#absences + 1;
    const wait = isPresent
      ? waitOf([RELAY_RECHECK_MS], 0, fraction)
      : waitOf(RELAY_PROBE_WAITS_MS, this.#absences - 1, fraction);
    this.#askAt = now + wait;
  }

  /** A packet of the peer came by the relay. @returns whether that is news */
  heard(now: number): boolean {
    this.#heardAt = now;
    if (this.#isPresent) return false;
    this.#isPresent = true;
    this.#absences = 0;
    this.#askAt = now + RELAY_RECHECK_MS;
    return true;
  }

  /** Something speaks for the peer being there. */
  askSoon(at: number): void {
    if (!this.#isRelayReady || this.#isPresent) return;
    this.#absences = 0;
    this.#askAt = Math.min(this.deadline, at);
  }

  /** The peer started anew: what its last process sent proves nothing of this one. */
  restarted(now: number): void {
    this.#heardAt = Number.NEGATIVE_INFINITY;
    if (this.#isRelayReady) this.#askAt = now;
  }

  /** The direct path is gone: whether the relay has the peer counts now. */
  doubt(now: number): void {
    if (this.#isRelayReady) this.#askAt = now;
  }

  /** The peer said that it leaves. */
  left(now: number): void {
    this.#isPresent = false;
    this.askSoon(now + RELAY_PROBE_WAITS_MS[0]);
  }

  /** @returns whether the relay is to be asked now */
  tick(now: number): boolean {
    if (now < this.deadline) return false;
    this.#askAt = undefined;
    if (!this.#isRelayReady) return false;
    if (this.#isPresent && now - this.#heardAt < RELAY_RECHECK_MS) {
      this.#askAt = this.#heardAt + RELAY_RECHECK_MS;
      return false;
    }
    // Should the answer get lost with its session, a new session begins anew.
    this.#askAt = now + RELAY_RECHECK_MS;
    return true;
  }
}
