import type { Endpoint } from '../../tunnel/tunnel.ts';
import { fractionOf } from '../fraction.ts';
import { type Candidate, priorityOf } from './candidate.ts';
import {
  encodeLost,
  encodeRoleConflict,
  encodeSuccess,
  type IceCredentials,
  type IceMessage,
  type IceRole,
  isSignedWith,
  type LossCause,
} from './check-message.ts';
import { Checks, PACING_MS } from './checks.ts';
import { Consent } from './consent.ts';
import { FullSize } from './full-size.ts';
import { type Remote, Remotes } from './remotes.ts';
import type { IceSessionOptions } from './session-options.ts';

/** A try: long enough for candidates that come late and for both sides to have begun. */
const TRY_MS = 7_000;
/** Better addresses get this long after the first success. */
const NOMINATION_WAIT_MS = 150;
/** A success this old says nothing of now. */
const FRESH_MS = 10_000;

/**
 * ICE between this node and one peer, from one exchange of credentials to the next (RFC 8445, and RFC 7675 for consent). All
 * local candidates of an address family share WireGuard's one socket, so a pair is known by the remote address alone.
 */
export class IceSession {
  readonly number: number;
  readonly local: IceCredentials;
  readonly tieBreaker: bigint;
  readonly #options: IceSessionOptions;
  readonly #remotes: Remotes;
  readonly #checks: Checks;
  #role: IceRole;
  #remote: IceCredentials | undefined;
  #tryUntil: number | undefined;
  #nominateAt: number | undefined;
  #nominee: Remote | undefined;
  #selected: Remote | undefined;
  #consent: Consent | undefined;
  #size: FullSize | undefined;
  /** The peer has no relay: its packets have this path alone. */
  #isOnlyPathOfPeer = false;
  /** A nominating check that is answered once its path has carried a packet of full size. */
  #pending: { readonly remote: Remote; readonly transactionId: Uint8Array } | undefined;

  constructor(options: IceSessionOptions) {
    this.#options = options;
    this.number = options.number;
    this.local = options.local;
    this.tieBreaker = options.tieBreaker;
    this.#role = options.role;
    this.#remotes = new Remotes(options.isUsable);
    this.#checks = new Checks(options);
  }

  get remote(): IceCredentials | undefined {
    return this.#remote;
  }

  /** Where the peer is reached directly; undefined while no path is open. */
  get selected(): Candidate | undefined {
    return this.#selected;
  }

  get roundTripMs(): number | undefined {
    return this.#consent?.roundTripMs;
  }

  /** The path in use loses large packets, and stays in use because there is no other. */
  get isUndersized(): boolean {
    return this.#size?.isLost === true;
  }

  /** An address of the peer answered a check lately. */
  isReached(now: number): boolean {
    return this.#remotes.all.some(({ succeededAt }) => now - succeededAt < FRESH_MS);
  }

  get isTrying(): boolean {
    return this.#tryUntil !== undefined;
  }

