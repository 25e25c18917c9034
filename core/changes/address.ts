import { parseAddress, parseCidr } from '../model/cidr.ts';
import { LONGEST_ONLINE_MS } from '../model/heartbeat-times.ts';

/**
 * A freed address stays in quarantine until its last neighbours have seen it go: the answer to a heartbeat names the newest graph, and
 * who has not sent one for as long counts as offline and begins with a whole graph. Twice that, for what is on its way.
 */
export const ADDRESS_QUARANTINE_MS = 2 * LONGEST_ONLINE_MS;

/** The IPv4 block of a network as numbers; undefined when the text is no IPv4 CIDR. */
export function hostRange(cidr: string): { readonly first: number; readonly last: number } | undefined {
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

/** Returns the address at the same place of another block; undefined where that block has no host there. */
export function sameHostIn(to: string, from: string, address: string): string | undefined {
  const [target, source, value] = [hostRange(to), hostRange(from), addressNumber(address)];
  if (!target || !source || value === undefined || value < source.first || value > source.last) return undefined;
  const moved = target.first + (value - source.first);
  return moved <= target.last ? formatAddress(moved) : undefined;
}

export function addressNumber(address: string): number | undefined {
  const parsed = parseAddress(address);
  return parsed?.family === 4 ? Number(parsed.from) : undefined;
}

export function formatAddress(value: number): string {
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
}
