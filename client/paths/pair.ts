import { initiates } from '../../net/signal/exchange.ts';
import type { SignalMessage } from '../../net/signal/message.ts';
import type { Endpoint } from '../tunnel/tunnel.ts';
import { type Candidate, encodeCandidate, parseCandidate } from './ice/candidate.ts';
import type { IceRole } from './ice/check-message.ts';
import type { IceSession } from './ice/session.ts';
import { type PairView, reasonOf } from './reason.ts';
import {
  ANSWERER_LATER_MS,
  CANDIDATES_AGAIN_MS,
  HOPE_MS,
  OFFER_PATIENCE_MS,
  OFFER_WAITS_MS,
  REASSERT_MS,
  RELAY_PROBE_WAITS_MS,
  RELAY_RECHECK_MS,
  RETRY_HOPE_MS,
  RETURN_WAITS_MS,
  SECOND_SIDE_LATER_MS,
  SYN_WAITS_MS,
  TRAFFIC_LINGER_MS,
  TRY_WAITS_MS,
  waitOf,
} from './schedule.ts';
import type { Transport } from './status.ts';
import type { PairStatus, Surroundings } from './surroundings.ts';
import { wayTo } from './transitions.ts';

/** Addresses that a peer may name. */
const MAX_CANDIDATES = 16;
/** Between two OFFERs of this side, whatever asks for them. */
const MIN_OFFER_GAP_MS = 1_000;
/** Before an OFFER that is not answered is sent again because its receiver asked who we are. */
const OFFER_AGAIN_MS = 200;
/** Bytes between two looks at the tunnel that are more than a keepalive. */
const TRAFFIC_BYTES = 64;

export interface PairPeer {
  readonly id: string;
  /** X25519, base64 and raw. */
  readonly publicKey: string;
  readonly key: Uint8Array;
}

/** What the tunnel tells of a peer. */
export interface PeerTraffic {
  readonly publicKey: string;
  readonly receivedBytes: number;
  readonly sentBytes: number;
  readonly endpoint: Endpoint | 'relay' | null;
}

/** Which way one peer is reached. The relay first; the direct way when both directions are proven; back when it dies. */
export class Pair {
  readonly peer: PairPeer;
  readonly #around: Surroundings;
  readonly #initiates: boolean;

  #transport: Transport = 'probing';
  #since: number;
  #hopeUntil: number;
  #hasLeft = false;

  /** It has answered on the bus, or used the relay, in this process: before that no connection was negotiated. */
  #wasMet = false;
  /** The peer's living process takes our signals, and we take its. */
  #isProven = false;
  /** Credentials were exchanged with that process. */
  #isNegotiated = false;
  #syns = 0;
  #synAt: number | undefined;
  /** Of the initiator: when the OFFER is sent again. Of the other: when it stops waiting for one. */
  #offerAt: number | undefined;
  #offers = 0;
  /** How often the peer proved itself and then said nothing of an OFFER. */
  #detours = 0;
  #offeredAt = Number.NEGATIVE_INFINITY;
  #peerCandidates: readonly Candidate[] = [];

  #session: IceSession | undefined;
  /** The way that stays in use while a newer session has not found its own. */
  #previous: IceSession | undefined;
  #sentCandidates = new Set<string>();
  /** When and how often they were named again. */
  #candidatesAt: number | undefined;
  #candidatesAgain = 0;
  #waits: readonly number[] = TRY_WAITS_MS;
  #tries = 0;
  #tryAt: number | undefined;
  #wasLost = false;

  #presence: 'unknown' | 'present' | 'absent' = 'unknown';
  #probes = 0;
  #probeAt: number | undefined;
  #heardByRelayAt = Number.NEGATIVE_INFINITY;

  #asserted: Endpoint | 'relay' = 'relay';
  #assertedAt = Number.NEGATIVE_INFINITY;
  #bytes: number | undefined;
  #activeUntil = Number.NEGATIVE_INFINITY;
  #isActive = false;
  #shown = '';

  constructor(peer: PairPeer, around: Surroundings, now: number) {
    this.peer = peer;
    this.#around = around;
    this.#initiates = initiates(around.ownKey, peer.key);
    this.#since = now;
    this.#hopeUntil = now + HOPE_MS;
    if (around.isBusUp) this.#synAt = now;
    if (around.relay.state === 'ready') this.#probeAt = now;
    this.#evaluate(now);
  }

  get isActive(): boolean {
    return this.#isActive;
  }

