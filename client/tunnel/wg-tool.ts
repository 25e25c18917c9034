import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { MeshError } from '../../core/base/errors.ts';
import { runProgram } from '../run-program.ts';
import type { TunnelPeerState } from './tunnel.ts';
import { type DeviceChange, type DeviceState, formatEndpoint, parseEndpoint } from './uapi.ts';
import { portInUse } from './uapi-socket.ts';

/** The kernel's WireGuard, by `wg`. Keys travel in files of memory that only this user reads, never in arguments. */
export async function setWithTool(interfaceName: string, change: DeviceChange, program = runProgram): Promise<void> {
  const wg = (args: readonly string[], port?: number) => run(program, ['set', interfaceName, ...args], port);
  const { privateKey, listenPort, removed = [], put = [], endpoints = [], keepalives = [] } = change;
  await inMemory(async (directory) => {
    if (privateKey) {
      const file = path.join(directory, 'key');
      await writeFile(file, `${Buffer.from(privateKey).toString('base64')}\n`, { mode: 0o600, flag: 'wx' });
      await wg(['private-key', file], listenPort);
    }
    if (listenPort !== undefined) await wg(['listen-port', String(listenPort)], listenPort);
    for (let from = 0; from < removed.length; from += PEERS_A_CALL) {
      const some = removed.slice(from, from + PEERS_A_CALL);
      await wg(some.flatMap((key) => ['peer', key, 'remove']));
    }
    if (put.length > 0) {
      const file = path.join(directory, 'peers');
      await writeFile(file, peersFile(put), { mode: 0o600, flag: 'wx' });
      await run(program, ['addconf', interfaceName, file]);
    }
    // `wg set` makes a peer that is not there; one that left meanwhile stays away.
    const updates = [
      ...endpoints.map(([key, endpoint]) => [key, 'endpoint', formatEndpoint(endpoint)] as const),
      ...keepalives.map(([key, seconds]) => [key, 'persistent-keepalive', String(seconds)] as const),
    ];
    const known = updates.length > 0 ? (await run(program, ['show', interfaceName, 'peers'])).split('\n') : [];
    for (const [key, ...update] of updates) if (known.includes(key)) await wg(['peer', key, ...update]);
  });
}

export async function getWithTool(interfaceName: string, program = runProgram): Promise<DeviceState> {
  return parseDump(await run(program, ['show', interfaceName, 'dump']));
}

/** `[Peer]` sections as `wg addconf` reads them: it replaces the allowed addresses of peers it names, and keeps other peers. */
export function peersFile(put: NonNullable<DeviceChange['put']>): string {
  const sections = put.map(({ publicKey, allowedIps, endpoint, keepalive }) =>
    [
      '[Peer]',
      `PublicKey = ${publicKey}`,
      `AllowedIPs = ${allowedIps.join(', ')}`,
      `PersistentKeepalive = ${keepalive}`,
      ...(endpoint ? [`Endpoint = ${formatEndpoint(endpoint)}`] : []),
      '',
    ].join('\n'),
  );
  return sections.join('');
}

/** `wg show <interface> dump`: a line for the interface, then one a peer, fields between tabs. */
export function parseDump(dump: string): DeviceState {
  const [device = '', ...lines] = dump.trimEnd().split('\n');
  const peers = lines.map((line): TunnelPeerState => {
    const [publicKey = '', , endpoint = '', allowed = '', handshake = '0', received = '0', sent = '0'] =
      line.split('\t');
    return {
      publicKey,
      allowedIps: allowed === '(none)' ? [] : allowed.split(','),
      endpoint: parseEndpoint(endpoint),
      handshakeAt: handshake === '0' ? null : Number(handshake) * 1_000,
      receivedBytes: Number(received),
      sentBytes: Number(sent),
    };
  });
  const [, publicKey = '(none)', listenPort = '0'] = device.split('\t');
  return { listenPort: Number(listenPort), publicKey: publicKey === '(none)' ? null : publicKey, peers };
}

/** Far below what the kernel takes in one argument list. */
const PEERS_A_CALL = 1_000;

async function run(program: typeof runProgram, args: readonly string[], port = 0): Promise<string> {
  const { code, stdout, stderr } = await program('wg', args);
  if (code === 0) return stdout;
  if (stderr.includes('Address already in use')) throw portInUse(port);
  throw new MeshError('unavailable', `wg ${args[0]} ${args[1]} failed: ${stderr.trim()}`);
}

async function inMemory(use: (directory: string) => Promise<void>): Promise<void> {
  const parent = ['/dev/shm', '/run'].find((directory) => existsSync(directory)) ?? '/tmp';
  const directory = await mkdtemp(path.join(parent, 'mesh-'));
  try {
    await use(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
