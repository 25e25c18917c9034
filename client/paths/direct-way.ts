import type { Endpoint } from '../tunnel/tunnel.ts';
import type { Candidate } from './ice/candidate.ts';
import type { IceRole } from './ice/check-message.ts';
import type { IceSession } from './ice/session.ts';
import type { Surroundings } from './surroundings.ts';

/** What becomes of the way. Called in the midst of its methods: note it, and act afterwards. */
interface DirectWayEvents {
  opened(now: number): void;
  /** It is dead, and tried again. */
  lost(): void;
  /** A try ended without a way. */
  exhausted(now: number): void;
}

/** The direct way to one peer, make before break: the way in use stays until a newer session has found its own. */
export class DirectWay {
  readonly #publicKey: string;
  readonly #around: Surroundings;
  readonly #events: DirectWayEvents;
  #session: IceSession | undefined;
  /** The session of the way in use, while a newer one has none. */
  #previous: IceSession | undefined;

  constructor(publicKey: string, around: Surroundings, events: DirectWayEvents) {
    this.#publicKey = publicKey;
    this.#around = around;
    this.#events = events;
  }

  /** The newest. */
  get session(): IceSession | undefined {
    return this.#session;
  }

  /** Where the peer is reached directly; undefined while no way is open. */
  get selected(): Candidate | undefined {
    return this.#session?.selected ?? this.#previous?.selected;
  }

  get roundTripMs(): number | undefined {
    return this.#session?.roundTripMs ?? this.#previous?.roundTripMs;
  }

  /** Open, or being tried. */
  get isAtWork(): boolean {
    return this.selected !== undefined || this.#session?.isTrying === true;
  }

  get deadline(): number {
    return Math.min(this.#session?.deadline ?? Infinity, this.#previous?.deadline ?? Infinity);
  }

  /** Begins with new credentials. */
  renew(role: IceRole, tieBreaker: bigint): IceSession {
    const before = this.#session;
    if (before?.selected) {
      if (this.#previous) this.#around.sessions.close(this.#previous);
      this.#previous = before;
    } else if (before) this.#around.sessions.close(before);
    const session = this.#around.sessions.open(this.#publicKey, role, tieBreaker, {
      send: ({ address, port }, bytes) => this.#around.emit({ type: 'stun', to: { address, port }, bytes }),
      opened: (now) => this.#opened(session, now),
      lost: () => this.#lost(session),
      exhausted: (now) => {
        if (session === this.#session && !this.selected) this.#events.exhausted(now);
      },
    });
    this.#session = session;
    return session;
  }

  /** WireGuard hears the peer from an address. Until a check proves the way back it is only a hint. */
  hint(endpoint: Endpoint, now: number): void {
    this.#session?.hint(endpoint, now);
  }

  setTraffic(isActive: boolean, now: number): void {
    for (const session of this.#sessions) session.setTraffic(isActive, now);
  }

  /** Something speaks against the way in use. */
  doubt(now: number): void {
    for (const session of this.#sessions) session.doubt(now);
  }

  tick(now: number): void {
    for (const session of this.#sessions) session.tick(now);
  }

  /** Gives up what is open and what is tried. */
  close(): void {
    for (const session of this.#sessions) this.#around.sessions.close(session);
    this.#session = undefined;
    this.#previous = undefined;
  }

  get #sessions(): readonly IceSession[] {
    return [this.#session, this.#previous].flatMap((session) => session ?? []);
  }

  #opened(session: IceSession, now: number): void {
    if (session === this.#session && this.#previous) {
      this.#around.sessions.close(this.#previous);
      this.#previous = undefined;
    }
    this.#events.opened(now);
  }

  #lost(session: IceSession): void {
    const message = session.lostMessage();
    if (session === this.#previous) {
      this.#around.sessions.close(session);
      this.#previous = undefined;
      if (this.#session?.selected) return;
    }
    if (message) this.#around.emit({ type: 'relay', publicKey: this.#publicKey, bytes: message });
    this.#events.lost();
  }
}
