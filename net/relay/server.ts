import type { KeyPair } from '../seal/x25519.ts';
import type { RelayKeys } from './credential.ts';
import { Directory } from './directory.ts';
import { Forwarder } from './forwarder.ts';
import { halvesOf, peerIdOf } from './frame.ts';
import { Gate } from './gate.ts';
import { type Hello, MAX_HANDSHAKE_PAYLOAD } from './handshake.ts';
import { RELAY_LIMITS, type RelayLimits } from './limits.ts';
import type { Member } from './member.ts';
import { decodeMessage, encodeMessage, isForward, type MessageTo, type RelayMessage } from './message.ts';
import { RelayCounters, type RelayMetrics } from './metrics.ts';
import { PendingHandshakes } from './pending-handshakes.ts';
import type { ByeReason } from './reasons.ts';
import { Revocations } from './revocations.ts';
import { RelaySession, TAKEN_IN } from './session.ts';
import { SessionTimeouts } from './session-timeouts.ts';
import { SlabPool } from './slab-pool.ts';

/** Clients that are told to move come back spread over this time. */
const RESTART_SPREAD_MS = 2_000;
/** Before a client should try again after a limit was reached. */
const LIMIT_RETRY_MS = 5_000;

type ToRelay = MessageTo<'relay'>;
type Revoke = Extract<ToRelay, { readonly type: 'revoke' }>;

export interface RelayServerParts {
  readonly keys: RelayKeys;
  /** Made fresh for each relay process. */
  readonly keyPair: KeyPair;
  readonly random: (bytes: number) => Uint8Array;
  readonly limits?: Partial<RelayLimits>;
  readonly idOf?: (publicKey: Uint8Array) => bigint;
}

/**
 * The relay without its sockets. Bytes and the time go in; what is to be written gathers in each session's outbox, and
 * `takeDirty` names the sessions to look at: one command for each frame would cost more than forwarding it.
 */
export class RelayServer {
  readonly limits: RelayLimits;
  readonly #gate: Gate;
  readonly #random: (bytes: number) => Uint8Array;
  readonly #idOf: (publicKey: Uint8Array) => bigint;
  readonly #pool = new SlabPool();
  readonly #sessions = new Set<RelaySession>();
  readonly #directory = new Directory<RelaySession>();
  readonly #unproven: PendingHandshakes;
  readonly #overdue: SessionTimeouts;
  readonly #revocations: Revocations;
  readonly #counters = new RelayCounters();
  #dirty: RelaySession[] = [];
  readonly #forwarder = new Forwarder(this.#counters, (to) => this.#markDirty(to));
  #draining = false;

  constructor(parts: RelayServerParts) {
    this.limits = { ...RELAY_LIMITS, ...parts.limits };
    this.#random = parts.random;
    this.#idOf = parts.idOf ?? peerIdOf;
    this.#revocations = new Revocations(this.limits.maxRevocations);
    this.#overdue = new SessionTimeouts(this.limits);
    this.#unproven = new PendingHandshakes(this.limits);
    this.#gate = new Gate(parts, this.#revocations, this.limits.tokenSessionMs);
  }

