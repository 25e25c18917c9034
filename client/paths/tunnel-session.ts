import { SESSION_AGAIN_MS, SESSION_DOUBT_MS, SESSION_YIELD_MS, waitOf } from './schedule.ts';

export interface SessionFacts {
  /** Last handshake that both sides finished; null before the first. */
  readonly handshakeAt: number | null;
  readonly receivedBytes: number;
}

/** `begin`: WireGuard is to begin a handshake. `renew`: it is to forget the session it has, and begin another. */
export type SessionStart = 'begin' | 'renew';

/** Size of all handshake messages: more than that are packets of a session that works. */
const HANDSHAKE_BYTES = 148 + 92;

/**
 * Tells whether WireGuard has a session with the present tunnel of a peer, and which side begins one.
 *
 * WireGuard keeps sending in a session that the peer lost with its last tunnel, for 15 s; and two handshakes that cross undo
 * each other, for 5 s. So a peer that is proven to have started anew is spoken to in a new session, and one side begins it: the
 * one whose tunnel is new, of two new ones the first by their keys. The other begins when that leads nowhere.
 */
export class TunnelSession {
  readonly #isFirst: boolean;
  /** As the tunnel said it when the peer was found to have started anew; undefined until it is asked. */
  #before: SessionFacts | undefined;
  #isProven = false;
  #isOpen = false;
  /** When this side begins, if it still has to. */
  #beginAt: number | undefined;
  #begins = 0;
  /** The tunnel was asked how it is before anything is begun. */
  #isAsked = false;

  /** `isFirst`: of two new tunnels this side begins. */
  constructor(isFirst: boolean) {
    this.#isFirst = isFirst;
  }

  /** Packets of a session with the peer's present tunnel passed in both directions. */
  get isProven(): boolean {
    return this.#isProven;
  }

  /** A handshake of this side may cross that of the peer. */
  get isYielding(): boolean {
    return this.#isNew && !this.#isProven && !this.#isFirst && this.#begins === 0;
  }

  get deadline(): number {
    return (this.#isAsked ? undefined : this.#beginAt) ?? Number.POSITIVE_INFINITY;
  }

  /** The peer is another process than was known: what was proven is void, and the tunnel is to be asked how it is. */
  restarted(now: number): void {
    this.left();
    this.#before = undefined;
    this.#begins = 0;
    this.#beginAt = undefined;
    if (this.#isOpen) this.opened(now);
  }

  /** The peer's process has ended. */
  left(): void {
    this.#isProven = false;
  }

  /** There is a path to the peer. */
  opened(now: number): void {
    this.#isOpen = true;
    if (this.#isProven || this.#begins > 0) return;
    this.#beginBy(now + (this.#isNew ? this.#turnMs : SESSION_DOUBT_MS));
  }

  /** There is none any more. */
  closed(): void {
    this.#isOpen = false;
    this.#begins = 0;
    this.#beginAt = undefined;
  }

  /** @returns whether the tunnel is to be asked how it is */
  tick(now: number): boolean {
    if (now < this.deadline) return false;
    this.#isAsked = true;
    return true;
  }

  /** Takes the state of the tunnel. @returns the command for it, if any */
  looked(facts: SessionFacts, now: number): SessionStart | undefined {
    this.#isAsked = false;
    if (this.#before === undefined) {
      this.#before = facts;
      // A tunnel without a session has nothing to wait for.
      if (this.#isOpen && this.#isNew) this.#beginBy(now + this.#turnMs);
    }
    if (this.#isProven) return undefined;
    const isDue = this.#beginAt !== undefined && now >= this.#beginAt;
    if (facts.handshakeAt !== this.#before.handshakeAt || (isDue && this.#outlived(facts))) {
      this.#isProven = true;
      this.#beginAt = undefined;
      return undefined;
    }
    if (!isDue) return undefined;
    const start = this.#isNew && this.#begins === 0 ? 'begin' : 'renew';
    this.#beginAt = this.#begins < SESSION_AGAIN_MS.length ? now + this.#againMs : undefined;
    this.#begins += 1;
    return start;
  }

  #beginBy(at: number): void {
    this.#beginAt = Math.min(this.#beginAt ?? Infinity, at);
  }

  /** This side has no session with any tunnel of the peer. */
  get #isNew(): boolean {
    return this.#before?.handshakeAt === null;
  }

  get #turnMs(): number {
    return this.#isFirst ? 0 : SESSION_YIELD_MS;
  }

  /** Unequal for the two sides, so that theirs do not cross again and again. */
  get #againMs(): number {
    return waitOf(SESSION_AGAIN_MS, this.#begins, 0) + this.#turnMs;
  }

  /** The peer's tunnel has outlived its process: packets of the session still come. */
  #outlived({ receivedBytes }: SessionFacts): boolean {
    return !this.#isNew && receivedBytes - (this.#before?.receivedBytes ?? 0) > HANDSHAKE_BYTES;
  }
}
