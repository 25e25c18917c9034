import { Resolver } from 'node:dns';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { isLoopback } from '../../core/base/loopback.ts';
import { textIn } from '../if-readable.ts';

/** Where systemd-resolved listens, and where it writes down whom it asks itself. */
const STUBS = ['127.0.0.53', '127.0.0.54'];
const BEHIND_THE_STUB = '/run/systemd/resolve/resolv.conf';

/** Facts of a host about its DNS resolvers; tests supply their own. */
interface ResolverFacts {
  /** As in /etc/resolv.conf now; a port may follow an address. */
  readonly servers: readonly string[];
  /** Text of the file that systemd-resolved writes; empty without it. */
  readonly behindTheStub: string;
  /** Addresses of this host. */
  readonly own: readonly string[];
}

/** Returns the addresses of the DNS resolvers that this host asks on the network. Those on the host itself need no route. */
export function hostResolvers(facts: ResolverFacts = factsNow()): readonly string[] {
  const { servers, behindTheStub, own } = facts;
  const behind = servers.some((server) => STUBS.includes(server))
    ? behindTheStub.matchAll(/^nameserver[ \t]+(\S+)/gm)
    : [];
  const all = [...servers, ...[...behind].map(([, server = '']) => server)].map(withoutPort);
  return [...new Set(all)].filter((address) => isIP(address) !== 0 && !isLoopback(address) && !own.includes(address));
}

function factsNow(): ResolverFacts {
  return {
    servers: new Resolver().getServers(),
    behindTheStub: textIn(BEHIND_THE_STUB),
    own: Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address)),
  };
}

function withoutPort(server: string): string {
  return /^\[(.*)\](?::\d+)?$/.exec(server)?.[1] ?? /^([\d.]+):\d+$/.exec(server)?.[1] ?? server;
}
