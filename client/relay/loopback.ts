import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import type { Log } from '../../core/ports.ts';
import { peerIdOf } from '../../net/relay/frame.ts';
import type { Endpoint } from '../tunnel/tunnel.ts';
import { type Door, relayDoor } from './door.ts';
import { type LoopbackAddresses, openLoopbackAddresses, shownAddress } from './loopback-addresses.ts';

/** WireGuard sends in bursts, and they wait here while a turn of the event loop lasts. The kernel may grant less. */
const SOCKET_BUFFER_BYTES = 8_388_608;
/** Numbers of peers: what fits the last group of an address. */
export const MAX_LOOPBACK_PEERS = 65_535;
/** A handshake initiation (type 1) of WireGuard, and how long it waits for its answer before it makes another. */
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
  /** The last initiation that WireGuard sent, and when. */
  initiation: { readonly packet: Uint8Array; readonly at: number } | undefined;
}

export interface LoopbackOptions {
  /** UDP port of WireGuard. */
  readonly wireguardPort: number;
  readonly now: () => number;
  readonly log: Log;
  /** WireGuard sent this to a peer. The packet is this handler's own. */
  readonly onPacket: (peer: LoopbackPeer, packet: Buffer) => void;
}

/**
 * The loopback endpoints of all peers behind one socket: what WireGuard sends to a peer's address arrives here with that
 * address as its source, and what is sent back to the address seems to come from it.
 */
export class Loopback {
  /** Packets from an address that belongs to no peer. */
  strangers = 0;
  readonly #options: LoopbackOptions;
  /** Of the agent's socket, UDP. */
  readonly port: number;
  readonly #socket: Socket;
  readonly #door: Door;
  #isDoorOpen = false;
  readonly #addresses: LoopbackAddresses;
  readonly #byKey = new Map<string, Entry>();
  readonly #byAddress = new Map<string, Entry>();
  readonly #byRelayId = new Map<bigint, Entry>();
  readonly #numbers = new Set<number>();
  #lastNumber = 0;
  #isClosed = false;

  private constructor(options: LoopbackOptions, addresses: LoopbackAddresses, socket: Socket) {
    this.#options = options;
    this.#addresses = addresses;
    this.#socket = socket;
    this.port = socket.address().port;
    this.#door = relayDoor(options.wireguardPort, this.port);
    socket.on('message', (packet, source) => this.#receive(packet, source));
    // One packet's failure; WireGuard sends again.
    socket.on('error', (error) => options.log.debug({ err: error }, 'A loopback packet was not sent.'));
  }

  static async open(options: LoopbackOptions): Promise<Loopback> {
    const addresses = await openLoopbackAddresses(options.wireguardPort);
    const family = addresses.family === 'udp6' ? 6 : 4;
    const socket = createSocket({
      type: addresses.family,
      ipv6Only: addresses.family === 'udp6',
      recvBufferSize: SOCKET_BUFFER_BYTES,
      sendBufferSize: SOCKET_BUFFER_BYTES,
      // Only addresses are sent to: the resolver would be a detour for each packet.
      lookup: (name, _options, callback) => callback(null, name, family),
    });
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once('error', reject);
        socket.bind(0, addresses.family === 'udp6' ? '::' : '0.0.0.0', () => {
          socket.off('error', reject);
          resolve();
        });
      });
    } catch (error) {
      socket.close();
      await addresses.close();
      throw error;
    }
    const loopback = new Loopback(options, addresses, socket);
    loopback.#isDoorOpen = await loopback.#door.open();
    return loopback;
  }

  /** Gives each key an address, in one step for all. Keys beyond `MAX_LOOPBACK_PEERS` get none. */
  async admit(publicKeys: Iterable<string>): Promise<void> {
    const added: number[] = [];
    for (const publicKey of publicKeys) {
      if (this.#byKey.has(publicKey)) continue;
      const number = this.#freeNumber();
      if (number === undefined) break;
      const entry: Entry = {
        publicKey,
        relayId: peerIdOf(Buffer.from(publicKey, 'base64')),
        number,
        address: this.#addresses.addressOf(number),
        initiation: undefined,
      };
      this.#byKey.set(publicKey, entry);
      this.#byAddress.set(entry.address, entry);
      this.#byRelayId.set(entry.relayId, entry);
      added.push(number);
    }
    if (added.length > 0) await this.#addresses.add(added);
  }

  /** Forgets all peers but these. */
  async keep(publicKeys: ReadonlySet<string>): Promise<void> {
    const gone = [...this.#byKey.values()].filter(({ publicKey }) => !publicKeys.has(publicKey));
    for (const { publicKey, address, relayId, number } of gone) {
      this.#byKey.delete(publicKey);
      this.#byAddress.delete(address);
      this.#byRelayId.delete(relayId);
      this.#numbers.delete(number);
    }
    if (gone.length > 0) await this.#addresses.remove(gone.map(({ number }) => number));
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

  /** Whether an endpoint of WireGuard is one of these. */
  owns({ address, port }: Endpoint): boolean {
    return port === this.port && this.#byAddress.has(address);
  }

  /** Hands WireGuard a packet that seems to come from the peer. The packet is read before this returns. */
  deliver({ address }: LoopbackPeer, packet: Uint8Array): void {
    if (this.#isClosed) return;
    this.#socket.send(packet, this.#isDoorOpen ? this.port : this.#options.wireguardPort, address);
  }

  /**
   * The handshake initiation that WireGuard still waits for an answer to, if any. WireGuard sends one in 5 s at most, so a
   * way that opens right after one was lost would stay silent: whoever opens a way sends it again.
   */
  initiationOf(publicKey: string): Uint8Array | undefined {
    const initiation = this.#byKey.get(publicKey)?.initiation;
    return initiation && this.#options.now() - initiation.at < INITIATION_LIFE_MS ? initiation.packet : undefined;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()));
    await Promise.all([this.#addresses.close(), this.#door.close()]);
  }

  /** A packet for WireGuard came back: something took the rule away. It goes the plain way while the rule is put back. */
  #doorIsGone(entry: Entry, packet: Uint8Array): void {
    if (this.#isDoorOpen) {
      this.#isDoorOpen = false;
      this.#door
        .open()
        .then((isOpen) => {
          this.#isDoorOpen = isOpen;
        })
        .catch((error: unknown) => this.#options.log.warn({ err: error }, 'The relay has no door to WireGuard.'));
    }
    this.#socket.send(packet, this.#options.wireguardPort, entry.address);
  }

  #receive(packet: Buffer, source: RemoteInfo): void {
    const sender = source.port === this.port ? this.#byAddress.get(source.address) : undefined;
    if (sender) {
      this.#doorIsGone(sender, packet);
      return;
    }
    const entry = source.port === this.#options.wireguardPort ? this.#byAddress.get(source.address) : undefined;
    if (entry === undefined) {
      this.strangers += 1;
      return;
    }
    if (packet[0] === INITIATION_TYPE && packet.length === INITIATION_BYTES) {
      entry.initiation = { packet: Uint8Array.from(packet), at: this.#options.now() };
    }
    this.#options.onPacket(entry, packet);
  }

  #freeNumber(): number | undefined {
    if (this.#numbers.size >= MAX_LOOPBACK_PEERS) return undefined;
    // Onward from the last, so that a number rests as long as possible before it is another peer's.
    do this.#lastNumber = (this.#lastNumber % MAX_LOOPBACK_PEERS) + 1;
    while (this.#numbers.has(this.#lastNumber));
    this.#numbers.add(this.#lastNumber);
    return this.#lastNumber;
  }
}
