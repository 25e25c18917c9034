import { MAGIC_COOKIE, TRANSACTION_ID_BYTES } from './message.ts';

/** 4 bytes for IPv4, 16 for IPv6. */
export type IpBytes = Uint8Array;

const FAMILY_IPV4 = 1;
const FAMILY_IPV6 = 2;

/** The value of XOR-MAPPED-ADDRESS (RFC 8489 section 14.2). */
export function encodeXorAddress(ip: IpBytes, port: number, transactionId: Uint8Array): Uint8Array {
  const value = new Uint8Array(4 + ip.length);
  value[1] = ip.length === 4 ? FAMILY_IPV4 : FAMILY_IPV6;
  const view = new DataView(value.buffer);
  view.setUint16(2, port ^ (MAGIC_COOKIE >>> 16));
  value.set(ip, 4);
  applyMask(value.subarray(4), transactionId);
  return value;
}

export function decodeXorAddress(
  value: Uint8Array,
  transactionId: Uint8Array,
): { readonly ip: IpBytes; readonly port: number } | undefined {
  const family = value[1];
  const isKnown = (family === FAMILY_IPV4 && value.length === 8) || (family === FAMILY_IPV6 && value.length === 20);
  if (!isKnown || transactionId.length !== TRANSACTION_ID_BYTES) return undefined;
  const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
  const ip = Uint8Array.from(value.subarray(4));
  applyMask(ip, transactionId);
  return { ip, port: view.getUint16(2) ^ (MAGIC_COOKIE >>> 16) };
}

/** An address as text to bytes: IPv4 in dotted decimal without leading zeros, IPv6 with `%zone` or without. Undefined when it is neither. */
export function parseIp(text: string): IpBytes | undefined {
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text);
}

export function formatIp(ip: IpBytes): string {
  if (ip.length === 4) return ip.join('.');
  const view = new DataView(ip.buffer, ip.byteOffset, ip.byteLength);
  const groups = Array.from({ length: 8 }, (_, n) => view.getUint16(n * 2).toString(16));
  // The longest run of zero groups becomes "::" (RFC 5952).
  const runs = [...groups.join(':').matchAll(/\b0(?::0\b)+/g)].map(([run]) => run);
  const longest = runs.toSorted((a, b) => b.length - a.length)[0];
  if (longest === undefined) return groups.join(':');
  return groups.join(':').replace(new RegExp(`(^|:)${longest}(:|$)`), '::');
}

/** The cookie, then for IPv6 the transaction id. */
function applyMask(ip: Uint8Array, transactionId: Uint8Array): void {
  for (let n = 0; n < ip.length; n++) {
    const mask = n < 4 ? MAGIC_COOKIE >>> (24 - 8 * n) : (transactionId[n - 4] ?? 0);
    ip[n] = (ip[n] ?? 0) ^ mask;
  }
}

function parseIpv4(text: string): IpBytes | undefined {
  const ip = new Uint8Array(4);
  let part = 0;
  let value = -1;
  for (let n = 0; n <= text.length; n++) {
    const code = n === text.length ? 46 : text.charCodeAt(n);
    if (code === 46) {
      if (value < 0 || part > 3) return undefined;
      ip[part++] = value;
      value = -1;
    } else if (code >= 48 && code <= 57) {
      // With a zero before it some take the part for octal.
      if (value === 0) return undefined;
      value = Math.max(value, 0) * 10 + code - 48;
      if (value > 255) return undefined;
    } else return undefined;
  }
  return part === 4 ? ip : undefined;
}

function parseIpv6(text: string): IpBytes | undefined {
  const [address = '', zone] = text.split('%', 2);
  if (zone === '') return undefined;
  const halves = address.split('::');
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half, n) => groupsOf(half, n === halves.length - 1));
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined;
  const missing = 8 - head.length - (tail?.length ?? 0);
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const ip = new Uint8Array(16);
  const groups = [...head, ...new Array<number>(missing).fill(0), ...(tail ?? [])];
  const view = new DataView(ip.buffer);
  groups.forEach((group, n) => {
    view.setUint16(n * 2, group);
  });
  return ip;
}

function groupsOf(text: string, isLast: boolean): number[] | undefined {
  if (text === '') return [];
  const groups: number[] = [];
  const parts = text.split(':');
  for (const [n, part] of parts.entries()) {
    const ipv4 = isLast && n === parts.length - 1 && part.includes('.') ? parseIpv4(part) : undefined;
    if (ipv4) {
      const [a = 0, b = 0, c = 0, d = 0] = ipv4;
      groups.push((a << 8) | b, (c << 8) | d);
    } else if (/^[0-9a-f]{1,4}$/i.test(part)) groups.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return groups;
}
