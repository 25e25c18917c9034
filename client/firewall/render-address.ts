import { formatRange } from './format-address.ts';
import { type OwnAddress, parseOwnAddress } from './own-address.ts';

/** Priority that rules of an overlay give a packet they let in: no program gives it to one that arrives. */
export const PASSED = '6d65:7368';
/** Neighbor discovery of IPv6 goes to and from addresses of its own; it is no connection. */
export const NEIGHBOURS = 'icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept\n';

/** Holds this node's addresses while an agent renews them. Without them no packet comes from the overlay or goes to it. */
export const OWN_ADDRESS = 'own_address';
/** Priority in conntrack's names: the connection is known (-200), no address is translated yet (-100). */
const BEFORE_TRANSLATION = 'mangle';
/** Addresses are translated at 100. */
const AFTER_TRANSLATION = 300;

const FAMILIES = { 4: { ip: 'ip', type: 'ipv4_addr' }, 6: { ip: 'ip6', type: 'ipv6_addr' } } as const;

/**
 * Renders the rules for addresses that packets have on the wire, whatever the host translates and forwards: on the overlay
 * interface all goes to this node's own address and comes from it, and the overlay's block is nowhere but there. On other
 * interfaces only answers may go to it: a port of this node that is published to a container answers what this node asked.
 *
 * @param overlay the interface, quoted
 */
export function renderAddressRules(overlay: string, own: OwnAddress, leaseMs: number, isGuarded: boolean): string {
  const { ip, type, addresses, block } = wordsOf(own);
  const elements = addresses.map((address) => `${address} timeout ${leaseMs}ms`).join(', ');
  const pass = isGuarded ? `meta priority set ${PASSED} accept` : 'accept';
  return `set ${OWN_ADDRESS} { type ${type}; flags timeout; elements = { ${elements} } }
chain from_overlay {
${ip} daddr @${OWN_ADDRESS} ${pass}
${NEIGHBOURS.replace('accept', pass)}drop
}
chain to_overlay {
ct direction reply accept
drop
}
chain c_prerouting {
type filter hook prerouting priority ${BEFORE_TRANSLATION}; policy accept;
iif ${overlay} goto from_overlay
iif "lo" accept
${ip} saddr ${block} drop
${ip} daddr ${block} goto to_overlay
}
chain c_postrouting {
type filter hook postrouting priority ${AFTER_TRANSLATION}; policy accept;
oif != ${overlay} accept
${ip} saddr @${OWN_ADDRESS} accept
${NEIGHBOURS}drop
}
`;
}

/** A transaction that gives the own addresses their whole time again; they may have gone. Packets see either, never none. */
export function renderRenewal(table: string, own: OwnAddress, leaseMs: number): string {
  const { addresses } = wordsOf(own);
  const element = (more = '') =>
    `element inet ${table} ${OWN_ADDRESS} { ${addresses.map((address) => address + more).join(', ')} }\n`;
  // Linux before 6.12 gives an element that is there no other time.
  return `add ${element()}delete ${element()}add ${element(` timeout ${leaseMs}ms`)}`;
}

function wordsOf(own: OwnAddress) {
  const { family, hosts, blocks } = parseOwnAddress(own);
  return { ...FAMILIES[family], addresses: hosts.map(formatRange), block: anyOf(blocks.map(formatRange)) };
}

function anyOf(texts: readonly string[]): string {
  return texts.length === 1 ? texts.join('') : `{ ${texts.join(', ')} }`;
}
