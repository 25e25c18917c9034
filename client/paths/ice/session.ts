import type { Endpoint } from '../../tunnel/tunnel.ts';
import { type Candidate, priorityOf } from './candidate.ts';
import {
  encodeCheck,
  encodeLost,
  encodeRoleConflict,
  encodeSuccess,
  type IceCredentials,
  type IceMessage,
  type IceRole,
  isSignedWith,
} from './check-message.ts';
import { Consent } from './consent.ts';
import type { Pacer } from './pacer.ts';
import { type Remote, Remotes } from './remotes.ts';
import { Transactions } from './transactions.ts';

/** RFC 8445 section 14.2: between the first checks of one session. */
const PACING_MS = 50;
/** Waits after each check of an address; its check has failed when the last of them is over. */
const CHECK_WAITS_MS = [200, 300, 500, 800, 1_000, 1_000, 1_000, 1_000] as const;
/** A try: long enough for candidates that come late and for both sides to have begun. */
const TRY_MS = 7_000;
/** Better addresses get this long after the first success. */
const NOMINATION_WAIT_MS = 150;
/** A success this old says nothing of now. */
const FRESH_MS = 10_000;

/** What happens in a session. Called in the midst of its methods: note it, and act afterwards. */
export interface IceEvents {
  send(to: Endpoint, bytes: Uint8Array): void;
  /** Both directions of this way are proven and both sides want it. Again when the way changes. */
  opened(now: number): void;
  /** The way in use is dead. The session goes on trying. */
  lost(): void;
  /** A try ended without a way. */
  exhausted(now: number): void;
}

