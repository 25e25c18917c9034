import { type IpRange, parseAddress, parseCidr } from './cidr.ts';

/** Addresses as intervals in ascending order, IPv4 first, that neither overlap nor touch: one text for one set. */
export type Ranges = readonly IpRange[];

export const EVERY_ADDRESS: Ranges = ['0.0.0.0/0', '::/0'].flatMap((text) => parseCidr(text) ?? []);

/** Returns the addresses that are in any of the ranges. */
export function union(ranges: Iterable<IpRange>): Ranges {
  const sorted = [...ranges].sort((a, b) => a.family - b.family || (a.from < b.from ? -1 : a.from > b.from ? 1 : 0));
  const merged: IpRange[] = [];
  for (const range of sorted) {
    const last = merged.at(-1);
    if (last === undefined || last.family !== range.family || range.from > last.to + 1n) merged.push(range);
    else if (range.to > last.to) merged[merged.length - 1] = { ...last, to: range.to };
  }
  return merged;
}

/** Returns the addresses of the first ranges that are not in the second. */
export function without(ranges: Ranges, taken: Ranges): Ranges {
  const left: IpRange[] = [];
  let first = 0;
  for (const { family, from, to } of ranges) {
    let next = from;
    while (first < taken.length && isBefore(taken[first], { family, from })) first += 1;
    for (let at = first; at < taken.length; at++) {
      const one = taken[at];
      if (one === undefined || one.family !== family || one.from > to) break;
      if (one.from > next) left.push({ family, from: next, to: one.from - 1n });
      next = one.to + 1n;
    }
    if (next <= to) left.push({ family, from: next, to });
  }
  return left;
}

/** Returns the addresses that are in both. */
export function intersection(ranges: Ranges, others: Ranges): Ranges {
  return without(ranges, without(EVERY_ADDRESS, others));
}

export function isSubset(ranges: Ranges, of: Ranges): boolean {
  return without(ranges, of).length === 0;
}

/** How many addresses there are. */
export function sizeOf(ranges: Ranges): bigint {
  return ranges.reduce((sum, { from, to }) => sum + to - from + 1n, 0n);
}

/** The fewest CIDRs that are exactly these addresses. */
export function cidrsOf(ranges: Ranges): string[] {
  return ranges.flatMap(({ family, from, to }) => {
    const width = family === 4 ? 32 : 128;
    const texts: string[] = [];
    for (let at = from; at <= to; ) {
      let bits = 0;
      while (bits < width && at % (1n << BigInt(bits + 1)) === 0n && at + (1n << BigInt(bits + 1)) - 1n <= to)
        bits += 1;
      texts.push(`${addressText(family, at)}/${width - bits}`);
      at += 1n << BigInt(bits);
    }
    return texts;
  });
}

/** An address in its canonical form (RFC 5952). */
export function addressText(family: IpRange['family'], address: bigint): string {
  const [width, parts] = family === 4 ? [8n, 4] : [16n, 8];
  const groups = Array.from(
    { length: parts },
    (_, index) => (address >> (width * BigInt(parts - 1 - index))) & ((1n << width) - 1n),
  );
  if (family === 4) return groups.join('.');
  const text = groups.map((group) => group.toString(16)).join(':');
  const runs = [...text.matchAll(/\b0(?::0\b)+/g)];
  const longest = runs.reduce<RegExpMatchArray | undefined>(
    (best, run) => (best === undefined || run[0].length > best[0].length ? run : best),
    undefined,
  );
  if (longest?.index === undefined) return text;
  const [head, tail] = [text.slice(0, longest.index), text.slice(longest.index + longest[0].length)];
  return `${head.replace(/:$/, '')}::${tail.replace(/^:/, '')}`;
}

/** Every address that is no peer's and no network's, as a term. */
export const OUTSIDE = 'outside';
export const EXCEPT = ' except ';

/**
 * The addresses that a term means: a CIDR, an address, or `outside` for all, each with `except` and CIDRs that are left
 * out. Undefined for a term that is about peers.
 */
export function rangesOfTerm(term: string): Ranges | undefined {
  const [whole = '', left, ...more] = term.split(EXCEPT);
  const base = whole === OUTSIDE ? EVERY_ADDRESS : blockOf(whole);
  if (base === undefined || more.length > 0) return undefined;
  const holes = (left?.split(', ') ?? []).map(blockOf);
  if (holes.includes(undefined)) return undefined;
  return without(base, union(holes.flatMap((hole) => hole ?? [])));
}

function blockOf(text: string): Ranges | undefined {
  const range = parseCidr(text) ?? parseAddress(text);
  return range && [range];
}

function isBefore(range: IpRange | undefined, { family, from }: Pick<IpRange, 'family' | 'from'>): boolean {
  return range !== undefined && (range.family < family || (range.family === family && range.to < from));
}
