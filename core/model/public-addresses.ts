import { parseCidr } from './cidr.ts';
import { type Ranges, union, without } from './ranges.ts';

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

/** The most public addresses that one organisation has, by family: an IPv4 /8, an IPv6 /20. */
export const MOST_OF_ONE = { 4: 2n ** 24n, 6: 2n ** 108n } as const;

/** What of some ranges is routed everywhere. */
export function publicPartOf(ranges: Ranges): Ranges {
  return without(ranges, PRIVATE);
}
