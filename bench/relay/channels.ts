import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { RelayClient } from '../../net/relay/client.ts';
import { relayKeysOf, workspaceTagOf } from '../../net/relay/credential.ts';
import { HEADER_BYTES, peerIdOf } from '../../net/relay/frame.ts';
import { generateKeyPair } from '../../net/seal/x25519.ts';
import { decodeXorAddress, encodeXorAddress } from '../../net/stun/address.ts';
import { decodeStun, encodeStun } from '../../net/stun/message.ts';
import type { IpBytes } from '../../platform/ip.ts';

const ALLOCATE = 0x003;
const CHANNEL_BIND = 0x009;
const CHANNEL_NUMBER = 0x000c;
const XOR_PEER_ADDRESS = 0x0012;
const XOR_RELAYED_ADDRESS = 0x0016;
const REQUESTED_TRANSPORT = 0x0019;
const UDP = Uint8Array.of(17, 0, 0, 0);
const FIRST_CHANNEL = 0x4000;
const CHANNEL_HEADER_BYTES = 4;

export const BENCH_TOKEN = 'bench';
/** A full WireGuard packet at an MTU of 1,420. */
export const PAYLOAD_BYTES = 1_452;

/** One sender and its receivers behind one server, ready to send. */
export interface Channels {
  readonly sender: Socket;
  readonly receivers: readonly Receiver[];
  /** The bytes that send one packet to each receiver. */
  readonly frames: readonly Uint8Array[];
  /** Bytes of one packet as a receiver gets it. */
  readonly frameBytes: number;
  close(): void;
}

/** Counts what comes in; must cost less than the server it measures. */
export class Receiver {
  readonly socket: Socket;
  bytes = 0;
  onBytes: (bytes: Uint8Array) => void;

  constructor(port: number) {
    this.onBytes = () => {};
    const callback = (length: number, bytes: Uint8Array): boolean => {
      this.bytes += length;
      this.onBytes(bytes.subarray(0, length));
      return true;
    };
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true, onread: { buffer: SHARED, callback } });
  }

  /** Ends the set-up: from here bytes are packets. */
  reset(): void {
    this.bytes = 0;
    this.onBytes = () => {};
  }

  /** Waits for an answer that `read` understands. */
  ask<T>(question: Uint8Array, read: (bytes: Uint8Array) => T | undefined): Promise<T> {
    return new Promise((resolve) => {
      this.onBytes = (bytes) => {
        const answer = read(bytes);
        if (answer !== undefined) resolve(answer);
      };
      this.socket.write(question);
    });
  }
}

/** One read buffer for all: bytes are counted before the next read. */
const SHARED = Buffer.allocUnsafe(262_144);

/** What a receiver is known by at its server: a peer id, or the address TURN relays for it. */
export type Address = bigint | Endpoint;

/** Clients of one protocol. The sender may live in another process than the receivers: only addresses go between. */
export interface Dialect {
  readonly name: 'mesh' | 'coturn';
  /** Where the packet starts in a frame that a receiver gets. */
  readonly payloadAt: number;
  join(port: number): Promise<Member>;
}

export interface Member {
  readonly node: Receiver;
  readonly address: Address;
  /** Lets packets of the sender in. */
  admit(sender: Address): Promise<void>;
  /** @returns the bytes that send one packet to each receiver */
  aim(receivers: readonly Address[]): Promise<readonly Uint8Array[]>;
}

export const RELAY: Dialect = {
  name: 'mesh',
  payloadAt: HEADER_BYTES,
  async join(port) {
    const pair = generateKeyPair();
    const client = new RelayClient(pair, { keys: relayKeysOf(BENCH_TOKEN), workspace: workspaceTagOf('w_bench') });
    const node = new Receiver(port);
    await once(node.socket, 'connect');
    await node.ask(client.start(Date.now()), (bytes) => {
      for (const event of client.receive(bytes, Date.now())) if (event.type === 'send') node.socket.write(event.bytes);
      return client.state === 'ready' ? true : undefined;
    });
    node.reset();
    const payload = randomBytes(PAYLOAD_BYTES);
    return {
      node,
      address: peerIdOf(pair.publicKey),
      admit: async () => {},
      aim: async (ids) => ids.map((id) => (typeof id === 'bigint' && client.forward(id, payload)) || payload),
    };
  },
};

