import type { Log } from '../core/base/ports.ts';
import { parseIp } from './ip.ts';

/** Where datagrams come from and go to. */
export interface SocketAddress {
  /** In its usual text form. */
  readonly address: string;
  /** 4 or 16 bytes. */
  readonly ip: Uint8Array;
  readonly port: number;
}

/** @throws Error when the address is none */
export function socketAddressOf(address: string, port: number): SocketAddress {
  const ip = parseIp(address);
  if (ip === undefined) throw new Error(`${address} is no address.`);
  return { address, ip, port };
}

export interface DatagramOptions {
  readonly family: 'ipv4' | 'ipv6';
  /** The host that the socket is bound to: an address of that family, or a name of one. */
  readonly host: string;
  /** 0 asks the system for a free one. */
  readonly port: number;
  /** Bytes that wait in the kernel at most; it may grant less. */
  readonly receiveBufferBytes: number;
  readonly sendBufferBytes?: number;
  /**
   * Longer datagrams may be cut. `coalesced`, for traffic within this host alone: datagrams of one length may come and go as one
   * message (platform/segments.ts). Not every network card could cut it.
   */
  readonly maxBytes: number | 'coalesced';
  readonly log?: Log;
  /** A datagram, or coalesced ones by their segment. All of it is valid until the handler returns. */
  readonly onDatagrams: (bytes: Uint8Array, segment: number, from: SocketAddress) => void;
  /** All that waited was read; not called for what arrives too slowly to wait. */
  readonly onDrained?: () => void;
}

export interface DatagramSocket {
  readonly port: number;
  /** A datagram, or coalesced ones; the bytes are read before this returns. One that cannot be sent is lost, as on the network. */
  send(bytes: Uint8Array, segment: number, to: SocketAddress): void;
  /** From now on nothing is received or sent. Idempotent. */
  close(): Promise<void>;
}

export interface Datagrams {
  /** @throws Error with the system's code when it cannot be bound */
  open(options: DatagramOptions): Promise<DatagramSocket>;
}