  /** A connection from this address. It may come back already `closing`, and another one may be closing for it. */
  open(source: string, now: number): RelaySession {
    const session = new RelaySession(now, this.#pool, this.limits.queueBytes, MAX_HANDSHAKE_PAYLOAD);
    this.#sessions.add(session);
    this.#counters.opened++;
    if (this.#draining) this.#end(session, 'restart', now);
    else this.#makeRoom(this.#unproven.add(session, source), now);
    return session;
  }

  /** Bytes of a session. The relay rewrites headers in place and keeps nothing of the chunk. */
  receive(session: RelaySession, chunk: Uint8Array, now: number): void {
    if (session.state === 'closing' || session.state === 'closed') return;
    const refusal = session.splitter.push(chunk, (bytes, view, start, end) => {
      if (session.state === 'ready' && isForward(view, start)) {
        this.#forwarder.forward(session, bytes, view, start, end);
        // A frame that came in pieces lies in a buffer that is used again.
        if (bytes !== chunk) this.#forwarder.flush();
        return true;
      }
      const message = decodeMessage('relay', bytes, view, start, end);
      const reason = typeof message === 'string' ? 'protocol' : this.#handle(session, message, now);
      if (reason !== undefined) this.#end(session, reason, now);
      return reason === undefined;
    });
    this.#forwarder.flush();
    session.heardAt = now;
    if (refusal !== undefined) this.#end(session, 'protocol', now);
  }

  /** The socket of a session is gone. */
  close(session: RelaySession): void {
    if (session.state === 'closed') return;
    this.#leave(session);
    session.state = 'closed';
    session.outbox.clear();
    this.#sessions.delete(session);
  }

  /** Ends what took too long. Call about once a second. */
  tick(now: number): void {
    this.#revocations.forgetUntil(now);
    for (const [session, reason] of this.#overdue.find(this.#sessions, now)) this.#end(session, reason, now);
  }

  /** Ends the sessions of a key in one workspace, and refuses it there until its credentials have run out. @returns sessions ended */
  revoke(member: Member, until: number, now: number): number {
    // A key that is kept out already has no session; a control plane that came back names thousands of them.
    const isKnown = this.#revocations.has(member, now);
    this.#revocations.add(member, until);
    if (isKnown) return 0;
    let ended = 0;
    for (const session of this.#sessions) {
      if (session.closing !== undefined || !session.isOf(member)) continue;
      this.#end(session, 'revoked', now);
      ended++;
    }
    return ended;
  }

  /** Takes a revocation back: the key may come in again. */
  allow(member: Member): void {
    this.#revocations.remove(member);
  }

  /** Tells every client to move and takes no new ones. Sessions go on forwarding until their clients leave. */
  drain(): void {
    this.#draining = true;
    for (const session of this.#sessions) {
      if (session.state !== 'ready' && session.state !== 'control') continue;
      const retryAfterMs = Math.floor(((this.#random(1)[0] ?? 0) / 256) * RESTART_SPREAD_MS);
      this.#send(session, { type: 'bye', reason: 'restart', retryAfterMs });
    }
  }

  /** Sessions that have something to write or are closing, each once. */
  takeDirty(): readonly RelaySession[] {
    const dirty = this.#dirty;
    this.#dirty = [];
    for (const session of dirty) session.isDirty = false;
    return dirty;
  }

  metrics(): RelayMetrics {
    return this.#counters.snapshot(this.#sessions);
  }

  /** Every frame but a forward of a ready session: rare, so it may allocate. Answers why the session has to end, if so. */
  #handle(session: RelaySession, message: ToRelay, now: number): ByeReason | undefined {
    if (!TAKEN_IN[message.type].includes(session.state)) return 'protocol';
    switch (message.type) {
      case 'hello':
        return this.#hello(session, message.hello, now);
      case 'proof':
        return this.#proof(session, message.macs, now);
      case 'keepalive':
        this.#send(session, { type: 'keepalive-reply' });
        return undefined;
      case 'keepalive-reply':
        return undefined;
      case 'probe': {
        const { peer, echo } = message;
        const { high, low } = halvesOf(peer);
        const isPresent = session.workspace?.find(high, low) !== undefined;
        this.#send(session, { type: 'probe-reply', peer, isPresent, echo });
        return undefined;
      }
      case 'renew':
        return this.#renew(session, message.credential, now);
      case 'revoke':
        return this.#takeRevocation(session, message, now);
      case 'bye':
        return 'normal';
      case 'forward':
        return 'protocol';
      default:
        return message satisfies never;
    }
  }

  #hello(session: RelaySession, hello: Hello, now: number): ByeReason | undefined {
    const claim = this.#gate.hello(hello, now);
    if (typeof claim === 'string') return claim;
    session.claim = claim;
    session.state = 'proof';
    if (claim.hello.mode === 'credential') {
      this.#makeRoom(this.#unproven.showedCredential(session, claim.hello.publicKey), now);
    }
    this.#send(session, { type: 'challenge', challenge: claim.challenge });
    return undefined;
  }

  #proof(session: RelaySession, macs: Uint8Array, now: number): ByeReason | undefined {
    const { claim } = session;
    if (claim === undefined) return 'protocol';
    const refusal = this.#gate.proof(claim, macs, now);
    if (refusal !== undefined) return refusal;
    session.claim = undefined;
    session.expiresAt = claim.expiresAt;
    if (claim.member !== undefined) return this.#join(session, claim.member, now);
    this.#unproven.remove(session);
    session.state = 'control';
    this.#welcome(session);
    return undefined;
  }

  /** Only here, after proof, may a session take the place of another. */
  #join(session: RelaySession, member: Member, now: number): ByeReason | undefined {
    session.id = this.#idOf(member.publicKey);
    const present = this.#directory.find(member.workspace, session);
    if (present !== undefined && !present.isOf(member)) return 'collision';
    if (present !== undefined) this.#end(present, 'replaced', now);
    if (this.#directory.size >= this.limits.maxSessions) return 'limit';
    this.#unproven.remove(session);
    session.member = member;
    this.#directory.add(member.workspace, session);
    session.state = 'ready';
    session.splitter.maxPayload = this.limits.maxPayload;
    this.#counters.joined++;
    this.#welcome(session);
    return undefined;
  }

  #welcome(session: RelaySession): void {
    const { keepaliveMs, deadMs, maxPayload } = this.limits;
    const { id: peer, expiresAt } = session;
    this.#send(session, { type: 'ready', peer, keepaliveMs, deadMs, maxPayload, expiresAt });
  }

  #renew(session: RelaySession, credential: Uint8Array, now: number): ByeReason | undefined {
    if (session.member === undefined) return 'protocol';
    const expiresAt = this.#gate.renew(session.member, credential, now);
    if (typeof expiresAt === 'string') return expiresAt;
    session.expiresAt = Math.max(session.expiresAt, expiresAt);
    this.#welcome(session);
    return undefined;
  }

  #takeRevocation(session: RelaySession, { member, until }: Revoke, now: number): undefined {
    if (until === 0) this.allow(member);
    else this.revoke(member, until, now);
    this.#send(session, { type: 'revoke-reply', publicKey: member.publicKey });
  }

