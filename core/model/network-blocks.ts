import { containsRange, type IpRange, overlaps, parseCidr } from './cidr.ts';

/** An IPv4 range that has a meaning of its own, so that no network may use it (IANA special-purpose address registry). */
interface SpecialRange {
  readonly cidr: string;
  readonly use: string;
  readonly range: IpRange;
}

export const SPECIAL_RANGES: readonly SpecialRange[] = [
  special('0.0.0.0/8', 'this host and this network'),
  // Nodes use 127.77.0.0/16 for relayed peers.
  special('127.0.0.0/8', 'loopback'),
  special('169.254.0.0/16', 'link-local addresses'),
  special('192.0.0.0/24', 'IETF protocols'),
  special('192.0.2.0/24', 'documentation'),
  special('192.88.99.0/24', '6to4 relays'),
  special('198.18.0.0/15', 'benchmarks'),
  special('198.51.100.0/24', 'documentation'),
  special('203.0.113.0/24', 'documentation'),
  special('224.0.0.0/4', 'multicast'),
  special('240.0.0.0/4', 'future use and broadcast'),
];

/** RFC 1918, and the shared address space of RFC 6598. */
const PRIVATE_BLOCKS = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10'];
const PRIVATE = PRIVATE_BLOCKS.flatMap((text) => parseCidr(text) ?? []);

/** Returns the special-use range that a block overlaps. */
export function specialRangeIn(block: IpRange): SpecialRange | undefined {
  return SPECIAL_RANGES.find(({ range }) => overlaps(range, block));
}

/** Returns why a block may not be used, without the end of the sentence. */
export function reservedText(cidr: string, { cidr: range, use }: SpecialRange): string {
  return cidr === range ? `${cidr} is reserved for ${use}` : `${cidr} overlaps ${range}, which is reserved for ${use}`;
}

/** Tells whether only private networks use the addresses of a block. */
export function isPrivateBlock(block: IpRange): boolean {
  return PRIVATE.some((range) => containsRange(range, block));
}

/** Tells whether a block holds addresses of the Internet; a text that is no block counts as one that does. */
export function isPublicBlock(cidr: string): boolean {
  const block = parseCidr(cidr);
  return block === undefined || !isPrivateBlock(block);
}

function special(cidr: string, use: string): SpecialRange {
  const range = parseCidr(cidr);
  if (range === undefined) throw new RangeError(`${cidr} is no block of addresses.`);
  return { cidr, use, range };
}
