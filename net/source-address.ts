/** Groups of an IPv6 address that name a network: who has one /64 has 2^64 addresses. */
const NETWORK_GROUPS = 4;
const GROUPS = 8;

/**
 * Returns the key under which rate limits count a source address: the IPv4 address, also of a mapped one, or the /64 of an IPv6
 * address.
 */
export function sourceOf(address: string): string {
  const [plain = ''] = address.split('%');
  if (!plain.includes(':')) return plain;
  if (plain.includes('.')) return plain.slice(plain.lastIndexOf(':') + 1);
  const [head = '', tail] = plain.split('::');
  const before = groupsOf(head);
  const after = groupsOf(tail ?? '');
  const zeros = tail === undefined ? 0 : Math.max(0, GROUPS - before.length - after.length);
  const groups = [...before, ...Array.from({ length: zeros }, () => '0'), ...after];
  return `${groups.slice(0, NETWORK_GROUPS).join(':')}::/64`;
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16).toString(16));
}