export interface IceSessionOptions {
  /** Marks the session's transactions; unique among those alive. */
  readonly number: number;
  readonly role: IceRole;
  readonly local: IceCredentials;
  readonly tieBreaker: bigint;
  readonly random: (bytes: number) => Uint8Array;
  readonly pacer: Pacer;
  /** Milliseconds between checks of consent under traffic. */
  readonly consentInterval: () => number;
  readonly isUsable: (endpoint: Endpoint) => boolean;
  readonly events: IceEvents;
}

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
  readonly #transactions: Transactions;
  #role: IceRole;
  #remote: IceCredentials | undefined;
  #tryUntil: number | undefined;
  #lastSlot = 0;
  #nominateAt: number | undefined;
  #nominee: Remote | undefined;
  #selected: Remote | undefined;
  #consent: Consent | undefined;
  #sentChecks = 0;

  constructor(options: IceSessionOptions) {
    this.#options = options;
    this.number = options.number;
    this.local = options.local;
    this.tieBreaker = options.tieBreaker;
    this.#role = options.role;
    this.#remotes = new Remotes(options.isUsable);
    this.#transactions = new Transactions(options.number, options.random);
  }

  get remote(): IceCredentials | undefined {
    return this.#remote;
  }

  /** Where the peer is reached directly; undefined while no way is open. */
  get selected(): Candidate | undefined {
    return this.#selected;
  }

  get roundTripMs(): number | undefined {
    return this.#consent?.roundTripMs;
  }

  get isTrying(): boolean {
    return this.#tryUntil !== undefined;
  }

  /** For the sentence that says why there is no direct way. */
  get tried(): { readonly addresses: readonly string[]; readonly checks: number } {
    return { addresses: this.#remotes.names, checks: this.#sentChecks };
  }

  get deadline(): number {
    return Math.min(
      this.#tryUntil ?? Infinity,
      this.#nominateAt ?? Infinity,
      this.#consent?.deadline ?? Infinity,
      this.#remote ? this.#remotes.deadline : Infinity,
    );
  }

  /** The other side's credentials. Others than before begin anew. */
  setRemote(remote: IceCredentials): void {
    if (this.#remote !== undefined && this.#remote.ufrag !== remote.ufrag) this.#transactions.forget();
    this.#remote = remote;
  }

  addCandidate(candidate: Candidate, now: number): void {
    const remote = this.#remotes.discover(candidate, this.#selected);
    if (remote?.state === 'waiting' && remote.nextAt === undefined && this.isTrying) remote.nextAt = this.#slot(now);
  }

  /** Checks every address of the peer, best first. `delayMs` lets the other side's first packets go before ours. */
  try(now: number, delayMs = 0): void {
    this.#tryUntil = now + delayMs + TRY_MS;
    this.#lastSlot = now + delayMs - PACING_MS;
    this.#nominateAt = undefined;
    this.#nominee = undefined;
    this.#sentChecks = 0;
    for (const remote of this.#remotes.bestFirst) {
      if (remote !== this.#selected) this.#renew(remote, this.#slot(now + delayMs));
    }
  }

  /** WireGuard hears the peer from an address: it is checked, as if a check had come from there. */
  hint({ address, port }: Endpoint, now: number): void {
    const found: Candidate = { address, port, type: 'prflx', priority: priorityOf('prflx', address) };
    const remote = this.#remotes.discover(found, this.#selected);
    if (remote && remote !== this.#selected && now - remote.sentAt >= FRESH_MS) this.#renew(remote, now);
  }

  setTraffic(isActive: boolean, now: number): void {
    this.#consent?.setTraffic(isActive, this.#options.consentInterval(), now);
  }

  /** Something speaks against the way in use, for instance that this host's addresses changed. */
  doubt(now: number): void {
    this.#consent?.doubt(now);
  }

  /** What tells the other side, over the relay, that this side left the direct way. */
  lostMessage(): Uint8Array | undefined {
    return this.#remote && encodeLost(this.#transactions.newId(), this.local, this.#remote);
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
        if (this.#remote?.ufrag === message.ufrags[1] && this.#selected) this.#lose(now);
        return undefined;
      default:
        return message satisfies never;
    }
  }

  tick(now: number): void {
    if (this.#consent && this.#selected) {
      if (this.#consent.isLost(now)) this.#lose(now);
      else if (this.#consent.isDue(now)) {
        this.#consent.sent(now);
        this.#check(this.#selected, now, false);
      }
    }
    if (this.#nominateAt !== undefined && now >= this.#nominateAt) this.#nominate(now);
    if (this.#remote !== undefined) {
      for (const remote of this.#remotes.all) {
        if (remote.nextAt !== undefined && now >= remote.nextAt) this.#next(remote, now);
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
    // An answer would make the peer use a way that this side does not take.
    if (remote === undefined) return;
    const answer = encodeSuccess(message.transactionId, from, this.local.pwd);
    if (answer) events.send(from, answer);
    const isAnswered = remote.state === 'succeeded' && now - remote.succeededAt < FRESH_MS;
    if (message.isNominating && this.#role === 'controlled') {
      this.#remotes.nominate(remote);
      if (isAnswered) {
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
    const transaction = this.#transactions.find(message.transactionId);
    if (transaction === undefined) return 'unknown-answer';
    const { remote, sentAt, isNominating, role } = transaction;
    // RFC 8445 section 7.2.5.2.1: an answer from elsewhere proves no way.
    if (remote.address !== from.address || remote.port !== from.port) return 'answer-from-elsewhere';
    this.#transactions.end(message.transactionId);
    if (message.kind === 'role-conflict') {
      if (role === this.#role) this.#role = role === 'controlling' ? 'controlled' : 'controlling';
      this.#renew(remote, now);
      return undefined;
    }
    remote.state = 'succeeded';
    remote.succeededAt = now;
    remote.roundTripMs = now - sentAt;
    if (remote === this.#selected) {
      this.#consent?.answered(sentAt, now);
      return undefined;
    }
    const isFinal = this.#role === 'controlling' ? isNominating : remote.isNominated;
    if (isFinal) this.#select(remote, now);
    else {
      remote.nextAt = undefined;
      if (this.#role === 'controlling') this.#consider(remote, now);
    }
    return undefined;
  }

  /** The controlling side found a way: is it the one? */
  #consider(remote: Remote, now: number): void {
    if (this.#selected) {
      // A second way is taken when the first stopped answering: the peer moved.
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
    const best = this.#remotes.bestFirst.find(({ state }) => state === 'succeeded');
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
    this.#remotes.rest();
    if (remote === this.#selected) return;
    this.#selected = remote;
    this.#consent = new Consent(now, remote.roundTripMs, this.#options.consentInterval(), () => this.#fraction());
    this.#options.events.opened(now);
  }

  #lose(now: number): void {
    this.#selected = undefined;
    this.#consent = undefined;
    this.#remotes.nominate();
    this.try(now);
    this.#options.events.lost();
  }

  /** The next check of an address, unless it had its share. */
  #next(remote: Remote, now: number): void {
    if (remote.attempts >= CHECK_WAITS_MS.length) {
      remote.state = 'failed';
      remote.nextAt = undefined;
      if (this.#nominee === remote) {
        this.#nominee = undefined;
        this.#nominate(now);
      }
      return;
    }
    const later = this.#options.pacer.take(now);
    if (later !== undefined) {
      remote.nextAt = later;
      return;
    }
    if (remote.state !== 'succeeded') remote.state = 'checking';
    remote.nextAt = now + (CHECK_WAITS_MS[remote.attempts] ?? PACING_MS);
    remote.attempts += 1;
    this.#check(remote, now, this.#role === 'controlling' && this.#nominee === remote);
  }

  #check(remote: Remote, now: number, isNominating: boolean): void {
    if (this.#remote === undefined) return;
    const transactionId = this.#transactions.begin({ remote, sentAt: now, isNominating, role: this.#role });
    remote.sentAt = now;
    this.#sentChecks += 1;
    const bytes = encodeCheck({
      transactionId,
      local: this.local,
      remote: this.#remote,
      priority: priorityOf('prflx', remote.address),
      role: this.#role,
      tieBreaker: this.tieBreaker,
      isNominating,
    });
    this.#options.events.send(remote, bytes);
  }

  #renew(remote: Remote, at: number): void {
    if (remote.state !== 'succeeded' || !this.#nominee) remote.state = 'waiting';
    remote.attempts = 0;
    remote.nextAt = at;
  }

  /** The next free moment for a first check. */
  #slot(now: number): number {
    this.#lastSlot = Math.max(now, this.#lastSlot + PACING_MS);
    return this.#lastSlot;
  }

  #fraction(): number {
    return Buffer.from(this.#options.random(4)).readUInt32BE() / 2 ** 32;
  }
}