/** TURN over TCP with an allocation at each end (RFC 8656): a packet crosses the server as ChannelData, UDP, ChannelData. */
export const TURN: Dialect = {
  name: 'coturn',
  payloadAt: CHANNEL_HEADER_BYTES,
  async join(port) {
    const { node, relayed } = await allocate(port);
    const payload = randomBytes(PAYLOAD_BYTES);
    return {
      node,
      address: relayed,
      async admit(sender) {
        await bindChannel(node, FIRST_CHANNEL, sender);
        node.reset();
      },
      async aim(receivers) {
        for (const [n, receiver] of receivers.entries()) await bindChannel(node, FIRST_CHANNEL + n, receiver);
        node.reset();
        return receivers.map((_, n) => channelData(FIRST_CHANNEL + n, payload));
      },
    };
  },
};

/** Sender and receivers in this process. */
export async function openChannels(dialect: Dialect, port: number, count: number): Promise<Channels> {
  const from = await dialect.join(port);
  const to = await Promise.all(Array.from({ length: count }, () => dialect.join(port)));
  const frames = await from.aim(to.map(({ address }) => address));
  for (const member of to) await member.admit(from.address);
  return channels(
    from.node,
    to.map(({ node }) => node),
    frames,
  );
}

function channels(from: Receiver, receivers: readonly Receiver[], frames: readonly Uint8Array[]): Channels {
  return {
    sender: from.socket,
    receivers,
    frames,
    frameBytes: frames[0]?.length ?? 0,
    close() {
      for (const { socket } of [from, ...receivers]) socket.destroy();
    },
  };
}

interface Endpoint {
  readonly ip: IpBytes;
  readonly port: number;
}

async function allocate(port: number): Promise<{ readonly node: Receiver; readonly relayed: Endpoint }> {
  const node = new Receiver(port);
  await once(node.socket, 'connect');
  const transactionId = randomBytes(12);
  const attributes = [{ type: REQUESTED_TRANSPORT, value: UDP }];
  const relayed = await node.ask(
    encodeStun({ class: 'request', method: ALLOCATE, transactionId, attributes }),
    (bytes) => {
      const value = decodeStun(bytes)?.attributes.find(({ type }) => type === XOR_RELAYED_ADDRESS)?.value;
      return value && decodeXorAddress(value, transactionId);
    },
  );
  return { node, relayed };
}

async function bindChannel(node: Receiver, channel: number, peer: Address): Promise<void> {
  if (typeof peer === 'bigint') throw new Error('TURN knows its receivers by their relayed address.');
  const transactionId = randomBytes(12);
  const attributes = [
    { type: CHANNEL_NUMBER, value: Uint8Array.of(channel >> 8, channel & 255, 0, 0) },
    { type: XOR_PEER_ADDRESS, value: encodeXorAddress(peer.ip, peer.port, transactionId) },
  ];
  await node.ask(encodeStun({ class: 'request', method: CHANNEL_BIND, transactionId, attributes }), (bytes) => {
    const answer = decodeStun(bytes);
    if (answer?.class === 'error') throw new Error('The TURN server refuses to bind a channel.');
    return answer?.class;
  });
}

function channelData(channel: number, payload: Uint8Array): Uint8Array {
  return Buffer.concat([
    Uint8Array.of(channel >> 8, channel & 255, payload.length >> 8, payload.length & 255),
    payload,
    new Uint8Array(-payload.length & 3),
  ]);
}
