import type { IpRange } from '../../core/network/cidr.ts';
import { EPOCH_BYTES } from '../../net/seal/format.ts';
import { Opener } from '../../net/seal/opener.ts';
import { Sealer } from '../../net/seal/sealer.ts';
import type { KeyPair } from '../../net/seal/x25519.ts';
import { type SealedSignal, SignalExchange } from '../../net/signal/exchange.ts';
import type { SignalMessage } from '../../net/signal/message.ts';
import type { Endpoint } from '../tunnel/tunnel.ts';
import { type Candidate, canonicalAddress, isUsableAddress } from './ice/candidate.ts';
import { decodeIce, type IceMessage, type IceRole } from './ice/check-message.ts';
import { Pacer } from './ice/pacer.ts';
import { type IceEvents, IceSession } from './ice/session.ts';
import { sessionNumberOf } from './ice/transactions.ts';
import { Pair, type PairPeer, type PeerTraffic } from './pair.ts';
import type { IcePortState, PairStatus, PathCommand, RelayState, Surroundings } from './surroundings.ts';

/** RFC 8445 section 14: all checks of this node together, apart from consent. */
const CHECKS_PER_SECOND = 400;
const CHECK_BURST = 20;
/** A graph of thousands must not fill the bus at once. */
const SYNS_PER_SECOND = 100;
const SYN_BURST = 50;
/** Under traffic, and how much rarer it gets for each further pair with traffic. */
const CONSENT_MS = 200;
const CONSENT_PER_ACTIVE_PAIR_MS = 4;
const MAX_CONSENT_MS = 1_000;
/** Own addresses that peers are told of. */
const MAX_OWN_CANDIDATES = 12;
const UFRAG_BYTES = 6;
const PWD_BYTES = 18;

export interface PathsOptions {
  readonly keyPair: KeyPair;
  /** The subject of a peer's signals. */
  readonly subjectOf: (peerId: string) => string;
  /** Blocks that are carried by the tunnel itself. */
  readonly overlay: readonly IpRange[];
  readonly random: (bytes: number) => Uint8Array;
}

/** A session and the peer it belongs to. */
interface OwnedSession {
  readonly session: IceSession;
  readonly publicKey: string;
}

/**
 * Which way every peer is reached: inputs with a time in, commands out. Holds no socket, clock or timer, and nothing that
 * arrives makes it throw. Times are milliseconds of a clock that does not jump.
 */
export class Paths {
  /** What arrived and was ignored, by reason. */
  readonly ignored: Record<string, number> = {};
  readonly #options: PathsOptions;
  readonly #opener: Opener;
  readonly #exchange: SignalExchange;
  readonly #pairs = new Map<string, Pair>();
  readonly #byId = new Map<string, Pair>();
  readonly #sessions = new Map<number, OwnedSession>();
  readonly #byUfrag = new Map<string, OwnedSession>();
  readonly #around: Surroundings;
  readonly #checkPacer = new Pacer(CHECKS_PER_SECOND, CHECK_BURST);
  readonly #synPacer = new Pacer(SYNS_PER_SECOND, SYN_BURST);
  #commands: PathCommand[] = [];
  #nextSession = 1;
  #isBusUp = false;
  #relay: RelayState = { state: 'none' };
  #icePort: IcePortState = { obstacle: null, isMapped: false };
  #candidates: readonly Candidate[] = [];
  #activePairs = 0;

