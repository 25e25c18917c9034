import { parseAddress, parseCidr } from './cidr.ts';
import type { NetworkState } from './state.ts';

/** A freed address is given to nobody else for so long: old firewalls and caches still know its former peer. */
export const ADDRESS_REST_MS = 24 * 3_600_000;

/** The IPv4 block of a network as numbers; undefined when the text is no IPv4 CIDR. */
function hostRange(cidr: string): { readonly first: number; readonly last: number } | undefined {
  const range = parseCidr(cidr);
  if (range?.family !== 4) return undefined;
  // The network and the broadcast address name no host.
  return { first: Number(range.from) + 1, last: Number(range.to) - 1 };
}

export function hostCount(cidr: string): number {
  const range = hostRange(cidr);
  return range ? Math.max(0, range.last - range.first + 1) : 0;
}

export function isHostOf(cidr: string, address: string): boolean {
  const range = hostRange(cidr);
  const value = addressNumber(address);
  return range !== undefined && value !== undefined && range.first <= value && value <= range.last;
}

/** The lowest address of the block that is not taken; undefined when there is none. */
export function lowestFree(cidr: string, taken: ReadonlySet<string>): string | undefined {
  const range = hostRange(cidr);
  if (!range) return undefined;
  for (let value = range.first; value <= range.last; value += 1) {
    const address = formatAddress(value);
    if (!taken.has(address)) return address;
  }
  return undefined;
}

/** Every overlay address that a peer of the workspace holds. */
export function heldAddresses(state: NetworkState): Set<string> {
  const held = new Set<string>();
  for (const { status } of state.peers.values()) if (status.address !== null) held.add(status.address);
  return held;
}

function addressNumber(address: string): number | undefined {
  const parsed = parseAddress(address);
  return parsed?.family === 4 ? Number(parsed.from) : undefined;
}

function formatAddress(value: number): string {
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
}
