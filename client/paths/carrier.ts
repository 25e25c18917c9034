import type { Log } from '../../core/base/ports.ts';
import type { KeyPair } from '../../net/seal/x25519.ts';
import type { RelayCosts } from '../../net/signal/relay-costs.ts';
import { countOf, partsOf } from '../../platform/segments.ts';
import type { Family } from '../family.ts';
import type { Lookup } from '../lookup.ts';
import { isInitiation, Loopback, type LoopbackPeer } from '../relay/loopback.ts';
import type { OpenLoopbackLink } from '../relay/loopback-link.ts';
import { type RelayPlace, Relays } from '../relay/relays.ts';
import type { Endpoint } from '../tunnel/tunnel.ts';
import type { ConnectivityMetrics } from './connectivity.ts';
import type { RelayState } from './local-node.ts';

/** STUN between agents begins with 0, WireGuard's packets with 1 to 4. */
const STUN_FIRST_BYTE = 0;
/** A packet of WireGuard that only says that its sender is there: nobody answers it. */
const KEEPALIVE_BYTES = 32;

interface CarrierOptions {
  readonly openLink: OpenLoopbackLink;
  readonly keyPair: KeyPair;
  readonly wireguardPort: number;
  /** Preferred family of the loopback endpoints. */
  readonly family: Family;
  /** Milliseconds; must not jump. */
  readonly now: () => number;
  readonly log: Log;
  readonly lookup: Lookup;
  readonly onRelay: (state: RelayState) => void;
  /** A relay says that the credential of the graph is used up. */
  readonly onExpired: () => void;
  readonly onCosts: (costs: RelayCosts) => void;
  /** Takes whether any relay has the peer, as they answered a probe. */
  readonly onProbed: (publicKey: string, isPresent: boolean) => void;
  /** The peer's agent, not its WireGuard, sent this by the relay. */
  readonly onMessage: (publicKey: string, bytes: Uint8Array) => void;
  /** Packets of the peer came by the relay. Called for each frame. */
  readonly onHeard: (publicKey: string) => void;
  /** The first packet since the peer was heard went to it by the relay. */
  readonly onUsed: (publicKey: string) => void;
  /** Tells whether a handshake that WireGuard begins with the peer is delayed until `sendInitiation`. */
  readonly isYielding: (publicKey: string) => boolean;
  /** WireGuard sends this packet to the loopback although the peer has a direct path. */
  readonly onRoamed: (publicKey: string, direct: Endpoint, packet: Uint8Array) => void;
}

/**
 * Carries packets between the relays and the loopback endpoints that WireGuard reaches relayed peers at. Peers are named by
 * their public keys.
 */
export class Carrier {
  readonly #options: CarrierOptions;
  readonly #loopback: Loopback;
  readonly #relays: Relays;
  readonly #directs = new Map<string, Endpoint>();
  /** Peers whose packets the relay may carry. */
  readonly #relayUsers = new Set<string>();
  /** Peers to whom a packet went by the relay since they were heard. */
  readonly #unanswered = new Set<string>();
  #notNegotiated = 0;