  constructor(options: PathsOptions) {
    this.#options = options;
    const { keyPair, random } = options;
    this.#opener = new Opener(keyPair, (key) => this.#pairs.has(textOf(key)));
    this.#exchange = new SignalExchange({
      sealer: new Sealer(keyPair, random(EPOCH_BYTES)),
      opener: this.#opener,
      subjectOf: (key) => {
        const pair = this.#pairs.get(textOf(key));
        return pair && options.subjectOf(pair.peer.id);
      },
      random,
    });
    this.#around = this.#surroundings();
  }

  /** All peers of the newest graph, by public key: new ones are connected, others forgotten. */
  peersChanged(peers: readonly { readonly id: string; readonly publicKey: string }[], now: number) {
    const wanted = new Map(peers.map((peer) => [peer.publicKey, peer]));
    for (const [publicKey, pair] of this.#pairs) {
      if (wanted.get(publicKey)?.id === pair.peer.id) continue;
      pair.close('left', now);
      this.#forget(pair);
    }
    for (const { id, publicKey } of peers) {
      if (this.#pairs.has(publicKey)) continue;
      const peer: PairPeer = { id, publicKey, key: Uint8Array.from(Buffer.from(publicKey, 'base64')) };
      const pair = new Pair(peer, this.#around, now);
      this.#pairs.set(publicKey, pair);
      this.#byId.set(id, pair);
    }
    return this.#take();
  }

  busChanged(isUp: boolean, now: number) {
    if (isUp !== this.#isBusUp) {
      this.#isBusUp = isUp;
      for (const pair of this.#pairs.values()) pair.busChanged(now);
    }
    return this.#take();
  }

  relayChanged(relay: RelayState, now: number) {
    const isNews = relay.state !== this.#relay.state;
    this.#relay = relay;
    // Another failed try to reach it changes nothing for anyone.
    if (isNews) for (const pair of this.#pairs.values()) pair.relayChanged(now);
    return this.#take();
  }

  /** This host's addresses, as far as peers may know them, and whether STUN shares WireGuard's port. */
  candidatesChanged(candidates: readonly Candidate[], icePort: IcePortState, now: number) {
    this.#candidates = candidates.slice(0, MAX_OWN_CANDIDATES);
    this.#icePort = icePort;
    for (const pair of this.#pairs.values()) pair.candidatesChanged(now);
    return this.#take();
  }

  signalReceived(subject: string, sealed: Uint8Array, now: number) {
    const outcome = this.#exchange.receive(subject, sealed, now);
    this.#publish(outcome.send);
    if (outcome.dropped) this.#ignore(outcome.dropped);
    const { event, deliver } = outcome;
    const pair =
      (event ?? deliver) ? this.#pairs.get(textOf(event?.peer ?? deliver?.from ?? new Uint8Array())) : undefined;
    if (pair && event?.type === 'syn') pair.synReceived(event.newProcess, now);
    if (pair && event?.type === 'ready') pair.ready(event.newProcess, now);
    if (pair && deliver) this.#ignore(pair.signalReceived(deliver.message, now));
    return this.#take();
  }

  /** A datagram from the shared port. */
  stunReceived(bytes: Uint8Array, from: Endpoint, now: number) {
    const address = canonicalAddress(from.address);
    const message = decodeIce(bytes);
    const owned = message && this.#sessionOf(message);
    if (!message || address === undefined) this.#ignore('no-check');
    else if (!owned) this.#ignore('unknown-session');
    else {
      this.#ignore(owned.session.receive(message, bytes, { address, port: from.port }, now));
      this.#pairs.get(owned.publicKey)?.tick(now);
    }
    return this.#take();
  }

  /** A message from a peer's agent by way of the relay. */
  relayedReceived(publicKey: string, bytes: Uint8Array, now: number) {
    const message = decodeIce(bytes);
    const owned = message && this.#sessionOf(message);
    if (!message || owned?.publicKey !== publicKey) this.#ignore('unknown-session');
    else {
      this.#ignore(owned.session.receive(message, bytes, 'relay', now));
      this.#pairs.get(publicKey)?.tick(now);
    }
    return this.#take();
  }

  /** The relay's answer whether a peer is connected to it. */
  relayProbed(publicKey: string, isPresent: boolean, now: number) {
    this.#pairs.get(publicKey)?.relayProbed(isPresent, now);
    return this.#take();
  }

  /** A packet of the peer came by the relay. */
  relayHeard(publicKey: string, now: number) {
    this.#pairs.get(publicKey)?.relayHeard(now);
    return this.#take();
  }

  /** WireGuard hands a packet to the loopback. For a peer with a direct way that means it roamed back. */
  loopbackUsed(publicKey: string, now: number) {
    const pair = this.#pairs.get(publicKey);
    if (pair?.direct) pair.reassert(now);
    return this.#take();
  }

  trafficSeen(traffics: readonly PeerTraffic[], now: number) {
    for (const traffic of traffics) this.#pairs.get(traffic.publicKey)?.trafficSeen(traffic, now);
    this.#countActive();
    return this.#take();
  }

  hurry(peerId: string, now: number) {
    this.#byId.get(peerId)?.hurry(now);
    return this.#take();
  }

  /** To be called at `deadline`, or later. */
  tick(now: number) {
    const due = [...this.#pairs.values()].filter(({ deadline }) => deadline <= now);
    // Whoever waits longest goes first: the pacers may not have enough for all.
    if (due.length > 1) due.sort((a, b) => a.deadline - b.deadline);
    for (const pair of due) pair.tick(now);
    this.#countActive();
    return this.#take();
  }

  /** Tells every peer that this node goes. */
  close(now: number) {
    for (const pair of this.#pairs.values()) {
      pair.close('down', now);
      this.#forget(pair);
    }
    return this.#take();
  }

  /** When `tick` has something to do; Infinity for never. */
  get deadline(): number {
    let deadline = Number.POSITIVE_INFINITY;
    for (const pair of this.#pairs.values()) deadline = Math.min(deadline, pair.deadline);
    return deadline;
  }

  get hasDirectPairs(): boolean {
    for (const pair of this.#pairs.values()) if (pair.direct) return true;
    return false;
  }

  get statuses(): readonly PairStatus[] {
    return [...this.#pairs.values()].map(({ status }) => status);
  }

  statusOf(peerId: string): PairStatus | undefined {
    return this.#byId.get(peerId)?.status;
  }

  publicKeyOf(peerId: string): string | undefined {
    return this.#byId.get(peerId)?.peer.publicKey;
  }

  #take(): readonly PathCommand[] {
    const commands = this.#commands;
    if (commands.length > 0) this.#commands = [];
    return commands;
  }

  #forget({ peer }: Pair): void {
    this.#pairs.delete(peer.publicKey);
    this.#byId.delete(peer.id);
    this.#opener.forget(peer.key);
  }

  #publish(signals: readonly SealedSignal[]): void {
    for (const { subject, payload } of signals) this.#commands.push({ type: 'publish', subject, sealed: payload });
  }

  #ignore(reason: string | undefined): void {
    if (reason !== undefined) this.ignored[reason] = (this.ignored[reason] ?? 0) + 1;
  }

  #sessionOf(message: IceMessage): OwnedSession | undefined {
    switch (message.kind) {
      case 'check':
      case 'lost':
        return this.#byUfrag.get(message.ufrags[0]);
      case 'success':
      case 'role-conflict':
        return this.#sessions.get(sessionNumberOf(message.transactionId));
      default:
        return message satisfies never;
    }
  }

  #countActive(): void {
    let active = 0;
    for (const pair of this.#pairs.values()) if (pair.isActive) active += 1;
    this.#activePairs = active;
  }

  #surroundings(): Surroundings {
    const paths = this;
    const { random, overlay } = this.#options;
    const fraction = () => Buffer.from(random(4)).readUInt32BE() / 2 ** 32;
    return {
      ownKey: this.#options.keyPair.publicKey,
      get isBusUp() {
        return paths.#isBusUp;
      },
      get relay() {
        return paths.#relay;
      },
      get icePort() {
        return paths.#icePort;
      },
      get candidates() {
        return paths.#candidates;
      },
      emit: (command) => {
        paths.#commands.push(command);
      },
      fraction,
      random,
      syn(peer, now) {
        const later = paths.#synPacer.take(now);
        if (later === undefined) paths.#publish(paths.#exchange.syn(peer, now));
        return later;
      },
      signal: (peer: Uint8Array, message: SignalMessage) => paths.#publish(paths.#exchange.send(peer, message)),
      openSession: (publicKey, role, tieBreaker, events) => paths.#openSession(publicKey, role, tieBreaker, events),
      closeSession(session) {
        paths.#sessions.delete(session.number);
        paths.#byUfrag.delete(session.local.ufrag);
      },
      isUsable: ({ address, port }) =>
        isUsableAddress(address, overlay) &&
        !paths.#candidates.some((own) => own.type === 'host' && own.address === address && own.port === port),
    };
  }

  #openSession(publicKey: string, role: IceRole, tieBreaker: bigint, events: IceEvents): IceSession {
    const { random } = this.#options;
    const number = this.#nextSession;
    this.#nextSession = (number % 0xfffffffe) + 1;
    const session = new IceSession({
      number,
      role,
      local: { ufrag: textOf(random(UFRAG_BYTES)), pwd: textOf(random(PWD_BYTES)) },
      tieBreaker,
      random,
      pacer: this.#checkPacer,
      consentInterval: () =>
        Math.min(MAX_CONSENT_MS, Math.max(CONSENT_MS, this.#activePairs * CONSENT_PER_ACTIVE_PAIR_MS)),
      isUsable: this.#around.isUsable,
      events,
    });
    const owned = { session, publicKey };
    this.#sessions.set(number, owned);
    this.#byUfrag.set(session.local.ufrag, owned);
    return session;
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
