import { type IpRange, parseAddress, parseCidr } from '../../core/model/cidr.ts';

/** How an address is cut into labels of `in-addr.arpa` and `ip6.arpa`: bits of one, and its base as text. */
const LABELS = {
  4: { count: 4, bits: 8n, base: 10, suffix: ['in-addr', 'arpa'] },
  6: { count: 32, bits: 4n, base: 16, suffix: ['ip6', 'arpa'] },
} as const;

/** The labels that an address is looked up by. */
export function reverseLabels({ family, from }: IpRange): string[] {
  const { count, bits, base, suffix } = LABELS[family];
  const of = (index: number) => ((from >> (bits * BigInt(index))) & ((1n << bits) - 1n)).toString(base);
  return [...Array.from({ length: count }, (_, index) => of(index)), ...suffix];
}

/** The names that all addresses of a block end in: several where it ends within a label. */
export function reverseZones(cidr: string): string[][] {
  const block = parseCidr(cidr);
  if (!block) return [];
  const { count, bits } = LABELS[block.family];
  const size = block.to - block.from + 1n;
  let below = 0;
  while (below < count && 1n << (bits * BigInt(below + 1)) <= size) below += 1;
  const step = 1n << (bits * BigInt(below));
  const zones: string[][] = [];
  for (let from = block.from; from <= block.to; from += step) {
    zones.push(reverseLabels({ ...block, from }).slice(below));
  }
  return zones;
}

/** The bytes of an address in its text form. @throws Error when it is none */
export function addressBytes(address: string): Uint8Array {
  const range = parseAddress(address);
  if (!range) throw new Error(`${address} is no address.`);
  return Buffer.from(range.from.toString(16).padStart(range.family === 4 ? 8 : 32, '0'), 'hex');
}
