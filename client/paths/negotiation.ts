import { type ConnectionSignal, initiates } from '../../net/signal/exchange.ts';
import type { FirstCheck } from '../../net/signal/message.ts';
import { CandidateNaming } from './candidate-naming.ts';
import type { DirectPath } from './direct-path.ts';
import { type Candidate, parseCandidate } from './ice/candidate.ts';
import type { LocalNode } from './local-node.ts';
import { ProofOfLife } from './proof-of-life.ts';
import type { PairView } from './reason.ts';
import { OFFER_PATIENCE_MS, OFFER_WAITS_MS, waitOf } from './schedule.ts';
import { laterMs, Tries } from './tries.ts';

/** Addresses that a peer may name. */
const MAX_CANDIDATES = 16;
/** Between two OFFERs of this side, whatever asks for them. */
const MIN_OFFER_GAP_MS = 1_000;
/** Before an OFFER that is not answered is sent again because its receiver asked who we are. */
const OFFER_AGAIN_MS = 200;
/** Many pairs hear at once that the bus is back, or that this host has another address: they do not all begin at once. */
const SYN_SPREAD_MS = 200;
const OFFER_SPREAD_MS = 1_000;
const NEW_ADDRESS_SPREAD_MS = 300;

/** Description exchanged once both processes are proven. */
type NegotiationSignal = Extract<ConnectionSignal, { kind: 'OFFER' | 'ANSWER' | 'CANDIDATE' }>;

export interface NegotiationParts {
  /** Its public key, raw. */
  readonly peer: Uint8Array;
  readonly local: LocalNode;
  readonly directPath: DirectPath;
  /** Where an earlier process of this node reached it. */
  readonly known: readonly Candidate[];
  /** True while anything carries signals to the peer. */
  readonly canSignal: () => boolean;
}

/** How the direct path to one peer comes about: what the two say to each other on the bus, and the tries that follow. */
export class Negotiation {
  readonly #peer: Uint8Array;
  readonly #local: LocalNode;
  readonly #directPath: DirectPath;
  readonly #isOfferer: boolean;
  readonly #canSignal: () => boolean;
  readonly #savedCandidates: readonly Candidate[];
  readonly #life = new ProofOfLife();
  readonly #naming = new CandidateNaming();
  readonly #tries = new Tries();
  /** Credentials were exchanged with the peer's living process. */
  #isNegotiated = false;
  /** For the offerer: when the OFFER is sent again. For the other: when it stops waiting for one. */
  #offerAt: number | undefined;
  #offers = 0;
  #offeredAt = Number.NEGATIVE_INFINITY;
  /** Side whose check comes first, by the last OFFER. */
  #firstCheck: FirstCheck = 'both';
  #peerCandidates: readonly Candidate[];

  constructor({ peer, local, directPath, known, canSignal }: NegotiationParts, now: number) {
    this.#peer = peer;
    this.#local = local;
    this.#directPath = directPath;
    this.#savedCandidates = known;
    this.#peerCandidates = known;
    this.#canSignal = canSignal;
    this.#isOfferer = initiates(local.ownKey, peer);
    if (canSignal()) this.#life.ask(now);
  }

  get isProven(): boolean {
    return this.#life.isProven;
  }

  get isNegotiated(): boolean {
    return this.#isNegotiated;
  }

