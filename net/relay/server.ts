import type { KeyPair } from '../seal/x25519.ts';
import type { RelayKeys } from './credential.ts';
import { Directory } from './directory.ts';
import { encodeFrame, FLAG_REPLY, FRAME_TYPES, HEADER_BYTES, peerIdOf, viewOf } from './frame.ts';
import { Gate } from './gate.ts';
import { encodeBye, encodeReady, MAX_HANDSHAKE_PAYLOAD } from './handshake.ts';
import { RELAY_LIMITS, type RelayLimits } from './limits.ts';
import { RelayCounters, type RelayMetrics } from './metrics.ts';
import { Overdue } from './overdue.ts';
import type { ByeReason } from './reasons.ts';
import { decodeMember, MEMBER_BYTES, type Member, Revocations } from './revocations.ts';
import { RelaySession } from './session.ts';
import { SlabPool } from './slab-pool.ts';
import { Span } from './span.ts';
import { Unproven } from './unproven.ts';

const NO_PAYLOAD = new Uint8Array(0);
/** A probe carries at most a time stamp and a number. */
const MAX_PROBE_PAYLOAD = 64;
/** Clients that are told to move come back spread over this time. */
const RESTART_SPREAD_MS = 2_000;
/** Before a client should try again after a limit was reached. */
const LIMIT_RETRY_MS = 5_000;

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
  readonly #directory = new Directory();
  readonly #unproven: Unproven;
  readonly #overdue: Overdue;
  readonly #revocations: Revocations;
  readonly #counters = new RelayCounters();
  #dirty: RelaySession[] = [];
  readonly #span = new Span();
  #draining = false;

  constructor(parts: RelayServerParts) {
    this.limits = { ...RELAY_LIMITS, ...parts.limits };
    this.#random = parts.random;
    this.#idOf = parts.idOf ?? peerIdOf;
    this.#revocations = new Revocations(this.limits.maxRevocations);
    this.#overdue = new Overdue(this.limits);
    this.#unproven = new Unproven(this.limits);
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
      if (session.state === 'ready' && view.getUint8(start + 1) === FRAME_TYPES.forward) {
        this.#forward(session, bytes, view, start, end);
        // A frame that came in pieces lies in a buffer that is used again.
        if (bytes !== chunk) this.#flushSpan();
        return true;
      }
      const reason = this.#handle(session, view, start, bytes.subarray(start + HEADER_BYTES, end), now);
      if (reason !== undefined) this.#end(session, reason, now);
      return reason === undefined;
    });
    this.#flushSpan();
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
      if (session.closing !== undefined || !isOf(session, member)) continue;
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
      this.#send(session, encodeFrame('bye', 0n, encodeBye({ reason: 'restart', retryAfterMs })));
    }
  }

  /** Sessions that have something to write or are closing, each once. */
  takeDirty(): readonly RelaySession[] {
    const dirty = this.#dirty;
    this.#dirty = [];
    for (const session of dirty) session.isDirty = false;
    return dirty;
  }

  get sessionCount(): number {
    return this.#sessions.size;
  }

  metrics(): RelayMetrics {
    let ready = 0;
    let queuedBytes = 0;
    for (const session of this.#sessions) {
      if (session.state === 'ready') ready++;
      queuedBytes += session.outbox.queuedBytes;
    }
    return this.#counters.snapshot({ sessions: this.#sessions.size, ready, queuedBytes });
  }

  #forward(from: RelaySession, bytes: Uint8Array, view: DataView, start: number, end: number): void {
    const high = view.getUint32(start + 8);
    const low = view.getUint32(start + 12);
    const span = this.#span;
    const last = span.to;
    const isSame = last !== undefined && last.idLow === low && last.idHigh === high;
    const to = isSame ? last : from.workspace?.find(high, low);
    if (to === undefined) {
      this.#counters.dropped['unknown-peer']++;
      return;
    }
    if (to === from) {
      this.#counters.dropped['to-self']++;
      return;
    }
    const length = end - start;
    const pending = isSame ? span.end - span.start : 0;
    if (!to.outbox.hasRoom(pending + length)) {
      this.#counters.dropped['queue-full']++;
      return;
    }
    view.setUint32(start + 8, from.idHigh);
    view.setUint32(start + 12, from.idLow);
    this.#counters.forwardedFrames++;
    this.#counters.forwardedBytes += length - HEADER_BYTES;
    if (isSame && span.end === start && span.bytes === bytes) {
      span.end = end;
      return;
    }
    this.#flushSpan();
    span.begin(to, bytes, start, end);
  }

  #flushSpan(): void {
    const to = this.#span.flush();
    if (to !== undefined) this.#markDirty(to);
  }

  /** Every frame but a forward: rare, so it may allocate. Answers why the session has to end, if it has to. */
  #handle(
    session: RelaySession,
    view: DataView,
    start: number,
    payload: Uint8Array,
    now: number,
  ): ByeReason | undefined {
    const type = view.getUint8(start + 1);
    const isReply = (view.getUint16(start + 2) & FLAG_REPLY) !== 0;
    switch (session.state) {
      case 'hello':
        return type === FRAME_TYPES.hello ? this.#hello(session, payload, now) : 'protocol';
      case 'proof':
        return type === FRAME_TYPES.proof ? this.#proof(session, payload, now) : 'protocol';
      case 'ready':
        if (type === FRAME_TYPES.keepalive) return this.#keepalive(session, isReply);
        if (type === FRAME_TYPES.probe && !isReply) return this.#probe(session, view, start, payload);
        if (type === FRAME_TYPES.renew) return this.#renew(session, payload, now);
        return type === FRAME_TYPES.bye ? 'normal' : 'protocol';
      case 'control':
        if (type === FRAME_TYPES.keepalive) return this.#keepalive(session, isReply);
        if (type === FRAME_TYPES.revoke) return this.#takeRevocation(session, payload, now);
        return type === FRAME_TYPES.bye ? 'normal' : 'protocol';
      case 'closing':
      case 'closed':
        return 'protocol';
      default:
        return session.state satisfies never;
    }
  }

  #hello(session: RelaySession, payload: Uint8Array, now: number): ByeReason | undefined {
    const claim = this.#gate.hello(payload, now);
    if (typeof claim === 'string') return claim;
    session.claim = claim;
    session.state = 'proof';
    if (claim.hello.mode === 'credential') {
      this.#makeRoom(this.#unproven.showedCredential(session, claim.hello.publicKey), now);
    }
    this.#send(session, encodeFrame('challenge', 0n, claim.challenge));
    return undefined;
  }

  #proof(session: RelaySession, payload: Uint8Array, now: number): ByeReason | undefined {
    const { claim } = session;
    if (claim === undefined) return 'protocol';
    const refusal = this.#gate.proof(claim, payload, now);
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
  #join(session: RelaySession, { publicKey, workspace }: Member, now: number): ByeReason | undefined {
    session.id = this.#idOf(publicKey);
    const present = this.#directory.find(workspace, session);
    if (present?.publicKey !== undefined && Buffer.compare(present.publicKey, publicKey) !== 0) return 'collision';
    if (present !== undefined) this.#end(present, 'replaced', now);
    if (this.#directory.size >= this.limits.maxSessions) return 'limit';
    this.#unproven.remove(session);
    session.publicKey = publicKey;
    session.workspaceTag = workspace;
    this.#directory.add(workspace, session);
    session.state = 'ready';
    session.splitter.maxPayload = this.limits.maxPayload;
    this.#counters.joined++;
    this.#welcome(session);
    return undefined;
  }

  #welcome(session: RelaySession): void {
    const { keepaliveMs, deadMs, maxPayload } = this.limits;
    const ready = encodeReady({ keepaliveMs, deadMs, maxPayload, expiresAt: session.expiresAt });
    this.#send(session, encodeFrame('ready', session.id, ready));
  }

  #keepalive(session: RelaySession, isReply: boolean): undefined {
    if (!isReply) this.#send(session, encodeFrame('keepalive', 0n, NO_PAYLOAD, FLAG_REPLY));
  }

  #probe(session: RelaySession, view: DataView, start: number, payload: Uint8Array): ByeReason | undefined {
    if (payload.length > MAX_PROBE_PAYLOAD) return 'protocol';
    const isPresent = session.workspace?.find(view.getUint32(start + 8), view.getUint32(start + 12)) !== undefined;
    const answer = Buffer.concat([Uint8Array.of(isPresent ? 1 : 0), payload]);
    this.#send(session, encodeFrame('probe', view.getBigUint64(start + 8), answer, FLAG_REPLY));
    return undefined;
  }

  #renew(session: RelaySession, payload: Uint8Array, now: number): ByeReason | undefined {
    const { publicKey, workspaceTag } = session;
    if (publicKey === undefined || workspaceTag === undefined) return 'protocol';
    const grant = this.#gate.grant(payload, publicKey, now);
    if (typeof grant === 'string') return grant;
    if (Buffer.compare(grant.workspace, workspaceTag) !== 0) return 'bad-credential';
    session.expiresAt = Math.max(session.expiresAt, grant.expiresAt);
    this.#welcome(session);
    return undefined;
  }

  #takeRevocation(session: RelaySession, payload: Uint8Array, now: number): ByeReason | undefined {
    if (payload.length !== MEMBER_BYTES + 8) return 'protocol';
    const member = decodeMember(payload);
    const until = Number(viewOf(payload).getBigUint64(MEMBER_BYTES));
    if (until === 0) this.allow(member);
    else this.revoke(member, until, now);
    this.#send(session, encodeFrame('revoke', 0n, member.publicKey, FLAG_REPLY));
    return undefined;
  }

  /** A frame of the relay's own. Like any other it is dropped when the receiver does not read. */
  #send(session: RelaySession, frame: Uint8Array): void {
    this.#flushSpan();
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
    this.#flushSpan();
    const retryAfterMs = reason === 'limit' || reason === 'restart' ? LIMIT_RETRY_MS : 0;
    const bye = encodeFrame('bye', 0n, encodeBye({ reason, retryAfterMs }));
    // Past the cap if need be: it is the last frame and a small one.
    session.outbox.add(bye);
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

function isOf({ publicKey, workspaceTag }: RelaySession, member: Member): boolean {
  if (publicKey === undefined || workspaceTag === undefined) return false;
  return Buffer.compare(publicKey, member.publicKey) === 0 && Buffer.compare(workspaceTag, member.workspace) === 0;
}
