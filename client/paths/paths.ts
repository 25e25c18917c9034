import type { IpRange } from '../../core/model/cidr.ts';
import { EPOCH_BYTES, readHeader } from '../../net/seal/format.ts';
import { Opener } from '../../net/seal/opener.ts';
import { Sealer } from '../../net/seal/sealer.ts';
import type { KeyPair } from '../../net/seal/x25519.ts';
import { type SealedSignal, SignalExchange } from '../../net/signal/exchange.ts';
import type { RelayCosts } from '../../net/signal/relay-costs.ts';
import { TRANSACTION_ID_BYTES } from '../../net/stun/message.ts';
import { SourceLimit } from '../../net/stun/rate.ts';
import { type Family, familyOf } from '../family.ts';
import type { Endpoint } from '../tunnel/tunnel.ts';
import type { PeerTraffic } from './activity.ts';
import { fractionOf } from './fraction.ts';
import { type Candidate, canonicalAddress, isUsableAddress } from './ice/candidate.ts';
import { decodeIce } from './ice/check-message.ts';
import { Pacer } from './ice/pacer.ts';
import type { IcePortState, LocalNode, RelayState } from './local-node.ts';
import { Pair, type PairPeer } from './pair.ts';
import type { PairStatus, PathCommand } from './path-command.ts';
import { Sessions } from './sessions.ts';
import { decodeEnvelope, encodeEnvelope } from './signal-envelope.ts';
import type { SignalRoute } from './signal-routes.ts';

/** A graph of thousands must not fill the bus at once. */
const SYNS_PER_SECOND = 100;
const SYN_BURST = 50;
/** The same for what peers are told of relays. */
const RELAYS_PER_SECOND = 100;
const RELAYS_BURST = 50;
/** Own addresses that peers are told of. */
const MAX_OWN_CANDIDATES = 12;
/** Signals that come past the bus, of each source: to open one that is forged in the name of a peer costs a key agreement. */
const ENVELOPES_PER_SECOND = 20;
const ENVELOPE_BURST = 40;
/** Limit of all addresses together, which anyone can make up; a relay names the true sender. */
const DATAGRAMS_PER_SECOND = 200;

export interface PathsOptions {
  readonly keyPair: KeyPair;
  readonly ownId: string;
  /** The subject of a peer's signals. */
  readonly subjectOf: (peerId: string) => string;
  /** Blocks that are carried by the tunnel itself. */
  readonly overlay: readonly IpRange[];
  /** The only addresses that the tunnel may be given; left out: both families. */
  readonly onlyFamily?: Family;
  readonly random: (bytes: number) => Uint8Array;
  /** Where the tunnel sends to since the time of an earlier agent, by public key. */
  readonly held?: ReadonlyMap<string, Endpoint>;
  /** Where peers that were met were reached directly, by public key. */
  readonly known?: ReadonlyMap<string, readonly Endpoint[]>;
}

/** It is changed here and read by the pairs. */
type WritableLocalNode = { -readonly [Name in keyof LocalNode]: LocalNode[Name] };

/**
 * Which path every peer is reached by: inputs with a time in, commands out. Holds no socket, clock or timer, and nothing that
 * arrives makes it throw. Times are milliseconds of a clock that does not jump.
 */
export class Paths {
  /** Ignored messages, by reason. */
  readonly ignored: Record<string, number> = {};
  readonly #opener: Opener;
  readonly #exchange: SignalExchange;
  readonly #pairs = new Map<string, Pair>();
  readonly #byId = new Map<string, Pair>();
  readonly #sessions: Sessions;
  readonly #local: WritableLocalNode;
  readonly #mayUse: (address: string) => boolean;
  readonly #synPacer = new Pacer(SYNS_PER_SECOND, SYN_BURST);
  readonly #relaysPacer = new Pacer(RELAYS_PER_SECOND, RELAYS_BURST);
  readonly #inherited: Map<string, Endpoint>;
  readonly #envelopes = new SourceLimit(ENVELOPES_PER_SECOND, ENVELOPE_BURST);
  readonly #datagrams = new SourceLimit(DATAGRAMS_PER_SECOND, DATAGRAMS_PER_SECOND);
  readonly #savedEndpoints: ReadonlyMap<string, readonly Endpoint[]>;
  readonly #ownSubject: string;
  #commands: PathCommand[] = [];

