import { formatHostPort } from '../../net/host-port.ts';
import { keyPairOf } from '../../net/seal/x25519.ts';
import type { Endpoint, TunnelPeer, TunnelPeerState } from './tunnel.ts';

/**
 * The configuration protocol of userspace WireGuard (wireguard.com/xplatform): lines `key=value`, a blank line ends a
 * request and an answer, keys in hex, `errno=0` when it was done. Pure.
 */
export interface DeviceState {
  readonly listenPort: number;
  /** X25519, base64; null before it has a key. */
  readonly publicKey: string | null;
  readonly peers: readonly TunnelPeerState[];
}

export interface DeviceChange {
  /** 32 bytes. Peers stay. */
  readonly privateKey?: Uint8Array;
  readonly listenPort?: number;
  /** Public keys; they go before others come, whose addresses may be theirs. */
  readonly removed?: readonly string[];
  readonly put?: readonly TunnelPeer[];
  /** Changes peers that are there; a peer that is gone meanwhile stays gone. */
  readonly endpoints?: readonly (readonly [publicKey: string, endpoint: Endpoint])[];
  /** Seconds, of such peers too. */
  readonly keepalives?: readonly (readonly [publicKey: string, seconds: number])[];
}

export const GET_REQUEST = 'get=1\n\n';

export function encodeSet({
  privateKey,
  listenPort,
  removed = [],
  put = [],
  endpoints = [],
  keepalives = [],
}: DeviceChange): string {
  const lines = ['set=1'];
  if (privateKey) lines.push(`private_key=${Buffer.from(privateKey).toString('hex')}`);
  if (listenPort !== undefined) lines.push(`listen_port=${listenPort}`);
  for (const key of removed) lines.push(`public_key=${hexOf(key)}`, 'remove=true');
  for (const { publicKey, allowedIps, endpoint, keepalive } of put) {
    lines.push(`public_key=${hexOf(publicKey)}`);
    if (endpoint) lines.push(`endpoint=${formatEndpoint(endpoint)}`);
    lines.push(`persistent_keepalive_interval=${keepalive}`, 'replace_allowed_ips=true');
    for (const address of allowedIps) lines.push(`allowed_ip=${address}`);
  }
  for (const [key, endpoint] of endpoints) {
    lines.push(`public_key=${hexOf(key)}`, 'update_only=true', `endpoint=${formatEndpoint(endpoint)}`);
  }
  for (const [key, seconds] of keepalives) {
    lines.push(`public_key=${hexOf(key)}`, 'update_only=true', `persistent_keepalive_interval=${seconds}`);
  }
  return `${lines.join('\n')}\n\n`;
}

/** `errno` of an answer; undefined while it is not complete. */
export function errnoOf(answer: string): number | undefined {
  const [, errno] = /(?:^|\n)errno=(-?\d+)\n\n$/.exec(answer) ?? [];
  return errno === undefined ? undefined : Math.abs(Number(errno));
}

/** Reads the answer to {@link GET_REQUEST}. Keys it does not know are passed over. */
export function parseGet(answer: string): DeviceState {
  let listenPort = 0;
  let publicKey: string | null = null;
  const peers: Mutable<TunnelPeerState>[] = [];
  for (const line of answer.split('\n')) {
    const at = line.indexOf('=');
    const value = line.slice(at + 1);
    const peer = peers.at(-1);
    switch (line.slice(0, at)) {
      case 'private_key':
        publicKey = publicKeyOf(value);
        break;
      case 'listen_port':
        listenPort = Number(value);
        break;
      case 'public_key':
        peers.push({
          publicKey: Buffer.from(value, 'hex').toString('base64'),
          allowedIps: [],
          endpoint: null,
          handshakeAt: null,
          receivedBytes: 0,
          sentBytes: 0,
        });
        break;
      case 'endpoint':
        if (peer) peer.endpoint = parseEndpoint(value);
        break;
      case 'allowed_ip':
        if (peer) peer.allowedIps = [...peer.allowedIps, value];
        break;
      case 'last_handshake_time_sec':
        if (peer && value !== '0') peer.handshakeAt = Number(value) * 1_000;
        break;
      case 'last_handshake_time_nsec':
        if (peer?.handshakeAt) peer.handshakeAt += Math.floor(Number(value) / 1_000_000);
        break;
      case 'rx_bytes':
        if (peer) peer.receivedBytes = Number(value);
        break;
      case 'tx_bytes':
        if (peer) peer.sentBytes = Number(value);
        break;
    }
  }
  return { listenPort, publicKey, peers };
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export function formatEndpoint({ address, port }: Endpoint): string {
  return formatHostPort(address, port);
}

/** Null when the text is no endpoint, as `(none)`. */
export function parseEndpoint(text: string): Endpoint | null {
  const [, v6, v4, port] = /^(?:\[([0-9a-fA-F:.]+(?:%\w+)?)\]|([\d.]+)):(\d{1,5})$/.exec(text) ?? [];
  const address = v6 ?? v4;
  return address === undefined ? null : { address, port: Number(port) };
}

function publicKeyOf(privateKey: string): string | null {
  const bytes = Buffer.from(privateKey, 'hex');
  return bytes.length !== 32 || bytes.every((byte) => byte === 0)
    ? null
    : Buffer.from(keyPairOf(bytes).publicKey).toString('base64');
}

function hexOf(key: string): string {
  return Buffer.from(key, 'base64').toString('hex');
}
