import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { formatHostPort, type HostPort, parseHostPort } from '../../net/host-port.ts';
import { DEFAULT_LIMITS } from '../../net/nats/limits.ts';
import { makeBusKeys } from './bus-keys.ts';

export interface BusConfigOptions {
  readonly directory: string;
  /** `host` or `host:port` of each server, as the others and clients reach it. */
  readonly servers: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

const CLIENT_PORT = 4_222;
const ROUTE_PORT = 6_222;

/**
 * Writes what a bus of NATS servers in token mode needs: a configuration for each server, what they share, the keys of the
 * control plane, and the key of the operator, which nothing needs again.
 *
 * @returns what to do with them, for people
 * @throws Error where a server is no host or named twice, or the directory holds such keys already
 */
export function writeBusConfig({ directory, servers, now }: BusConfigOptions): string {
  const places = serverAddressesOf(servers);
  const keysFile = path.join(directory, 'mesh-bus.json');
  if (existsSync(keysFile)) {
    throw new Error(
      `${keysFile} is there already, and other keys would shut out all nodes: give another directory, or remove it`,
    );
  }
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const { keys, operator, accounts } = makeBusKeys(Math.floor(now / 1_000));
  const routes = randomBytes(24).toString('base64url');
  const write = (name: string, text: string) => {
    const file = path.join(directory, name);
    writeFileSync(file, text, { mode: 0o600, flag: 'w' });
    chmodSync(file, 0o600);
  };
  write('accounts.conf', accounts);
  for (const place of places) write(`server-${place.n}.conf`, serverConfig(place, places, routes));
  write('operator.seed', operator);
  // Last: with it the directory is whole.
  write('mesh-bus.json', keys);
  const urls = places.map(({ host, port }) => `tls://${formatHostPort(host, port)}`).join(',');
  const folders = [...new Set(places.map(folderOf))].join(' ');
  return [
    `Written to ${directory}:`,
    ...places.map(({ n, host }) => `  server-${n}.conf  for ${host}`),
    '  accounts.conf  for each of them',
    '  mesh-bus.json  for each control plane: its user alone may read it',
    '  operator.seed  away from all of them: it is needed only to change the operator',
    'On each server, as root, where these files are beside its certificate and key (tls.crt, tls.key); nats-server runs as nats:',
    `  install -d -o nats -m 0700 /etc/nats ${folders}`,
    '  install -o nats -m 0400 accounts.conf server-<n>.conf tls.crt tls.key /etc/nats/',
    '  nats-server -c /etc/nats/server-<n>.conf',
    'Each control plane is started with:',
    `  MESH_BUS_URL=${urls}`,
    '  MESH_SIGNALING_AUTH=token',
    '  MESH_BUS_KEYS_FILE=<where>/mesh-bus.json',
    '',
  ].join('\n');
}

interface ServerAddress extends HostPort {
  /** From 1, of all. */
  readonly n: number;
  /** From 0, of those of its host. */
  readonly nthOfHost: number;
}

/** @throws Error where one is no server, or two would listen at one place */
function serverAddressesOf(servers: readonly string[]): readonly ServerAddress[] {
  const places: ServerAddress[] = [];
  for (const server of servers) {
    const place = parseHostPort(server) ?? parseHostPort(`${server}:${CLIENT_PORT}`);
    if (!place) throw new Error(`${server} is no server: give its host, or <host>:<port>`);
    const { host, port } = place;
    const ofHost = places.filter((other) => other.host === host);
    if (ofHost.some((other) => other.port === port)) {
      throw new Error(`${formatHostPort(host, port)} is named twice: give each server of one host another port`);
    }
    places.push({ host, port, n: places.length + 1, nthOfHost: ofHost.length });
  }
  return places;
}

/** Where a server keeps who was revoked. */
function folderOf({ nthOfHost }: ServerAddress): string {
  return `/var/lib/nats/accounts${nthOfHost === 0 ? '' : `-${nthOfHost + 1}`}`;
}

function serverConfig(own: ServerAddress, all: readonly ServerAddress[], password: string): string {
  const { n, host, port, nthOfHost } = own;
  const routeTo = (to: ServerAddress) => formatHostPort(to.host, ROUTE_PORT + to.nthOfHost);
  const routes = all.map((to) => `    "nats://mesh:${password}@${routeTo(to)}"`);
  const cluster =
    all.length === 1
      ? []
      : [
          '# Between the servers: let nobody else reach this port.',
          'cluster {',
          '  name: mesh',
          `  listen: "0.0.0.0:${ROUTE_PORT + nthOfHost}"`,
          `  authorization { user: mesh, password: "${password}" }`,
          '  routes: [',
          ...routes,
          '  ]',
          '}',
        ];
  return [
    `server_name: mesh-${n}`,
    `listen: "0.0.0.0:${port}"`,
    '# Of all clients together. Nothing here bounds those of one node: a firewall does (docs/bus.md#connections-of-one-node).',
    `max_connections: ${DEFAULT_LIMITS.maxConnections}`,
    '# What the others tell clients of it: its certificate has to have this name.',
    `client_advertise: "${formatHostPort(host, port)}"`,
    '# Without TLS take this block away, and write nats:// in MESH_BUS_URL.',
    'tls {',
    '  cert_file: "/etc/nats/tls.crt"',
    '  key_file: "/etc/nats/tls.key"',
    '}',
    ...cluster,
    '# Where it keeps who was revoked; to be writable by its user.',
    `resolver: { type: full, dir: "${folderOf(own)}", interval: "1m" }`,
    'include "accounts.conf"',
    '',
  ].join('\n');
}