  constructor({ keyPair, ownId, subjectOf, overlay, onlyFamily, random, held, known = new Map() }: PathsOptions) {
    this.#inherited = new Map(held);
    this.#savedEndpoints = known;
    this.#ownSubject = subjectOf(ownId);
    this.#opener = new Opener(keyPair, (key) => this.#pairs.has(textOf(key)));
    this.#exchange = new SignalExchange({
      sealer: new Sealer(keyPair, random(EPOCH_BYTES)),
      opener: this.#opener,
      subjectOf: (key) => {
        const pair = this.#pairs.get(textOf(key));
        return pair && subjectOf(pair.peer.id);
      },
      random,
    });
    this.#mayUse = (address) => onlyFamily === undefined || familyOf(address) === onlyFamily;
    const isUsable = ({ address, port }: Endpoint) =>
      this.#mayUse(address) &&
      isUsableAddress(address, overlay) &&
      !this.#local.candidates.some((own) => own.type === 'host' && own.address === address && own.port === port);
    this.#sessions = new Sessions({ random, isUsable });
    this.#local = {
      ownKey: keyPair.publicKey,
      isBusUp: false,
      relay: { state: 'none' },
      relayCosts: undefined,
      icePort: { obstacle: null, isMapped: false },
      onlyFamily,
      candidates: [],
      sessions: this.#sessions,
      isUsable,
      random,
      fraction: () => fractionOf(random),
      emit: (command) => {
        this.#commands.push(command);
      },
      syn: (peer, now) => {
        const later = this.#synPacer.take(now);
        if (later === undefined) this.#publish(this.#exchange.syn(peer, now));
        return later;
      },
      tellsOfRelays: (now) => this.#relaysPacer.take(now),
      signal: (peer, message) => this.#publish(this.#exchange.send(peer, message)),
    };
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
      const held = this.#inherited.get(publicKey);
      const known = this.#savedEndpoints.get(publicKey);
      const key = Uint8Array.from(Buffer.from(publicKey, 'base64'));
      const peer: PairPeer = { id, publicKey, key, ...(held && { held }), ...(known && { known }) };
      const pair = new Pair(peer, this.#local, now);
      this.#pairs.set(publicKey, pair);
      this.#byId.set(id, pair);
    }
    // Peers that come later have no use for it.
    this.#inherited.clear();
    // The tunnel may have sessions with them already.
    this.#local.emit({ type: 'look' });
    return this.#take();
  }

  busChanged(isUp: boolean, now: number) {
    if (isUp !== this.#local.isBusUp) {
      this.#local.isBusUp = isUp;
      for (const pair of this.#pairs.values()) pair.busChanged(now);
    }
    return this.#take();
  }

  relayChanged(relay: RelayState, now: number) {
    const isNews = relay.state !== this.#local.relay.state;
    this.#local.relay = relay;
    // Another failed try to reach it changes nothing for anyone.
    if (isNews) for (const pair of this.#pairs.values()) pair.relayChanged(now);
    return this.#take();
  }

  /** Sets the relay costs that peers get; undefined for none. */
  relayCostsChanged(costs: RelayCosts | undefined, now: number) {
    this.#local.relayCosts = costs;
    for (const pair of this.#pairs.values()) pair.relayCostsChanged(now);
    return this.#take();
  }

  /** This host's addresses, as far as peers may know them, and whether STUN shares WireGuard's port. */
  candidatesChanged(candidates: readonly Candidate[], icePort: IcePortState, now: number) {
    this.#local.candidates = candidates.filter(({ address }) => this.#mayUse(address)).slice(0, MAX_OWN_CANDIDATES);
    this.#local.icePort = icePort;
    for (const pair of this.#pairs.values()) pair.candidatesChanged(now);
    return this.#take();
  }

  /** From the bus. */
  signalReceived(subject: string, sealed: Uint8Array, now: number) {
    this.#signalled(subject, sealed, 'bus', now);
    return this.#take();
  }

  /** A datagram from the shared port. */
  stunReceived(bytes: Uint8Array, from: Endpoint, now: number) {
    const address = canonicalAddress(from.address);
    const message = decodeIce(bytes);
    const owned = message && this.#sessions.of(message);
    const sealed = message ? undefined : decodeEnvelope(bytes);
    if (sealed && address !== undefined) this.#enveloped(sealed, { address, port: from.port }, address, now);
    else if (!message || address === undefined) this.#ignore('no-check');
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
    const owned = message && this.#sessions.of(message);
    const sealed = message ? undefined : decodeEnvelope(bytes);
    if (sealed) this.#enveloped(sealed, 'relay', publicKey, now);
    else if (!message || owned?.publicKey !== publicKey) this.#ignore('unknown-session');
    else {
      this.#ignore(owned.session.receive(message, bytes, 'relay', now));
      this.#pairs.get(publicKey)?.tick(now);
    }
    return this.#take();
  }

  /** Takes whether any relay has a peer, as they answered. */
  relayProbed(publicKey: string, isPresent: boolean, now: number) {
    this.#pairs.get(publicKey)?.relayProbed(isPresent, now);
    return this.#take();
  }

  /** A packet of the peer came by the relay. */
  relayHeard(publicKey: string, now: number) {
    this.#pairs.get(publicKey)?.relayHeard(now);
    return this.#take();
  }

  /** The first packet since the peer was heard went to it by the relay. */
  relayUsed(publicKey: string, now: number): void {
    this.#pairs.get(publicKey)?.relayUsed(now);
  }

  /** WireGuard hands a packet to the loopback. For a peer with a direct path that means it roamed back. */
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

  /** Tells whether a handshake that WireGuard begins with the peer by itself is to wait for that of the peer. */
  isYielding(publicKey: string): boolean {
    return this.#pairs.get(publicKey)?.isYielding === true;
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

  /** `source`: whose allowance it is, so that nobody uses up that of another. What names no peer costs nothing. */
  #enveloped(sealed: Uint8Array, by: SignalRoute, source: string, now: number): void {
    const sender = readHeader(sealed)?.sender;
    if (sender === undefined || !this.#pairs.has(textOf(sender))) this.#ignore('stranger');
    else if (!this.#envelopes.take(source, now)) this.#ignore('rate');
    else if (by !== 'relay' && !this.#datagrams.take('', now)) this.#ignore('rate');
    else this.#signalled(this.#ownSubject, sealed, by, now);
  }

  #signalled(subject: string, sealed: Uint8Array, by: SignalRoute | 'bus', now: number): void {
    const outcome = this.#exchange.receive(subject, sealed, now);
    // Questions that came past the bus are answered the same way, too.
    this.#publish(outcome.send, by === 'bus' ? undefined : by);
    if (outcome.dropped) this.#ignore(outcome.dropped);
    const { event, deliver } = outcome;
    const from = event?.peer ?? deliver?.from;
    const pair = from && this.#pairs.get(textOf(from));
    if (pair && event?.type === 'syn') pair.synReceived(event.newProcess, now);
    if (pair && event?.type === 'ready') pair.ready(event.newProcess, by, now);
    if (pair && deliver) this.#ignore(pair.signalReceived(deliver.message, by, now));
  }

  /** By the bus while it is up, by what else leads to the peer where that may not reach it, and by `also`. */
  #publish(signals: readonly SealedSignal[], also?: SignalRoute): void {
    for (const { to, subject, payload } of signals) {
      const publicKey = textOf(to);
      if (this.#local.isBusUp) this.#commands.push({ type: 'publish', subject, sealed: payload });
      const routes = this.#pairs.get(publicKey)?.signalRoutes ?? [];
      const isAmong = also !== undefined && routes.some((route) => nameOf(route) === nameOf(also));
      for (const route of also && !isAmong ? [also, ...routes] : routes) this.#envelope(publicKey, route, payload);
    }
  }

  #envelope(publicKey: string, route: SignalRoute, sealed: Uint8Array): void {
    const bytes = encodeEnvelope(this.#local.random(TRANSACTION_ID_BYTES), sealed);
    if (route === 'relay') this.#commands.push({ type: 'relay', publicKey, bytes });
    else if (this.#local.isUsable(route)) this.#commands.push({ type: 'stun', to: route, bytes });
  }

  #ignore(reason: string | undefined): void {
    if (reason !== undefined) this.ignored[reason] = (this.ignored[reason] ?? 0) + 1;
  }

  #countActive(): void {
    let active = 0;
    for (const pair of this.#pairs.values()) if (pair.isActive) active += 1;
    this.#sessions.activePairs = active;
  }
}

function nameOf(route: SignalRoute): string {
  return route === 'relay' ? route : `${route.address} ${route.port}`;
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