  private constructor(options: CarrierOptions, loopback: Loopback) {
    const { keyPair, now, log, lookup, onRelay, onExpired, onCosts, onProbed } = options;
    this.#options = options;
    this.#loopback = loopback;
    this.#relays = new Relays({
      keyPair,
      now,
      random: Math.random,
      log,
      lookup,
      relayIdOf: (publicKey) => loopback.peer(publicKey)?.relayId,
      publicKeyOf: (relayId) => loopback.peerOfRelayId(relayId)?.publicKey,
      onState: () => onRelay(this.relayState),
      onPackets: (from, packets, segment) => this.#fromRelay(from, packets, segment),
      onProbed,
      onExpired,
      onCosts,
    });
  }

  static async open(options: CarrierOptions): Promise<Carrier> {
    const { openLink, wireguardPort, family, now, log } = options;
    const loopback = await Loopback.open({
      openLink,
      wireguardPort,
      family,
      now,
      log,
      // No peer has an address before the carrier is there.
      onPackets: (peer, packets, segment) => carrier.#fromTunnel(peer, packets, segment),
      onDrained: () => carrier.#relays.flush(),
    });
    const carrier = new Carrier(options, loopback);
    return carrier;
  }

  get relayState(): RelayState {
    const { state, reason } = this.#relays;
    return state === 'ready' || state === 'none' ? { state } : { state: 'away', reason: reason ?? 'connecting' };
  }

  get hasDirects(): boolean {
    return this.#directs.size > 0;
  }

  get metrics(): ConnectivityMetrics['relay'] {
    const { home, reason, counts, views } = this.#relays;
    return {
      state: home === undefined || home.state === 'spare' ? 'none' : home.state,
      address: home?.address ?? null,
      reason: reason ?? null,
      sentPackets: counts.sent,
      receivedPackets: counts.received,
      dropped: { ...counts.dropped, 'not-negotiated': this.#notNegotiated, 'unknown-peer': this.#loopback.strangers },
      all: views,
    };
  }

  /** Makes loopback endpoints. @returns those of the peers that have one */
  async admit(publicKeys: readonly string[]): Promise<ReadonlyMap<string, Endpoint>> {
    await this.#loopback.admit(publicKeys);
    const endpoints = publicKeys.flatMap((publicKey) => {
      const endpoint = this.#loopback.endpointOf(publicKey);
      return endpoint ? [[publicKey, endpoint] as const] : [];
    });
    return new Map(endpoints);
  }

  /** Forgets all other peers. */
  async keep(publicKeys: ReadonlySet<string>): Promise<void> {
    for (const known of [this.#directs, this.#relayUsers, this.#unanswered]) {
      for (const publicKey of known.keys()) if (!publicKeys.has(publicKey)) known.delete(publicKey);
    }
    this.#relays.keep(publicKeys);
    await this.#loopback.keep(publicKeys);
  }

  /** The relays of the newest graph. */
  use(relays: readonly RelayPlace[]): void {
    this.#relays.use(relays);
  }

  peerCosts(publicKey: string, costs: RelayCosts): void {
    this.#relays.peerCosts(publicKey, costs);
  }

  /** Returns the name of the relay that carries packets for a peer, where there are several. */
  relayOf(publicKey: string): string | undefined {
    return this.#relays.areSeveral ? this.#relays.routeOf(publicKey) : undefined;
  }

  /** The world sees this host elsewhere: the sessions with relays may be dead without a sign of it. */
  suspect(): void {
    this.#relays.suspect();
  }

  /** This host's network changed, and these are its addresses. */
  networkChanged(addresses: ReadonlySet<string>): void {
    this.#relays.networkChanged(addresses);
  }

  restoreRules(): void {
    this.#loopback.restoreRules();
  }

  /** The peer was met: from now on the relay may carry its packets. */
  meet(publicKey: string): void {
    this.#relayUsers.add(publicKey);
    if (!this.#options.isYielding(publicKey)) this.sendInitiation(publicKey);
  }

  /** Where a peer is from now on. @returns the endpoint for WireGuard, if there is one */
  move(publicKey: string, to: Endpoint | 'relay'): Endpoint | undefined {
    const relayed = this.#loopback.endpointOf(publicKey);
    if (to === 'relay') {
      if (relayed) this.#directs.delete(publicKey);
      return relayed;
    }
    this.#directs.set(publicKey, to);
    return to;
  }

  /** A handshake that WireGuard began before there was a path need not wait for its next try. */
  sendInitiation(publicKey: string): void {
    const initiation = this.#loopback.initiationOf(publicKey);
    const peer = this.#loopback.peer(publicKey);
    if (initiation && peer) this.#carry(peer, initiation, 0);
  }

  /** By way of the relay, to the peer's agent. */
  sendMessage(publicKey: string, bytes: Uint8Array): void {
    const peer = this.#loopback.peer(publicKey);
    if (peer) this.#relays.forward(publicKey, peer.relayId, bytes, 0);
  }

  /** Asks the relays whether the peer is connected to them. */
  probe(publicKey: string): void {
    this.#relays.probe(publicKey);
  }

  /** Tells whether an endpoint of WireGuard leads here. */
  owns(endpoint: Endpoint): boolean {
    return this.#loopback.owns(endpoint);
  }

  /** The endpoint of a relayed peer as people are shown it. */
  shownEndpointOf(publicKey: string): Endpoint | undefined {
    return this.#loopback.shownEndpointOf(publicKey);
  }

  async close(): Promise<void> {
    this.#relays.close();
    await this.#loopback.close();
  }

  /** Takes packets that WireGuard sent to the loopback. */
  #fromTunnel(peer: LoopbackPeer, packets: Uint8Array, segment: number): void {
    if (isInitiation(packets) && this.#options.isYielding(peer.publicKey)) return;
    this.#carry(peer, packets, segment);
  }

  #carry({ publicKey, relayId }: LoopbackPeer, packets: Uint8Array, segment: number): void {
    const direct = this.#directs.get(publicKey);
    if (direct) {
      // They leave later, and are valid only now.
      const kept = Uint8Array.from(packets);
      for (const packet of partsOf(kept, segment)) this.#options.onRoamed(publicKey, direct, packet);
    } else if (this.#relayUsers.has(publicKey)) {
      this.#relays.forward(publicKey, relayId, packets, segment);
      if (packets.length <= KEEPALIVE_BYTES || this.#unanswered.has(publicKey)) return;
      this.#unanswered.add(publicKey);
      this.#options.onUsed(publicKey);
    } else this.#notNegotiated += countOf(packets, segment);
  }

  #fromRelay(from: bigint, packets: Uint8Array, segment: number): void {
    const peer = this.#loopback.peerOfRelayId(from);
    if (!peer) return;
    if (packets[0] === STUN_FIRST_BYTE) {
      if (segment === 0) this.#options.onMessage(peer.publicKey, Uint8Array.from(packets));
      return;
    }
    this.#loopback.deliver(peer, packets, segment);
    this.#unanswered.delete(peer.publicKey);
    this.#options.onHeard(peer.publicKey);
  }
}
