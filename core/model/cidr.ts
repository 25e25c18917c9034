/** A closed interval of addresses of one family. */
export interface IpRange {
  readonly family: 4 | 6;
  readonly from: bigint;
  readonly to: bigint;
}

const WIDTH = { 4: 32, 6: 128 } as const;

/** Reads one address, IPv4 in dotted decimal (no leading zeros) or IPv6 as in RFC 4291; undefined when it is neither. */
export function parseAddress(text: string): IpRange | undefined {
  const v4 = parseIPv4(text);
  if (v4 !== undefined) return { family: 4, from: v4, to: v4 };
  const v6 = parseIPv6(text);
  return v6 === undefined ? undefined : { family: 6, from: v6, to: v6 };
}

/** Reads `address/prefix`. Bits beyond the prefix are ignored. Undefined when the text is no CIDR. */
export function parseCidr(text: string): IpRange | undefined {
  const [, host = '', length = ''] = /^([0-9A-Fa-f.:]{2,45})\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const address = parseAddress(host);
  if (address === undefined) return undefined;
  const width = WIDTH[address.family];
  const prefix = Number(length);
  if (prefix > width) return undefined;
  const size = 1n << BigInt(width - prefix);
  const from = (address.from / size) * size;
  return { family: address.family, from, to: from + size - 1n };
}

/** Reads a CIDR, a single address, or `first-last`. Undefined when it is none of them, or runs backwards. */
export function parseRange(text: string): IpRange | undefined {
  const [first = '', last] = text.split('-', 2);
  if (last === undefined) return parseCidr(text) ?? parseAddress(text);
  if (text.length > first.length + last.length + 1) return undefined;
  return rangeBetween(first.trim(), last.trim());
}

/** The interval from one address to another of the same family. */
export function rangeBetween(first: string, last: string): IpRange | undefined {
  const from = parseAddress(first);
  const to = parseAddress(last);
  if (from === undefined || to === undefined || from.family !== to.family || from.from > to.from) return undefined;
  return { family: from.family, from: from.from, to: to.to };
}

/** Returns true if every address of `inner` is in `outer`. */
export function containsRange(outer: IpRange, inner: IpRange): boolean {
  return outer.family === inner.family && outer.from <= inner.from && inner.to <= outer.to;
}

/** Returns true if the two ranges have an address in common. */
export function overlaps(a: IpRange, b: IpRange): boolean {
  return a.family === b.family && a.from <= b.to && b.from <= a.to;
}

function parseIPv4(text: string): bigint | undefined {
  if (!/^(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})$/.test(text)) return undefined;
  let value = 0;
  for (const part of text.split('.')) {
    const octet = Number(part);
    if (octet > 255) return undefined;
    value = value * 256 + octet;
  }
  return BigInt(value);
}

const GROUPS = 8;

function parseIPv6(text: string): bigint | undefined {
  if (text.length > 45 || !text.includes(':')) return undefined;
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half, i) => groupsOf(half, i === halves.length - 1));
  if (head === undefined) return undefined;
  if (halves.length === 1) return head.length === GROUPS ? joinGroups(head) : undefined;
  if (tail === undefined || head.length + tail.length >= GROUPS) return undefined;
  return joinGroups([...head, ...new Array<number>(GROUPS - head.length - tail.length).fill(0), ...tail]);
}

function groupsOf(half: string, isLast: boolean): number[] | undefined {
  if (half === '') return [];
  const groups: number[] = [];
  const parts = half.split(':');
  for (const [i, part] of parts.entries()) {
    if (/^[0-9A-Fa-f]{1,4}$/.test(part)) {
      groups.push(Number.parseInt(part, 16));
      continue;
    }
    const embedded = isLast && i === parts.length - 1 ? parseIPv4(part) : undefined;
    if (embedded === undefined) return undefined;
    groups.push(Number(embedded >> 16n), Number(embedded & 0xffffn));
  }
  return groups;
}

function joinGroups(groups: readonly number[]): bigint {
  return groups.reduce((value, group) => (value << 16n) | BigInt(group), 0n);
}
