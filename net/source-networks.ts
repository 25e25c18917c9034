/** How many hosts an address may stand for: limits count the network, since whoever holds it makes addresses at will. */

/** The IPv4 address, or the /64 of an IPv6 one: a single host may own all of a /64. */
export function hostOf(ip: Uint8Array): string | number {
  return ipv4Of(ip) ?? groups(ip, 4);
}

/** The IPv4 address, or the /48 of an IPv6 one: a single customer of a provider may own all of a /48. */
export function siteOf(ip: Uint8Array): string | number {
  return ipv4Of(ip) ?? groups(ip, 3);
}

/** Also of `::ffff:a.b.c.d`, as a socket of both families names it. */
function ipv4Of(ip: Uint8Array): number | undefined {
  if (ip.length === 4) return number(ip, 0);
  for (let at = 0; at < 10; at++) if (ip[at] !== 0) return undefined;
  return ip[10] === 0xff && ip[11] === 0xff ? number(ip, 12) : undefined;
}

function number(ip: Uint8Array, at: number): number {
  return (group(ip, at) << 16) | group(ip, at + 2);
}

function groups(ip: Uint8Array, count: 3 | 4): string {
  const [a, b, c] = [group(ip, 0), group(ip, 2), group(ip, 4)];
  return count === 3 ? String.fromCharCode(a, b, c) : String.fromCharCode(a, b, c, group(ip, 6));
}

function group(ip: Uint8Array, at: number): number {
  return ((ip[at] as number) << 8) | (ip[at + 1] as number);
}