  /** For the sentence that says why there is no direct path. */
  get tried(): { readonly addresses: readonly string[]; readonly checks: number } {
    return { addresses: this.#remotes.names, checks: this.#checks.count };
  }

  get deadline(): number {
    return Math.min(
      this.#tryUntil ?? Infinity,
      this.#nominateAt ?? Infinity,
      this.#consent?.deadline ?? Infinity,
      this.#size?.deadline ?? Infinity,
      this.#remote ? this.#remotes.deadline : Infinity,
    );
  }

  /** The other side's credentials. Others than before begin anew. */
  setRemote(remote: IceCredentials): void {
    if (this.#remote !== undefined && this.#remote.ufrag !== remote.ufrag) this.#checks.transactions.forget();
    this.#remote = remote;
  }

  addCandidate(candidate: Candidate, now: number): void {
    const remote = this.#remotes.discover(candidate, this.#selected);
    if (remote?.state === 'waiting' && remote.nextAt === undefined && this.isTrying)
      remote.nextAt = this.#checks.slot(now);
  }

  /** Checks every address of the peer, best first. `delayMs` lets the other side's first packets go before ours. */
  try(now: number, delayMs = 0): void {
    this.#tryUntil = now + delayMs + TRY_MS;
    this.#checks.begin(now + delayMs);
    this.#nominateAt = undefined;
    this.#nominee = undefined;
    this.#pending = undefined;
    for (const remote of this.#remotes.bestFirst) {
      remote.fullAttempts = 0;
      if (remote !== this.#selected) this.#renew(remote, this.#checks.slot(now + delayMs));
    }
  }

  /** WireGuard hears the peer from an address: it is checked, as if a check had come from there. */
  hint({ address, port }: Endpoint, now: number): void {
    const found: Candidate = { address, port, type: 'prflx', priority: priorityOf('prflx', address) };
    const remote = this.#remotes.discover(found, this.#selected);
    if (remote && remote !== this.#selected && now - remote.sentAt >= FRESH_MS) this.#renew(remote, now);
  }

  setTraffic(isActive: boolean, now: number): void {
    const interval = this.#options.consentInterval();
    this.#consent?.setTraffic(isActive, interval, now);
    this.#size?.setTraffic(isActive, interval, now);
  }

  /** Something speaks against the path in use, for instance that this host's addresses changed. */
  doubt(now: number): void {
    this.#consent?.doubt(now);
  }

  /** Message that tells the other side, over the relay, that this side left the direct path. */
  lostMessage(cause: LossCause): Uint8Array | undefined {
    return this.#remote && encodeLost(this.#checks.transactions.newId(), this.local, this.#remote, cause);
  }

  /** Takes a message whose user name or transaction leads here. @returns why it was ignored */
  receive(message: IceMessage, bytes: Uint8Array, from: Endpoint | 'relay', now: number): string | undefined {
    switch (message.kind) {
      case 'check':
        if (from === 'relay') return 'misplaced-check';
        if (!isSignedWith(bytes, this.local.pwd)) return 'unsigned-check';
        if (this.#remote && message.ufrags[1] !== this.#remote.ufrag) return 'stale-check';
        this.#checked(message, from, now);
        return undefined;
      case 'success':
      case 'role-conflict':
        if (from === 'relay') return 'misplaced-answer';
        if (!this.#remote || !isSignedWith(bytes, this.#remote.pwd)) return 'unsigned-answer';
        return this.#answered(message, from, now);
      case 'lost':
        if (from !== 'relay') return 'misplaced-lost';
        if (!isSignedWith(bytes, this.local.pwd)) return 'unsigned-lost';
        if (this.#remote?.ufrag !== message.ufrags[1]) return undefined;
        if (message.cause === 'large-packets') this.#options.events.undersized('peer', now);
        if (this.#selected) this.#lose(now, 'silence');
        return undefined;
      default:
        return message satisfies never;
    }
  }

  tick(now: number): void {
    if (this.#consent && this.#selected) {
      if (this.#consent.isLost(now)) this.#lose(now, 'silence');
      else if (this.#remote && this.#consent.isDue(now)) {
        this.#consent.sent(now);
        this.#checks.send(this.#selected, now, { credentials: this.#remote, role: this.#role, isNominating: false });
      }
    }
    if (this.#size?.isDue(now)) this.#checkSize(this.#size, now);
    if (this.#nominateAt !== undefined && now >= this.#nominateAt) this.#nominate(now);
    if (this.#remote !== undefined) {
      for (const remote of this.#remotes.all) {
        if (remote.nextAt !== undefined && now >= remote.nextAt) this.#next(remote, now);
        if (remote.fullAt !== undefined && now >= remote.fullAt) this.#nextFull(remote, now);
      }
    }
    if (this.#tryUntil === undefined || now < this.#tryUntil) return;
    if (this.#nominee || this.#nominateAt !== undefined) {
      this.#tryUntil = now + NOMINATION_WAIT_MS;
      return;
    }
    this.#tryUntil = undefined;
    this.#remotes.rest();
    if (!this.#selected) this.#options.events.exhausted(now);
  }

  #checked(message: Extract<IceMessage, { kind: 'check' }>, from: Endpoint, now: number): void {
    const { events } = this.#options;
    if (message.role === this.#role) {
      // RFC 8445 section 7.3.1.1: the larger tie breaker controls.
      const wins = this.tieBreaker >= message.tieBreaker;
      if (wins === (this.#role === 'controlling')) {
        events.send(from, encodeRoleConflict(message.transactionId, this.local.pwd));
        return;
      }
      this.#role = wins ? 'controlling' : 'controlled';
    }
    const remote = this.#remotes.discover({ ...from, type: 'prflx', priority: message.priority }, this.#selected);
    // An answer would make the peer use a path that this side does not take.
    if (remote === undefined) return;
    this.#isOnlyPathOfPeer = message.isOnlyPath;
    const isNominated = message.isNominating && this.#role === 'controlled';
    const isAnswered = remote.state === 'succeeded' && now - remote.succeededAt < FRESH_MS;
    if (isNominated) this.#remotes.nominate(remote);
    // The answer opens the path on the other side, and one that loses this side's large packets is not taken.
    if (isNominated && remote !== this.#selected && !this.#carries(remote, now)) {
      this.#pending = { remote, transactionId: message.transactionId };
      if (isAnswered) this.#askFull(remote, now);
    } else {
      this.#answer(message.transactionId, from);
      if (isNominated && isAnswered) {
        this.#select(remote, now);
        return;
      }
    }
    // RFC 8445 section 7.3.1.4: a triggered check, at once.
    if (remote !== this.#selected && !isAnswered) this.#renew(remote, Math.max(now, remote.sentAt + PACING_MS));
  }

  #answered(
    message: Extract<IceMessage, { kind: 'success' | 'role-conflict' }>,
    from: Endpoint,
    now: number,
  ): string | undefined {
    const transaction = this.#checks.transactions.find(message.transactionId);
    if (transaction === undefined) return 'unknown-answer';
    const { remote, sentAt, isNominating, isFull, role } = transaction;
    // RFC 8445 section 7.2.5.2.1: an answer from elsewhere proves no path.
    if (remote.address !== from.address || remote.port !== from.port) return 'answer-from-elsewhere';
    this.#checks.transactions.end(message.transactionId);
    if (isFull) remote.fullAt = undefined;
    if (message.kind === 'role-conflict') {
      if (role === this.#role) this.#role = role === 'controlling' ? 'controlled' : 'controlling';
      this.#renew(remote, now);
      return undefined;
    }
    remote.state = 'succeeded';
    remote.succeededAt = now;
    remote.roundTripMs = now - sentAt;
    if (isFull) {
      remote.carriedAt = now;
      remote.fullAttempts = 0;
    }
    if (remote === this.#selected) {
      this.#consent?.answered(sentAt, now);
      if (isFull) this.#size?.answered(now);
      return undefined;
    }
    const isControlling = this.#role === 'controlling';
    const carries = this.#carries(remote, now);
    const isFinal = isControlling ? isNominating : remote.isNominated && carries;
    // A late answer to an earlier check must not end those that nominate: the try would wait for them forever.
    if (isFinal || remote !== this.#nominee) remote.nextAt = undefined;
    if (isFinal) {
      if (this.#pending?.remote === remote) this.#answer(this.#pending.transactionId, remote);
      this.#select(remote, now);
    } else if (!carries) this.#askFull(remote, now);
    else if (isControlling) this.#consider(remote, now);
    return undefined;
  }

  /** The controlling side found a path: is it the one? */
  #consider(remote: Remote, now: number): void {
    if (this.#selected) {
      // A second path is taken when the first stopped answering: the peer moved.
      if ((this.#consent?.misses ?? 0) >= 2) this.#nominateRemote(remote, now);
      return;
    }
    if (this.#nominee) return;
    if (this.#remotes.isBest(remote)) this.#nominateRemote(remote, now);
    else this.#nominateAt ??= now + NOMINATION_WAIT_MS;
  }

  #nominate(now: number): void {
    this.#nominateAt = undefined;
    if (this.#selected || this.#nominee) return;
    const best = this.#remotes.bestFirst.find((remote) => remote.state === 'succeeded' && this.#carries(remote, now));
    if (best) this.#nominateRemote(best, now);
  }

  #nominateRemote(remote: Remote, now: number): void {
    this.#nominateAt = undefined;
    this.#nominee = remote;
    this.#remotes.nominate(remote);
    this.#renew(remote, now);
    this.#next(remote, now);
  }

  #select(remote: Remote, now: number): void {
    this.#nominee = undefined;
    this.#nominateAt = undefined;
    this.#tryUntil = undefined;
    this.#pending = undefined;
    this.#remotes.rest();
    if (remote === this.#selected) return;
    this.#selected = remote;
    const { consentInterval, random } = this.#options;
    const fraction = () => fractionOf(random);
    this.#consent = new Consent(now, remote.roundTripMs, consentInterval(), fraction);
    this.#size = new FullSize(remote.carriedAt, consentInterval(), fraction);
    this.#options.events.opened(now);
  }

  #lose(now: number, cause: LossCause): void {
    if (this.#selected && cause === 'large-packets') this.#selected.carriedAt = Number.NEGATIVE_INFINITY;
    this.#selected = undefined;
    this.#consent = undefined;
    this.#size = undefined;
    this.#remotes.nominate();
    this.try(now);
    this.#options.events.lost(now, cause);
  }

  #answer(transactionId: Uint8Array, { address, port }: Endpoint): void {
    const answer = encodeSuccess(transactionId, { address, port }, this.local.pwd);
    if (answer) this.#options.events.send({ address, port }, answer);
  }

  /** Large packets pass to this address, or there is no other path for them anyway. */
  #carries(remote: Remote, now: number): boolean {
    return now - remote.carriedAt < FRESH_MS || !this.#hasOtherPath;
  }

  get #hasOtherPath(): boolean {
    return this.#options.hasOtherPath() && !this.#isOnlyPathOfPeer;
  }

  #askFull(remote: Remote, now: number): void {
    if (remote.fullAt === undefined && remote.fullAttempts === 0) remote.fullAt = now;
  }

  /** The next check of full size of an address that may become the path. */
  #nextFull(remote: Remote, now: number): void {
    if (this.#remote === undefined) return;
    const content = { credentials: this.#remote, role: this.#role, isNominating: false };
    if (this.#checks.nextFull(remote, now, content)) return;
    remote.fullAt = undefined;
    this.#fail(remote, now);
    this.#options.events.undersized('self', now);
  }

  /** The same on the path in use. */
  #checkSize(size: FullSize, now: number): void {
    if (!this.#selected || !this.#remote) return;
    if (size.isLost && this.#hasOtherPath) {
      this.#lose(now, 'large-packets');
      return;
    }
    if (size.isDoubtful) this.#consent?.doubt(now);
    size.sent(now, this.#selected.roundTripMs);
    this.#checks.send(this.#selected, now, {
      credentials: this.#remote,
      role: this.#role,
      isNominating: false,
      isFull: true,
    });
  }

  /** The next check of an address, unless it had its share. */
  #next(remote: Remote, now: number): void {
    if (this.#remote === undefined) return;
    const role = this.#role;
    const isNominating = role === 'controlling' && this.#nominee === remote;
    if (this.#checks.next(remote, now, { credentials: this.#remote, role, isNominating })) return;
    this.#fail(remote, now);
  }

  #fail(remote: Remote, now: number): void {
    remote.state = 'failed';
    remote.nextAt = undefined;
    if (this.#nominee !== remote) return;
    this.#nominee = undefined;
    this.#nominate(now);
  }

  #renew(remote: Remote, at: number): void {
    if (remote.state !== 'succeeded' || !this.#nominee) remote.state = 'waiting';
    remote.attempts = 0;
    remote.nextAt = at;
  }
}
