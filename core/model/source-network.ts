import { plainAddress } from '../base/origin.ts';
import { parseAddress } from './cidr.ts';

const IPV6_BITS = 128;
/** Prefix length of the IPv6 network of a site. */
const SITE_BITS = 56;

/**
 * Returns the network that limits count as one source: an IPv4 address, in either form, or the network of so many bits of an
 * IPv6 address, because the owner of such a network makes addresses in it at will.
 */
export function sourceNetwork(origin: string, ipv6Bits: number): string {
  const address = plainAddress(origin);
  const range = parseAddress(address);
  if (range?.family !== 6) return address;
  return `${(range.from >> BigInt(IPV6_BITS - ipv6Bits)).toString(16)}/${ipv6Bits}`;
}

/** Returns what many sources of one owner have in common: the /24 of an IPv4 address, the /48 of an IPv6 address. */
export function wideNetwork(origin: string): string {
  const address = sourceNetwork(origin, 48);
  const range = parseAddress(address);
  return range ? `${(range.from >> 8n).toString(16)}/24` : address;
}

/** The source that requests, connections and turns are counted by: whose site it is. */
export function sourceSite(origin: string): string {
  return sourceNetwork(origin, SITE_BITS);
}