  get direct(): Candidate | undefined {
    return this.#session?.selected ?? this.#previous?.selected;
  }

  get deadline(): number {
    if (this.#transport === 'closed') return Number.POSITIVE_INFINITY;
    let deadline = Math.min(this.#session?.deadline ?? Infinity, this.#previous?.deadline ?? Infinity);
    for (const at of [this.#synAt, this.#offerAt, this.#candidatesAt, this.#tryAt, this.#probeAt]) {
      if (at !== undefined && at < deadline) deadline = at;
    }
    if (this.#isActive) deadline = Math.min(deadline, this.#activeUntil);
    if (this.#transport === 'probing') deadline = Math.min(deadline, this.#hopeUntil);
    return deadline;
  }

  get status(): PairStatus {
    const direct = this.direct;
    const path = this.#transport === 'ice-ready' ? 'direct' : this.#transport === 'lrp-ready' ? 'relayed' : null;
    const roundTripMs = direct ? (this.#session?.roundTripMs ?? this.#previous?.roundTripMs ?? null) : null;
    return {
      peerId: this.peer.id,
      transport: this.#transport,
      path,
      endpoint: direct ? { address: direct.address, port: direct.port } : path === 'relayed' ? 'relay' : null,
      reason: reasonOf(this.#view()),
      since: Math.round(this.#since),
      roundTripMs: roundTripMs === null ? null : Math.round(roundTripMs * 10) / 10,
    };
  }

  busChanged(now: number): void {
    if (this.#around.isBusUp) {
      if (!this.#isProven) {
        this.#syns = 0;
        this.#synAt = now + this.#around.fraction() * 200;
      } else if (!this.direct && !this.#session?.isTrying) this.#tryAt = now + this.#around.fraction() * 1_000;
      this.#hope(now);
    } else {
      this.#synAt = undefined;
      this.#offerAt = undefined;
    }
    this.#evaluate(now);
  }

  relayChanged(now: number): void {
    this.#presence = 'unknown';
    this.#probes = 0;
    this.#probeAt = this.#around.relay.state === 'ready' ? now : undefined;
    if (this.#around.relay.state === 'ready') this.#hope(now);
    this.#evaluate(now);
  }

  /** This host's addresses, or whether it shares the port. */
  candidatesChanged(now: number): void {
    const isNew = this.#sendCandidates();
    for (const session of [this.#session, this.#previous]) session?.doubt(now);
    if (isNew && !this.direct && this.#isProven) {
      this.#tries = 0;
      this.#tryAt = now + this.#around.fraction() * 300;
    }
    this.#evaluate(now);
  }

  /** The relay's answer to a probe. */
  relayProbed(isPresent: boolean, now: number): void {
    this.#presence = isPresent ? 'present' : 'absent';
    this.#probes = isPresent ? 0 : this.#probes + 1;
    const wait = isPresent ? RELAY_RECHECK_MS : RELAY_PROBE_WAITS_MS;
    const fraction = this.#around.fraction();
    this.#probeAt =
      now + (typeof wait === 'number' ? waitOf([wait], 0, fraction) : waitOf(wait, this.#probes - 1, fraction));
    this.#evaluate(now);
  }

  /** A packet of the peer came by the relay. Called for each of them: cheap when nothing changes. */
  relayHeard(now: number): void {
    this.#meet();
    this.#heardByRelayAt = now;
    if (this.#presence === 'present') return;
    this.#presence = 'present';
    this.#probes = 0;
    this.#probeAt = now + RELAY_RECHECK_MS;
    this.#evaluate(now);
  }

  /** The peer asks for us. While `isNewProcess` it may be a recording: nothing is given up for it. */
  synReceived(isNewProcess: boolean, now: number): void {
    this.#hope(now, RETRY_HOPE_MS);
    this.#probeSoon(now);
    const wasInUse = this.#isNegotiated || this.#heardByRelayAt > Number.NEGATIVE_INFINITY;
    if (this.#transport === 'lrp-ready' && wasInUse) {
      this.#around.emit({
        type: 'log',
        level: 'info',
        message: 'SYN on active LRP session',
        fields: { peer: this.peer.id },
      });
    }
    // Should it still be proven to us while we gave it up, nobody else asks it.
    if (!this.#isProven && this.#around.isBusUp) this.#synAt = now;
    if (this.#initiates && this.#isProven && !isNewProcess) {
      // An OFFER under way may have come before the peer knew this process: it is soon sent again.
      const isUnderWay = this.#offerAt !== undefined;
      if (isUnderWay) this.#offerAt = Math.min(this.#offerAt ?? now, Math.max(now, this.#offeredAt + OFFER_AGAIN_MS));
      else if (now - this.#offeredAt >= MIN_OFFER_GAP_MS) this.#offer(now);
    }
    this.#evaluate(now);
  }

  /** The peer answered our SYN: each takes the other's signals now. */
  ready(isNewProcess: boolean, now: number): void {
    this.#hope(now);
    this.#probeSoon(now);
    this.#hasLeft = false;
    this.#isProven = true;
    this.#meet();
    this.#syns = 0;
    this.#synAt = undefined;
    if (isNewProcess) {
      // Its tunnel is new too, and whatever it told of itself is void.
      this.#closeSessions();
      this.#peerCandidates = [];
      this.#isNegotiated = false;
      this.#tries = 0;
      this.#waits = TRY_WAITS_MS;
      this.#heardByRelayAt = Number.NEGATIVE_INFINITY;
      if (this.#around.relay.state === 'ready') this.#probeAt = now;
    }
    const isAtWork = this.direct !== undefined || this.#session?.isTrying === true || this.#offerAt !== undefined;
    if (!isAtWork) this.#begin(now);
    this.#evaluate(now);
  }

  /** @returns why it was ignored */
  signalReceived(message: SignalMessage, now: number): string | undefined {
    this.#hope(now, RETRY_HOPE_MS);
    const ignored = this.#take(message, now);
    this.#evaluate(now);
    return ignored;
  }

  trafficSeen(traffic: PeerTraffic, now: number): void {
    const bytes = traffic.receivedBytes + traffic.sentBytes;
    if (this.#bytes !== undefined && Math.abs(bytes - this.#bytes) > TRAFFIC_BYTES)
      this.#activeUntil = now + TRAFFIC_LINGER_MS;
    this.#bytes = bytes;
    this.#setActive(now);
    const { endpoint } = traffic;
    const { direct } = this;
    if (endpoint === null || this.#transport === 'closed') return;
    if (endpoint === 'relay') {
      if (direct) this.reassert(now);
    } else if (!direct || endpoint.address !== direct.address || endpoint.port !== direct.port) {
      // WireGuard heard the peer from there. Until a check proves the way back it is only a hint.
      this.#session?.hint(endpoint, now);
      if (!direct) this.reassert(now);
    }
  }

  /** WireGuard went back to where it last heard the peer: it is told again. */
  reassert(now: number): void {
    if (now - this.#assertedAt < REASSERT_MS) return;
    this.#assertedAt = now;
    this.#around.emit({ type: 'endpoint', publicKey: this.peer.publicKey, endpoint: this.#asserted, isNew: false });
  }

  hurry(now: number): void {
    this.#hope(now);
    if (!this.#isProven) {
      this.#syns = 0;
      if (this.#around.isBusUp) this.#synAt = now;
    } else if (!this.direct && !this.#session?.isTrying && now - this.#offeredAt >= MIN_OFFER_GAP_MS) this.#tryAt = now;
    this.#evaluate(now);
  }

  tick(now: number): void {
    this.#session?.tick(now);
    this.#previous?.tick(now);
    if (isDue(this.#synAt, now)) this.#syn(now);
    if (isDue(this.#offerAt, now)) this.#offerUnanswered(now);
    if (isDue(this.#candidatesAt, now)) this.#candidatesAgainNow(now);
    if (isDue(this.#tryAt, now)) this.#begin(now);
    if (isDue(this.#probeAt, now)) this.#probe(now);
    this.#setActive(now);
    this.#evaluate(now);
  }

  /** The peer is no longer in the graph, or this node goes. */
  close(reason: string | undefined, now: number): void {
    if (this.#isProven && reason !== undefined) this.#around.signal(this.peer.key, { kind: 'BYE', reason });
    this.#hasLeft = true;
    if (this.#session) this.#around.closeSession(this.#session);
    if (this.#previous) this.#around.closeSession(this.#previous);
    this.#session = undefined;
    this.#previous = undefined;
    this.#move('closed', now);
  }

  #take(message: SignalMessage, now: number): string | undefined {
    switch (message.kind) {
      case 'OFFER':
        return this.#offered(message, now);
      case 'ANSWER':
        return this.#answered(message, now);
      case 'CANDIDATE':
        return this.#candidate(message.candidate, now);
      case 'BYE':
        this.#bye(now);
        return undefined;
      case 'PING':
        this.hurry(now);
        return undefined;
      case 'SYN':
      case 'ACK':
        return 'misplaced-signal';
      default:
        return message satisfies never;
    }
  }

  #offered(offer: Extract<SignalMessage, { kind: 'OFFER' }>, now: number): string | undefined {
    if (this.#initiates) return 'offer-from-answerer';
    this.#detours = 0;
    this.#offerAt = undefined;
    this.#tryAt = undefined;
    if (this.#session?.remote?.ufrag !== offer.ufrag) {
      const session = this.#replaceSession('controlled', this.#tieBreaker());
      session.setRemote(offer);
      for (const candidate of this.#peerCandidates) session.addCandidate(candidate, now);
      this.#isNegotiated = true;
      const order = orderOf(offer.tieBreaker);
      if (this.#sharesPort) session.try(now, order === 'offerer-first' ? SECOND_SIDE_LATER_MS : 0);
    }
    const session = this.#session;
    if (!session) return undefined;
    this.#around.signal(this.peer.key, { kind: 'ANSWER', ...session.local, tieBreaker: session.tieBreaker });
    this.#nameCandidates(now);
    return undefined;
  }

  #answered(answer: Extract<SignalMessage, { kind: 'ANSWER' }>, now: number): string | undefined {
    const session = this.#session;
    if (!this.#initiates || !session) return 'answer-to-nothing';
    this.#offerAt = undefined;
    this.#detours = 0;
    if (session.remote?.ufrag === answer.ufrag) return undefined;
    session.setRemote(answer);
    this.#isNegotiated = true;
    for (const candidate of this.#peerCandidates) session.addCandidate(candidate, now);
    const order = orderOf(session.tieBreaker);
    if (this.#sharesPort) session.try(now, order === 'answerer-first' ? SECOND_SIDE_LATER_MS : 0);
    return undefined;
  }

  #candidate(line: string, now: number): string | undefined {
    const candidate = parseCandidate(line);
    if (!candidate) return 'malformed-candidate';
    if (!this.#around.isUsable(candidate)) return 'unusable-candidate';
    const others = this.#peerCandidates.filter(
      ({ address, port }) => address !== candidate.address || port !== candidate.port,
    );
    this.#peerCandidates = [...others, candidate].slice(-MAX_CANDIDATES);
    this.#session?.addCandidate(candidate, now);
    return undefined;
  }

  #bye(now: number): void {
    this.#closeSessions();
    this.#hasLeft = true;
    this.#isProven = false;
    this.#isNegotiated = false;
    this.#peerCandidates = [];
    this.#offerAt = undefined;
    this.#tryAt = undefined;
    // It will say when it is back; asking is only for the case that this is missed.
    this.#syns = SYN_WAITS_MS.length;
    this.#synAt = now + waitOf(SYN_WAITS_MS, this.#syns, this.#around.fraction());
    this.#presence = 'absent';
    this.#probeSoon(now + (RELAY_PROBE_WAITS_MS[0] ?? 0));
    this.#hopeUntil = now;
  }

  /** A try of the direct way, from the exchange of credentials where there is a bus. */
  #begin(now: number): void {
    this.#tryAt = undefined;
    if (!this.#around.isBusUp || !this.#isProven) {
      this.#tryAgain(now);
      return;
    }
    if (this.#initiates) this.#offer(now);
    else {
      // The other side makes the OFFER; a SYN of a process it knows asks for it.
      if (this.#isNegotiated) this.#around.syn(this.peer.key, now);
      this.#offerAt = now + OFFER_PATIENCE_MS;
      this.#tryAgain(now);
    }
  }

  /** With the credentials that both sides have. */
  #tryAgain(now: number): void {
    if (this.#session?.remote && this.#sharesPort && !this.direct) this.#session.try(now);
  }

  #offer(now: number): void {
    this.#tryAt = undefined;
    this.#replaceSession('controlling', this.#tieBreaker(this.#tries));
    this.#offers = 0;
    this.#sendOffer(now);
  }

  #sendOffer(now: number): void {
    const session = this.#session;
    if (!session) return;
    this.#offeredAt = now;
    this.#offerAt = now + waitOf(OFFER_WAITS_MS, this.#offers, this.#around.fraction());
    this.#offers += 1;
    this.#around.signal(this.peer.key, { kind: 'OFFER', ...session.local, tieBreaker: session.tieBreaker });
    this.#nameCandidates(now);
  }

  #offerUnanswered(now: number): void {
    this.#offerAt = undefined;
    if (this.#initiates && this.#offers < OFFER_WAITS_MS.length) {
      this.#sendOffer(now);
      return;
    }
    // The process that we knew may be gone: it has to prove itself again, ever later if that leads nowhere.
    this.#isProven = false;
    this.#syns = 0;
    this.#synAt = now + waitOf(SYN_WAITS_MS, this.#detours, this.#around.fraction());
    this.#detours += 1;
  }

  #syn(now: number): void {
    this.#synAt = undefined;
    if (!this.#around.isBusUp || this.#isProven) return;
    const later = this.#around.syn(this.peer.key, now);
    if (later !== undefined) {
      this.#synAt = later;
      return;
    }
    this.#synAt = now + waitOf(SYN_WAITS_MS, this.#syns, this.#around.fraction());
    this.#syns += 1;
  }

  #probe(now: number): void {
    this.#probeAt = undefined;
    if (this.#around.relay.state !== 'ready') return;
    if (this.#presence === 'present' && now - this.#heardByRelayAt < RELAY_RECHECK_MS) {
      this.#probeAt = this.#heardByRelayAt + RELAY_RECHECK_MS;
      return;
    }
    // Should the answer get lost with its session, a new session begins anew.
    this.#probeAt = now + RELAY_RECHECK_MS;
    this.#around.emit({ type: 'probe-relay', publicKey: this.peer.publicKey });
  }

  #probeSoon(at: number): void {
    if (this.#around.relay.state !== 'ready' || this.#presence === 'present') return;
    this.#probes = 0;
    this.#probeAt = Math.min(this.#probeAt ?? Infinity, at);
  }

  #nameCandidates(now: number): void {
    this.#sentCandidates.clear();
    this.#sendCandidates();
    this.#candidatesAgain = 0;
    this.#candidatesAt = now + CANDIDATES_AGAIN_MS[0];
  }

  #candidatesAgainNow(now: number): void {
    this.#candidatesAt = undefined;
    if (this.direct || !this.#session?.isTrying) return;
    this.#sentCandidates.clear();
    this.#sendCandidates();
    this.#candidatesAgain += 1;
    const wait = CANDIDATES_AGAIN_MS[this.#candidatesAgain];
    if (wait !== undefined) this.#candidatesAt = now + wait;
  }

  /** @returns whether there was any that the peer had not been told */
  #sendCandidates(): boolean {
    if (!this.#session || !this.#isProven || !this.#around.isBusUp || !this.#sharesPort) return false;
    let isNew = false;
    for (const candidate of this.#around.candidates) {
      const line = encodeCandidate(candidate);
      if (this.#sentCandidates.has(line)) continue;
      this.#sentCandidates.add(line);
      this.#around.signal(this.peer.key, { kind: 'CANDIDATE', candidate: line });
      isNew = true;
    }
    return isNew;
  }

  #replaceSession(role: IceRole, tieBreaker: bigint): IceSession {
    const before = this.#session;
    if (before?.selected) {
      if (this.#previous) this.#around.closeSession(this.#previous);
      this.#previous = before;
    } else if (before) this.#around.closeSession(before);
    const session = this.#around.openSession(this.peer.publicKey, role, tieBreaker, {
      send: (to, bytes) => this.#around.emit({ type: 'stun', to: { address: to.address, port: to.port }, bytes }),
      opened: (now) => this.#opened(session, now),
      lost: () => this.#lost(session),
      exhausted: (now) => this.#exhausted(session, now),
    });
    this.#session = session;
    this.#sentCandidates.clear();
    return session;
  }

  #opened(session: IceSession, now: number): void {
    if (session === this.#session && this.#previous) {
      this.#around.closeSession(this.#previous);
      this.#previous = undefined;
    }
    this.#tries = 0;
    this.#waits = TRY_WAITS_MS;
    this.#tryAt = undefined;
    this.#wasLost = false;
    // A fresh way is watched closely even before the first look at the traffic.
    this.#activeUntil = now + TRAFFIC_LINGER_MS;
  }

  #lost(session: IceSession): void {
    const message = session.lostMessage();
    if (session === this.#previous) {
      this.#around.closeSession(session);
      this.#previous = undefined;
      if (this.#session?.selected) return;
    }
    if (message) this.#around.emit({ type: 'relay', publicKey: this.peer.publicKey, bytes: message });
    this.#wasLost = true;
    this.#waits = RETURN_WAITS_MS;
    this.#tries = 0;
  }

  #exhausted(session: IceSession, now: number): void {
    if (session !== this.#session || this.direct) return;
    const later = this.#initiates ? 0 : ANSWERER_LATER_MS;
    this.#tryAt = now + later + waitOf(this.#waits, this.#tries, this.#around.fraction());
    this.#tries += 1;
  }

  #closeSessions(): void {
    for (const session of [this.#session, this.#previous]) if (session) this.#around.closeSession(session);
    this.#session = undefined;
    this.#previous = undefined;
  }

  #tieBreaker(tries?: number): bigint {
    const drawn = Buffer.from(this.#around.random(8)).readBigUInt64BE();
    if (tries === undefined) return drawn;
    const order = tries === 0 ? 0n : BigInt((tries % 2) + 1);
    return drawn - (drawn % 3n) + order < 2n ** 64n ? drawn - (drawn % 3n) + order : order;
  }

  /** Contract, network ports: without the bus nodes cannot connect, so the relay carries nothing for a peer never met. */
  #meet(): void {
    if (this.#wasMet) return;
    this.#wasMet = true;
    this.#around.emit({ type: 'met', publicKey: this.peer.publicKey });
  }

  get #sharesPort(): boolean {
    return this.#around.icePort.obstacle === null;
  }

  #setActive(now: number): void {
    this.#isActive = now < this.#activeUntil;
    for (const session of [this.#session, this.#previous]) session?.setTraffic(this.#isActive, now);
  }

  #hope(now: number, span: number = HOPE_MS): void {
    this.#hopeUntil = Math.max(this.#hopeUntil, now + span);
  }

  /** Draws the consequences: where the tunnel sends to, the state, and whether anyone has to hear of it. */
  #evaluate(now: number): void {
    if (this.#transport === 'closed') return;
    const { direct } = this;
    const wanted = direct ? { address: direct.address, port: direct.port } : 'relay';
    if (nameOf(wanted) !== nameOf(this.#asserted)) {
      this.#asserted = wanted;
      this.#assertedAt = now;
      this.#around.emit({ type: 'endpoint', publicKey: this.peer.publicKey, endpoint: wanted, isNew: true });
    }
    const isRelayed = this.#around.relay.state === 'ready' && this.#presence === 'present' && this.#wasMet;
    if (direct) this.#move('ice-ready', now);
    else if (isRelayed) this.#move('lrp-ready', now);
    else this.#move(now < this.#hopeUntil ? 'probing' : 'failed', now);
  }

  #move(transport: Transport, now: number): void {
    const way = wayTo(this.#transport, transport);
    for (const state of way) {
      this.#around.emit({
        type: 'log',
        level: 'debug',
        message: 'A path changed its state.',
        fields: { peer: this.peer.id, from: this.#transport, to: state },
      });
      this.#transport = state;
      this.#since = now;
    }
    if (way.length > 0 && (transport === 'ice-ready' || transport === 'lrp-ready')) {
      this.#around.emit({ type: 'opened', publicKey: this.peer.publicKey });
    }
    const { status } = this;
    const { endpoint, reason } = status;
    const shown = `${this.#transport} ${reason.code} ${endpoint && nameOf(endpoint)}`;
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#around.emit({ type: 'changed', status });
  }

  #view(): PairView {
    return {
      direct: this.direct,
      hasLeft: this.#hasLeft,
      isProven: this.#isProven,
      isNegotiated: this.#isNegotiated,
      isTrying: this.#session?.isTrying === true && this.#session.remote !== undefined,
      wasLost: this.#wasLost,
      syns: this.#syns,
      peerCandidates: this.#peerCandidates.length,
      tried: this.#session?.tried ?? { addresses: [], checks: 0 },
      ownCandidates: this.#around.candidates,
      isBusUp: this.#around.isBusUp,
      relay: this.#around.relay,
      isPeerAtRelay: this.#presence === 'present',
      icePort: this.#around.icePort,
    };
  }
}

function isDue(at: number | undefined, now: number): boolean {
  return at !== undefined && now >= at;
}

function nameOf(endpoint: Endpoint | 'relay'): string {
  return endpoint === 'relay' ? endpoint : `${endpoint.address} ${endpoint.port}`;
}

/**
 * Who begins to send in a try. Behind a router that notes stray packets only one order works, so tries alternate; what is
 * left of the OFFER's tie breaker, divided by three, says it to both.
 */
function orderOf(tieBreaker: bigint): 'together' | 'offerer-first' | 'answerer-first' {
  const rest = tieBreaker % 3n;
  return rest === 0n ? 'together' : rest === 1n ? 'offerer-first' : 'answerer-first';
}
