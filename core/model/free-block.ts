import { type IpRange, overlaps, parseCidr } from './cidr.ts';
import { addressText } from './ranges.ts';

/** Blocks larger than a /10 would make every search for a free address slow. */
export const LARGEST_PREFIX = 10;
const SMALLEST_PREFIX = 24;

/** Where free blocks are looked for: outside of 10.96.0.0/12, which Kubernetes has for its services by default. */
const SEARCHED = ['10.200.0.0-10.255.255.255', '10.112.0.0-10.199.255.255', '10.0.0.0-10.95.255.255'] as const;

/** Returns the prefix of the smallest block that holds so many nodes besides its network and broadcast addresses; /24 at least. */
export function prefixFor(nodes: number): number {
  let prefix = SMALLEST_PREFIX;
  while (2 ** (32 - prefix) - 2 < nodes) prefix -= 1;
  return prefix;
}

/** Returns the first private block of a size that overlaps none of the given ones; undefined where there is none. */
export function freeBlock(prefix: number, taken: readonly IpRange[]): string | undefined {
  const size = 1n << BigInt(32 - prefix);
  for (const text of SEARCHED) {
    const [first, last] = text.split('-').map((address) => parseCidr(`${address}/32`)?.from ?? 0n) as [bigint, bigint];
    let from = ((first + size - 1n) / size) * size;
    while (from + size - 1n <= last) {
      const block: IpRange = { family: 4, from, to: from + size - 1n };
      const met = taken.find((range) => overlaps(range, block));
      if (!met) return `${addressText(4, from)}/${prefix}`;
      from = (met.to / size + 1n) * size;
    }
  }
  return undefined;
}

/** Returns the block twice as large around a block, unless a network may not be so large or another one has its addresses. */
export function widerBlock(cidr: string, others: readonly string[]): string | undefined {
  const prefix = Number(cidr.split('/')[1]) - 1;
  const wider = parseCidr(`${cidr.split('/')[0]}/${prefix}`);
  if (wider?.family !== 4 || prefix < LARGEST_PREFIX) return undefined;
  const isTaken = others.some((other) => overlaps(parseCidr(other) ?? wider, wider));
  return isTaken ? undefined : `${addressText(4, wider.from)}/${prefix}`;
}
