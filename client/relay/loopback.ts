import type { Log } from '../../core/base/ports.ts';
import { peerIdOf } from '../../net/relay/frame.ts';
import { type SocketAddress, socketAddressOf } from '../../platform/datagrams.ts';
import { parseIp } from '../../platform/ip.ts';
import { partsOf } from '../../platform/segments.ts';
import type { Family } from '../family.ts';
import type { Endpoint } from '../tunnel/tunnel.ts';
import { shownAddress } from './loopback-addresses.ts';
import type { LoopbackLink, OpenLoopbackLink } from './loopback-link.ts';

/** Numbers of peers: what fits the last group of an address. */
export const MAX_LOOPBACK_PEERS = 65_535;
/** WireGuard's packets of data. */
const DATA_TYPE = 4;
/** First bytes of a handshake, and WireGuard's wait for the answer before it makes another. */
const INITIATION_TYPE = 1;
const INITIATION_BYTES = 148;
const INITIATION_LIFE_MS = 5_000;

/** A peer as the loopback knows it. */
export interface LoopbackPeer {
  /** Base64. */
  readonly publicKey: string;
  /** As frames of the relay name it. */
  readonly relayId: bigint;
  readonly number: number;
  readonly address: string;
}

interface Entry extends LoopbackPeer {
  /** WireGuard, with this peer's address as the source of what it gets: by the redirect, and without it. */
  readonly byRedirect: SocketAddress;
  readonly withoutRedirect: SocketAddress;
  /** The last initiation that WireGuard sent, and when. */
  initiation: { readonly packet: Uint8Array; readonly at: number } | undefined;
  /** The last initiation of the peer that WireGuard got. */
  deliveredInitiation: Uint8Array | undefined;
}

export interface LoopbackOptions {
  readonly openLink: OpenLoopbackLink;
  /** UDP port of WireGuard. */
  readonly wireguardPort: number;
  /** Preferred family of the endpoints. */
  readonly family: Family;
  readonly now: () => number;
  readonly log: Log;
  /** WireGuard sent this to a peer, coalesced packets by their segment (platform/segments.ts). Valid until the handler returns. */
  readonly onPackets: (peer: LoopbackPeer, packets: Uint8Array, segment: number) => void;
  /** All that waited was read; not called for what arrives too slowly to wait. */
  readonly onDrained: () => void;
}

/**
 * The loopback endpoints of all peers behind one socket: what WireGuard sends to a peer's address arrives here with that
 * address as its source, and what is sent back to the address seems to come from it.
 */
export class Loopback {
  /** Packets from an address that belongs to no peer. */
  strangers = 0;
  readonly #options: LoopbackOptions;
  /** UDP port of the agent's socket. */
  readonly port: number;
  readonly #link: LoopbackLink;
  #isRedirecting = false;
  #restoring: Promise<void> | undefined;
  readonly #byKey = new Map<string, Entry>();
  readonly #byNumber = new Map<number, Entry>();
  readonly #byRelayId = new Map<bigint, Entry>();
  #lastNumber = 0;
  #isClosed = false;

  private constructor(options: LoopbackOptions, link: LoopbackLink) {
    this.#options = options;
    this.#link = link;
    this.port = link.socket.port;
  }

  static async open(options: LoopbackOptions): Promise<Loopback> {
    const { wireguardPort, family, log, onDrained } = options;
    const link = await options.openLink({
      wireguardPort,
      family,
      log,
      onDatagrams: (packets, segment, { ip, port }) => loopback.#receive(packets, segment, ip, port),
      onDrained,
    });
    const loopback = new Loopback(options, link);
    loopback.#isRedirecting = await link.redirect();
    return loopback;
  }

