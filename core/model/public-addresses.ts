import { containsRange, type IpRange, parseAddress, parseCidr } from './cidr.ts';
import { SPECIAL_RANGES } from './network-blocks.ts';
import { intersection, type Ranges, union, without } from './ranges.ts';

/** Addresses that only a local network or a provider routes (RFC 1918, 6598, 3927, 1122, 4193, 4291). */
const PRIVATE = union(
  [
    '10.0.0.0/8',
    '172.16.0.0/12',
    '192.168.0.0/16',
    '100.64.0.0/10',
    '169.254.0.0/16',
    '127.0.0.0/8',
    'fc00::/7',
    'fe80::/10',
  ].flatMap((text) => parseCidr(text) ?? []),
);

/** Beside the private ones, what no service on the internet has (IANA special-purpose address registries). */
const SPECIAL = union(
  [
    ...SPECIAL_RANGES.map(({ cidr }) => cidr),
    // The metadata service of Azure: a public address that only its own machines reach.
    '168.63.129.16/32',
    // All but 2000::/3 is not global: unspecified, loopback, mapped and translated IPv4, multicast.
    '::/3',
    '4000::/2',
    '8000::/1',
    // Teredo, benchmarks, ORCHID; documentation; 6to4.
    '2001::/23',
    '2001:db8::/32',
    '2002::/16',
    '3fff::/20',
  ].flatMap((text) => parseCidr(text) ?? []),
);

const NOT_GLOBAL = union([...PRIVATE, ...SPECIAL]);

/** Returns true if the whole internet can reach every address of a range. */
export function isGlobal(range: IpRange): boolean {
  return intersection([range], NOT_GLOBAL).length === 0;
}

/** IPv6 blocks whose addresses lead to an IPv4 address, and the bits below it: mapped; NAT64 (RFC 6052); 6to4 (RFC 3056). */
const TRANSLATED = (
  [
    ['::ffff:0:0/96', 0n],
    ['64:ff9b::/96', 0n],
    ['2002::/16', 80n],
  ] as const
).flatMap(([text, below]) => {
  const block = parseCidr(text);
  return block ? [{ block, below }] : [];
});

/** Returns true if a connection to this address ends on the internet: an IPv6 address that leads to an IPv4 address is judged as that. */
export function leadsToInternet(text: string): boolean {
  const address = parseAddress(text);
  if (!address) return false;
  const translated = TRANSLATED.find(({ block }) => containsRange(block, address));
  if (!translated) return isGlobal(address);
  const ipv4 = (address.from >> translated.below) & 0xffff_ffffn;
  return isGlobal({ family: 4, from: ipv4, to: ipv4 });
}

/** The most public addresses that one organisation has, by family: an IPv4 /8, an IPv6 /20. */
export const MOST_OF_ONE = { 4: 2n ** 24n, 6: 2n ** 108n } as const;

/** Returns the part of some ranges that is routed everywhere. */
export function publicPartOf(ranges: Ranges): Ranges {
  return without(ranges, PRIVATE);
}