  /** A frame of the relay's own. Like any other it is dropped when the receiver does not read. */
  #send(session: RelaySession, message: RelayMessage): void {
    this.#forwarder.flush();
    const frame = encodeMessage(message);
    if (!session.outbox.hasRoom(frame.length)) {
      this.#counters.dropped['queue-full']++;
      return;
    }
    session.outbox.add(frame);
    this.#markDirty(session);
  }

  #end(session: RelaySession, reason: ByeReason, now: number): void {
    if (session.closing !== undefined || session.state === 'closed') return;
    this.#leave(session);
    this.#forwarder.flush();
    const retryAfterMs = reason === 'limit' || reason === 'restart' ? LIMIT_RETRY_MS : 0;
    // Past the cap if need be: it is the last frame and a small one.
    session.outbox.add(encodeMessage({ type: 'bye', reason, retryAfterMs }));
    session.closing = { reason, at: now };
    session.state = 'closing';
    this.#counters.ended[reason]++;
    this.#markDirty(session);
  }

  #leave(session: RelaySession): void {
    this.#unproven.remove(session);
    this.#directory.remove(session);
  }

  #makeRoom(crowdedOut: RelaySession | undefined, now: number): void {
    if (crowdedOut !== undefined) this.#end(crowdedOut, 'limit', now);
  }

  #markDirty(session: RelaySession): void {
    if (session.isDirty) return;
    session.isDirty = true;
    this.#dirty.push(session);
  }
}