  get deadline(): number {
    return Math.min(this.#life.deadline, this.#offerAt ?? Infinity, this.#naming.deadline, this.#tries.deadline);
  }

  /** Its part of what explains where the pair is. */
  get view(): Pick<PairView, 'isProven' | 'isNegotiated' | 'wasLost' | 'syns' | 'peerCandidates'> {
    return {
      isProven: this.#life.isProven,
      isNegotiated: this.#isNegotiated,
      wasLost: this.#tries.wasLost,
      syns: this.#life.unansweredSyns,
      peerCandidates: this.#peerCandidates.length,
    };
  }

  /** The bus came or went, or what carries signals without it. */
  carriersChanged(now: number): void {
    if (!this.#canSignal()) {
      this.#life.pause();
      this.#offerAt = undefined;
    } else if (!this.#life.isProven) {
      this.#life.startOver();
      this.#life.ask(now + this.#local.fraction() * SYN_SPREAD_MS);
    } else {
      if (!this.#directPath.selected) this.#nameAllCandidates(now);
      if (!this.#directPath.isAtWork) this.#tries.plan(now + this.#local.fraction() * OFFER_SPREAD_MS);
    }
  }

  /** This host's addresses, or whether it shares the port. */
  candidatesChanged(now: number): void {
    const isNew = this.#nameCandidates();
    if (!isNew || this.#directPath.selected) return;
    this.#tries.forget();
    this.#tries.plan(now + this.#local.fraction() * NEW_ADDRESS_SPREAD_MS);
  }

  /** The peer asks for us. While `isNewProcess` it may be a recording: nothing is given up for it. */
  synReceived(isNewProcess: boolean, now: number): void {
    // Should it still be proven to us while we gave it up, nobody else asks it.
    if (!this.#life.isProven && this.#canSignal()) this.#life.ask(now);
    if (!this.#isOfferer || !this.#life.isProven || isNewProcess) return;
    // An OFFER under way may have come before the peer knew this process: it is soon sent again.
    if (this.#offerAt !== undefined) {
      this.#offerAt = Math.min(this.#offerAt, Math.max(now, this.#offeredAt + OFFER_AGAIN_MS));
    } else if (now - this.#offeredAt >= MIN_OFFER_GAP_MS) this.#offer(now);
  }

  /** The peer answered our SYN: each takes the other's signals now. */
  ready(isNewProcess: boolean, now: number): void {
    this.#life.proven();
    if (isNewProcess) {
      // Its tunnel is new too, and whatever it told of itself is void.
      this.#forgetProcess();
      this.#tries.restarted();
    }
    if (!this.#directPath.isAtWork && this.#offerAt === undefined) this.#begin(now);
  }

  /** @returns why it was ignored */
  received(message: NegotiationSignal, now: number): string | undefined {
    switch (message.kind) {
      case 'OFFER':
        return this.#offered(message, now);
      case 'ANSWER':
        return this.#answered(message, now);
      case 'CANDIDATE':
        return this.#candidate(message.candidate, now);
      default:
        return message satisfies never;
    }
  }

  /** The peer said that it leaves. */
  left(now: number): void {
    this.#forgetProcess();
    this.#tries.cancel();
    this.#life.left(now, this.#local.fraction());
  }

  /** Someone waits for the direct path. */
  hurry(now: number): void {
    if (!this.#life.isProven) {
      this.#life.startOver();
      if (this.#canSignal()) this.#life.ask(now);
    } else if (!this.#directPath.isAtWork && now - this.#offeredAt >= MIN_OFFER_GAP_MS) this.#tries.plan(now);
  }

  opened(): void {
    this.#tries.opened();
  }

  lost(now: number): void {
    this.#tries.lost();
    this.#nameAllCandidates(now);
  }

  /** A try ended without a path. */
  exhausted(now: number): void {
    this.#tries.exhausted(this.#isOfferer, now, this.#local.fraction());
  }

  tick(now: number): void {
    if (now >= this.#life.deadline) this.#syn(now);
    if (this.#offerAt !== undefined && now >= this.#offerAt) this.#offerUnanswered(now);
    if (now >= this.#naming.deadline) this.#nameAgain(now);
    if (now >= this.#tries.deadline) this.#begin(now);
  }

  #syn(now: number): void {
    this.#life.pause();
    if (!this.#canSignal() || this.#life.isProven) return;
    const later = this.#local.syn(this.#peer, now);
    if (later === undefined) this.#life.asked(now, this.#local.fraction());
    else this.#life.ask(later);
  }

  /** A try of the direct path, from the exchange of credentials where signals are carried. */
  #begin(now: number): void {
    this.#tries.cancel();
    const canExchange = this.#canSignal() && this.#life.isProven;
    if (canExchange && this.#isOfferer) {
      this.#offer(now);
      return;
    }
    if (canExchange) {
      // The other side makes the OFFER; a SYN of a process it knows asks for it.
      if (this.#isNegotiated) this.#local.syn(this.#peer, now);
      this.#offerAt = now + OFFER_PATIENCE_MS;
    }
    // Meanwhile with the credentials that both sides have.
    const { session, selected } = this.#directPath;
    if (session?.remote && this.#sharesPort && !selected) session.try(now);
  }

  #offer(now: number): void {
    this.#tries.cancel();
    this.#directPath.renew('controlling', this.#drawTieBreaker());
    this.#firstCheck = this.#tries.firstCheck;
    this.#offers = 0;
    this.#sendOffer(now);
  }

  #sendOffer(now: number): void {
    const { session } = this.#directPath;
    if (!session) return;
    this.#offeredAt = now;
    this.#offerAt = now + waitOf(OFFER_WAITS_MS, this.#offers, this.#local.fraction());
    this.#offers += 1;
    const { local, tieBreaker } = session;
    this.#local.signal(this.#peer, { kind: 'OFFER', ...local, tieBreaker, firstCheck: this.#firstCheck });
    this.#naming.begin(now);
    this.#nameCandidates();
  }

  #offerUnanswered(now: number): void {
    this.#offerAt = undefined;
    if (this.#isOfferer && this.#offers < OFFER_WAITS_MS.length) this.#sendOffer(now);
    else this.#life.doubt(now, this.#local.fraction());
  }

  #offered(offer: Extract<NegotiationSignal, { kind: 'OFFER' }>, now: number): string | undefined {
    if (this.#isOfferer) return 'offer-from-answerer';
    this.#life.negotiated();
    this.#offerAt = undefined;
    this.#tries.cancel();
    let { session } = this.#directPath;
    if (session?.remote?.ufrag !== offer.ufrag) {
      session = this.#directPath.renew('controlled', this.#drawTieBreaker());
      session.setRemote(offer);
      this.#isNegotiated = true;
      for (const candidate of this.#peerCandidates) session.addCandidate(candidate, now);
      if (this.#sharesPort) session.try(now, laterMs('answerer', offer.firstCheck));
    }
    this.#local.signal(this.#peer, { kind: 'ANSWER', ...session.local, tieBreaker: session.tieBreaker });
    this.#naming.begin(now);
    this.#nameCandidates();
    return undefined;
  }

  #answered(answer: Extract<NegotiationSignal, { kind: 'ANSWER' }>, now: number): string | undefined {
    const { session } = this.#directPath;
    if (!this.#isOfferer || !session) return 'answer-to-nothing';
    this.#offerAt = undefined;
    this.#life.negotiated();
    if (session.remote?.ufrag === answer.ufrag) return undefined;
    session.setRemote(answer);
    this.#isNegotiated = true;
    for (const candidate of this.#peerCandidates) session.addCandidate(candidate, now);
    if (this.#sharesPort) session.try(now, laterMs('offerer', this.#firstCheck));
    return undefined;
  }

  #candidate(line: string, now: number): string | undefined {
    const candidate = parseCandidate(line);
    if (!candidate) return 'malformed-candidate';
    if (!this.#local.isUsable(candidate)) return 'unusable-candidate';
    const others = this.#peerCandidates.filter(
      ({ address, port }) => address !== candidate.address || port !== candidate.port,
    );
    this.#peerCandidates = [...others, candidate].slice(-MAX_CANDIDATES);
    this.#directPath.session?.addCandidate(candidate, now);
    return undefined;
  }

  #nameAgain(now: number): void {
    if (this.#directPath.selected || !this.#directPath.session?.isTrying) {
      this.#naming.stop();
      return;
    }
    this.#naming.again(now);
    this.#nameCandidates();
  }

  /** @returns whether there was any that the peer had not been told */
  #nameCandidates(): boolean {
    if (!this.#directPath.session || !this.#life.isProven || !this.#canSignal() || !this.#sharesPort) return false;
    const lines = this.#naming.untold(this.#local.candidates);
    for (const candidate of lines) this.#local.signal(this.#peer, { kind: 'CANDIDATE', candidate });
    return lines.length > 0;
  }

  /** Names all candidates anew: signals may have been lost with their carrier. */
  #nameAllCandidates(now: number): void {
    this.#naming.begin(now);
    this.#nameCandidates();
  }

  #forgetProcess(): void {
    this.#directPath.close();
    this.#offerAt = undefined;
    this.#peerCandidates = this.#savedCandidates;
    this.#isNegotiated = false;
  }

  #drawTieBreaker(): bigint {
    return Buffer.from(this.#local.random(8)).readBigUInt64BE();
  }

  get #sharesPort(): boolean {
    return this.#local.icePort.obstacle === null;
  }
}