  /** Gives each key an address, in one step for all. Keys beyond `MAX_LOOPBACK_PEERS` get none. */
  async admit(publicKeys: Iterable<string>): Promise<void> {
    const added: number[] = [];
    for (const publicKey of publicKeys) {
      if (this.#byKey.has(publicKey)) continue;
      const number = this.#freeNumber();
      if (number === undefined) break;
      const address = this.#link.addresses.addressOf(number);
      const entry: Entry = {
        publicKey,
        relayId: peerIdOf(Buffer.from(publicKey, 'base64')),
        number,
        address,
        byRedirect: socketAddressOf(address, this.port),
        withoutRedirect: socketAddressOf(address, this.#options.wireguardPort),
        initiation: undefined,
        deliveredInitiation: undefined,
      };
      this.#byKey.set(publicKey, entry);
      this.#byNumber.set(number, entry);
      this.#byRelayId.set(entry.relayId, entry);
      added.push(number);
    }
    if (added.length > 0) await this.#link.addresses.add(added);
  }

  /** Forgets all peers but these. */
  async keep(publicKeys: ReadonlySet<string>): Promise<void> {
    const gone = [...this.#byKey.values()].filter(({ publicKey }) => !publicKeys.has(publicKey));
    for (const { publicKey, relayId, number } of gone) {
      this.#byKey.delete(publicKey);
      this.#byNumber.delete(number);
      this.#byRelayId.delete(relayId);
    }
    if (gone.length > 0) await this.#link.addresses.remove(gone.map(({ number }) => number));
  }

  peer(publicKey: string): LoopbackPeer | undefined {
    return this.#byKey.get(publicKey);
  }

  peerOfRelayId(relayId: bigint): LoopbackPeer | undefined {
    return this.#byRelayId.get(relayId);
  }

  /** Where WireGuard reaches a peer by way of the relay. */
  endpointOf(publicKey: string): Endpoint | undefined {
    const entry = this.#byKey.get(publicKey);
    return entry && { address: entry.address, port: this.port };
  }

  /** The same as people are shown it: in the prefix that means "relayed", whatever lies underneath. */
  shownEndpointOf(publicKey: string): Endpoint | undefined {
    const entry = this.#byKey.get(publicKey);
    return entry && { address: shownAddress(this.#options.wireguardPort, entry.number), port: this.port };
  }

  /** Tells whether an endpoint of WireGuard is one of these. */
  owns({ address, port }: Endpoint): boolean {
    const ip = port === this.port ? parseIp(address) : undefined;
    return ip !== undefined && this.#entryOf(ip) !== undefined;
  }

  /**
   * Hands WireGuard packets that seem to come from the peer, coalesced ones by their segment, but no initiation twice. Of two at
   * once wireguard-go answers both, forgets what it agreed on with the first, and the peer, which took the first answer,
   * speaks to nobody for 15 s. They are read before this returns.
   */
  deliver(peer: LoopbackPeer, packets: Uint8Array, segment: number): void {
    if (segment > 0 && packets[0] !== DATA_TYPE) {
      for (const packet of partsOf(packets, segment)) this.deliver(peer, packet, 0);
      return;
    }
    const entry = this.#byNumber.get(peer.number);
    if (!entry) return;
    if (isInitiation(packets)) {
      const before = entry.deliveredInitiation;
      if (before && Buffer.compare(before, packets) === 0) return;
      entry.deliveredInitiation = Uint8Array.from(packets);
    }
    this.#link.socket.send(packets, segment, this.#isRedirecting ? entry.byRedirect : entry.withoutRedirect);
  }

  /**
   * The handshake initiation that WireGuard still waits for an answer to, if any. WireGuard sends one in 5 s at most, so a
   * path that opens right after one was lost would stay silent: whoever opens a path sends it again.
   */
  initiationOf(publicKey: string): Uint8Array | undefined {
    const initiation = this.#byKey.get(publicKey)?.initiation;
    return initiation && this.#options.now() - initiation.at < INITIATION_LIFE_MS ? initiation.packet : undefined;
  }

  /** Something took packet rules of this host away, perhaps these. */
  restoreRules(): void {
    if (this.#isClosed) return;
    this.#restoring ??= this.#link
      .redirect()
      .then((isRedirecting) => {
        this.#isRedirecting = isRedirecting;
      })
      .catch((error: unknown) =>
        this.#options.log.warn({ err: error }, 'The packet rules of the relay were not put back.'),
      )
      .finally(() => {
        this.#restoring = undefined;
      });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#restoring;
    await this.#link.close();
  }

  /** Packets for WireGuard came back: something took the rule away. They go directly while the rule is put back. */
  #redirectIsGone(entry: Entry, packets: Uint8Array, segment: number): void {
    if (this.#isRedirecting) {
      this.#isRedirecting = false;
      this.restoreRules();
    }
    this.#link.socket.send(packets, segment, entry.withoutRedirect);
  }

  #receive(packets: Uint8Array, segment: number, ip: Uint8Array, port: number): void {
    const entry = this.#entryOf(ip);
    if (entry && port === this.port) {
      this.#redirectIsGone(entry, packets, segment);
      return;
    }
    if (entry === undefined || port !== this.#options.wireguardPort) {
      this.strangers += 1;
      return;
    }
    // Linux coalesces only what was sent at once, and WireGuard sends an initiation alone.
    if (isInitiation(packets)) {
      entry.initiation = { packet: Uint8Array.from(packets), at: this.#options.now() };
    }
    this.#options.onPackets(entry, packets, segment);
  }

  /** A peer's number is the end of its address. */
  #entryOf(ip: Uint8Array): Entry | undefined {
    const entry = this.#byNumber.get(((ip[ip.length - 2] ?? 0) << 8) | (ip[ip.length - 1] ?? 0));
    return entry && Buffer.compare(entry.withoutRedirect.ip, ip) === 0 ? entry : undefined;
  }

  #freeNumber(): number | undefined {
    if (this.#byNumber.size >= MAX_LOOPBACK_PEERS) return undefined;
    // Onward from the last, so that a number rests as long as possible before it is another peer's.
    do this.#lastNumber = (this.#lastNumber % MAX_LOOPBACK_PEERS) + 1;
    while (this.#byNumber.has(this.#lastNumber));
    return this.#lastNumber;
  }
}

/** A handshake initiation of WireGuard. */
export function isInitiation(packet: Uint8Array): boolean {
  return packet[0] === INITIATION_TYPE && packet.length === INITIATION_BYTES;
}
