import { isIP } from 'node:net';
import { isLoopback } from '../../core/base/loopback.ts';
import { identifiedAs, type ServerIdentityCheck } from '../../net/bus/server-identity.ts';
import { formatHostPort, parseHostPort } from '../../net/host-port.ts';
import type { Addresses } from '../lookup.ts';

/** The default port of NATS. */
const BUS_PORT = 4_222;

export interface BusTls {
  readonly rejectUnauthorized: true;
  readonly checkServerIdentity: ServerIdentityCheck;
}

/** How the bus is spoken to, by its address. */
export interface BusManner {
  /** TLS or nothing; undefined: TLS where the bus offers it, else in clear. */
  readonly tls: BusTls | undefined;
  /** Tells whether the secret of this node is sent: over TLS, to this machine, or on request. */
  readonly signsIn: boolean;
  /** Tells whether another server of the bus, `host:port`, may be spoken to as well: a secret goes nowhere that its address may not. */
  readonly follows: (server: string) => boolean;
}

/** `inClear`: the secret is asked to be sent without TLS too. `servers`: `host:port` of others of the same bus. */
export function busMannerOf(url: string, inClear: boolean, servers: readonly string[]): BusManner {
  const { protocol, hostname = '' } = URL.parse(url) ?? {};
  const host = hostname.replace(/^\[|\]$/g, '');
  if (protocol === 'tls:') {
    const hosts = [host, ...servers.flatMap((server) => parseHostPort(server)?.host ?? [])];
    const tls = { rejectUnauthorized: true, checkServerIdentity: identifiedAs(() => hosts) } as const;
    return { tls, signsIn: true, follows: () => true };
  }
  const signsIn = inClear || isLoopback(host);
  const follows = (server: string) => inClear || !signsIn || isLoopback(parseHostPort(server)?.host ?? '');
  return { tls: undefined, signsIn, follows };
}

/** Returns servers of the bus, URLs or `host:port`, with their last addresses in the place of names while DNS is away. */
export async function placesOf(servers: readonly string[], addresses: Addresses): Promise<readonly string[]> {
  const places = servers.map(async (server) => {
    const { hostname = '', port } = URL.parse(server.includes('://') ? server : `nats://${server}`) ?? {};
    if (hostname === '' || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return [server];
    const last = await addresses.lastWhileAway(hostname);
    return last?.map(({ address }) => formatHostPort(address, Number(port || BUS_PORT))) ?? [server];
  });
  return (await Promise.all(places)).flat();
}
