import type { Endpoint } from '../tunnel/tunnel.ts';
import type { Candidate } from './ice/candidate.ts';
import type { IceRole, LossCause } from './ice/check-message.ts';
import type { IceSession } from './ice/session.ts';
import type { LocalNode } from './local-node.ts';

/** Outcomes of the path. Called in the midst of its methods: note it, and act afterwards. */
interface DirectPathEvents {
  opened(now: number): void;
  /** It is dead, and tried again. */
  lost(now: number): void;
  /** A try ended without a path. */
  exhausted(now: number): void;
  /** Packets have another path. */
  hasOtherPath(): boolean;
}

/** The direct path to one peer, make before break: the path in use stays until a newer session has found its own. */
export class DirectPath {
  readonly #publicKey: string;
  readonly #local: LocalNode;
  readonly #events: DirectPathEvents;
  #session: IceSession | undefined;
  /** The session of the path in use, while a newer one has none. */
  #previous: IceSession | undefined;
  /** The peer was not told yet that the path is lost. */
  #untold: Uint8Array | undefined;
  #isUndersized = false;

  constructor(publicKey: string, local: LocalNode, events: DirectPathEvents) {
    this.#publicKey = publicKey;
    this.#local = local;
    this.#events = events;
  }

  /** The newest. */
  get session(): IceSession | undefined {
    return this.#session;
  }

  /** Where the peer is reached directly; undefined while no path is open. */
  get selected(): Candidate | undefined {
    return this.#session?.selected ?? this.#previous?.selected;
  }

  get roundTripMs(): number | undefined {
    return this.#session?.roundTripMs ?? this.#previous?.roundTripMs;
  }

  /** The direct path loses large packets: the one in use, or one that is not taken because of it. */
  get isUndersized(): boolean {
    return this.selected
      ? (this.#session?.selected ? this.#session : this.#previous)?.isUndersized === true
      : this.#isUndersized;
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
      if (this.#previous) this.#local.sessions.close(this.#previous);
      this.#previous = before;
    } else if (before) this.#local.sessions.close(before);
    const session = this.#local.sessions.open(this.#publicKey, role, tieBreaker, {
      send: ({ address, port }, bytes) => this.#local.emit({ type: 'stun', to: { address, port }, bytes }),
      opened: (now) => this.#opened(session, now),
      lost: (now, cause) => this.#lost(session, cause, now),
      undersized: (foundBy) => this.#undersized(session, foundBy),
      exhausted: (now) => {
        if (session !== this.#session || this.selected) return;
        if (!session.isReached(now)) this.#isUndersized = false;
        this.#events.exhausted(now);
      },
      hasOtherPath: () => this.#events.hasOtherPath(),
    });
    this.#session = session;
    return session;
  }

  /** WireGuard hears the peer from an address. Until a check proves the direction back it is only a hint. */
  hint(endpoint: Endpoint, now: number): void {
    this.#session?.hint(endpoint, now);
  }

  setTraffic(isActive: boolean, now: number): void {
    for (const session of this.#sessions) session.setTraffic(isActive, now);
  }

  /** Something speaks against the path in use. */
  doubt(now: number): void {
    for (const session of this.#sessions) session.doubt(now);
  }

  tick(now: number): void {
    for (const session of this.#sessions) session.tick(now);
  }

  /** This node's session with the relay began. */
  relayReady(): void {
    if (this.#untold) this.#tellLost(this.#untold);
  }

  /** Gives up what is open and what is tried. */
  close(): void {
    this.#untold = undefined;
    this.#isUndersized = false;
    for (const session of this.#sessions) this.#local.sessions.close(session);
    this.#session = undefined;
    this.#previous = undefined;
  }

  get #sessions(): readonly IceSession[] {
    return [this.#session, this.#previous].flatMap((session) => session ?? []);
  }

  /** By the relay; should that be away too, once it is back. */
  #tellLost(bytes: Uint8Array): void {
    const isReady = this.#local.relay.state === 'ready';
    this.#untold = isReady ? undefined : bytes;
    if (isReady) this.#local.emit({ type: 'relay', publicKey: this.#publicKey, bytes });
  }

  #opened(session: IceSession, now: number): void {
    if (session === this.#session && this.#previous) {
      this.#local.sessions.close(this.#previous);
      this.#previous = undefined;
    }
    this.#isUndersized = false;
    this.#events.opened(now);
  }

  /** The peer is told of each try that fails for it: its own large packets may pass. */
  #undersized(session: IceSession, foundBy: 'self' | 'peer'): void {
    if (session === this.#session) this.#isUndersized = true;
    const message = foundBy === 'self' ? session.lostMessage('large-packets') : undefined;
    if (message) this.#tellLost(message);
  }

  #lost(session: IceSession, cause: LossCause, now: number): void {
    const message = session.lostMessage(cause);
    if (session === this.#previous) {
      this.#local.sessions.close(session);
      this.#previous = undefined;
      if (this.#session?.selected) return;
    }
    if (cause === 'large-packets') this.#isUndersized = true;
    if (message) this.#tellLost(message);
    this.#events.lost(now);
  }
}
