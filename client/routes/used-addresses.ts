import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { FullGraph } from '../../core/model/graph.ts';
import { hostResolvers } from './host-resolvers.ts';
import { DNS_RESOLVER, type UsedAddress } from './judge-route.ts';

/** A name that is not resolved within this has no address for the judgement. */
const LOOKUP_MS = 2_000;

/** Where a node reaches its control plane and what belongs to it. */
interface Places {
  readonly server: string;
  readonly signalingUrl: string;
  readonly relayOverride?: { readonly host: string } | undefined;
}

export type Resolve = (host: string) => Promise<readonly string[]>;

/** Returns the addresses that a node uses now of its control plane, bus, relays and STUN servers, whose names are resolved, and of DNS. */
export async function usedAddresses(
  { server, signalingUrl, relayOverride }: Places,
  { self, relay, relays = [], stun }: Pick<FullGraph, 'relay' | 'relays' | 'stun'> & Partial<Pick<FullGraph, 'self'>>,
  resolve: Resolve = resolved,
  resolvers: () => readonly string[] = hostResolvers,
): Promise<readonly UsedAddress[]> {
  const places: readonly (readonly [of: string, host: string])[] = [
    ['the control plane', hostOf(server)],
    ['the bus', hostOf(signalingUrl)],
    ...[relay?.url ?? '', ...relays.map(({ url }) => url)].map((url) => ['a relay', hostOf(url)] as const),
    ['a relay', relayOverride?.host ?? ''],
    ...stun.map((url) => ['a STUN server', hostOf(url)] as const),
    // Without it no name is found again. A name server of the node itself is in the tunnel.
    ...resolvers()
      .filter((address) => address !== self?.address)
      .map((address) => [DNS_RESOLVER, address] as const),
  ];
  const known = new Map<string, string>();
  for (const [of, host] of places) if (host !== '' && !known.has(host)) known.set(host, of);
  const found = await Promise.all(
    [...known].map(async ([host, of]) => {
      const addresses = isIP(host) ? [host] : await resolve(host).catch(() => []);
      return addresses.map((address): UsedAddress => ({ of, address }));
    }),
  );
  return found.flat();
}

async function resolved(host: string): Promise<readonly string[]> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${host} was not resolved in time.`)), LOOKUP_MS);
  try {
    const found = await Promise.race([lookup(host, { all: true }), late]);
    return found.map(({ address }) => address);
  } finally {
    clearTimeout(timer);
  }
}

function hostOf(place: string): string {
  const url = URL.parse(place.includes('://') ? place : `tcp://${place}`);
  return url?.hostname.replace(/^\[|\]$/g, '') ?? '';
}
