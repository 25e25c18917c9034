import type { IpRange } from '../../core/network/cidr.ts';
import type { FirewallRules } from '../../core/network/graph.ts';
import { RELAY_ENDPOINTS } from '../relay-endpoints.ts';
import { formatAddress } from './format-address.ts';
import { type Permission, type PortProtocol, permissionsAt } from './permissions.ts';

/**
 * The rules of one overlay interface as one nftables transaction that replaces those before it.
 *
 * Every packet is looked up by the connection it belongs to, in either direction, so a rule that goes cuts what was
 * opened under it, at once and both ways. A connection that a peer opened is named by what the peer sees (`ct original`),
 * one that was opened here by what is really reached (`ct reply`): translation of addresses on this host changes neither.
 */
export function renderRules(interfaceName: string, rules: FirewallRules, now: number): string {
  const overlay = JSON.stringify(interfaceName);
  const byPeer = renderWay('in', permissionsAt(rules.in, now), 'ct original');
  const fromHere = renderWay('out', permissionsAt(rules.out, now), 'ct reply');
  return `${removal(interfaceName)}table inet ${tableOf(interfaceName)} {
${byPeer.sets}${fromHere.sets}chain opened_by_peer {
${byPeer.lookups}drop
}
chain opened_here {
${fromHere.lookups}drop
}
${renderHook('from_overlay', 'opened_by_peer', 'opened_here')}${renderHook('to_overlay', 'opened_here', 'opened_by_peer')}chain c_input {
type filter hook input priority filter; policy accept;
iifname != "lo" ip6 daddr ${RELAY_ENDPOINTS} drop
iifname ${overlay} jump from_overlay
}
chain c_output {
type filter hook output priority filter; policy accept;
oifname ${overlay} jump to_overlay
}
chain c_forward {
type filter hook forward priority filter; policy accept;
iifname ${overlay} jump from_overlay
oifname ${overlay} jump to_overlay
}
}
`;
}

/** A transaction after which the interface has no rules, whether it had some or not. */
export function removal(interfaceName: string): string {
  const table = tableOf(interfaceName);
  return `add table inet ${table}\ndelete table inet ${table}\n`;
}

export function tableOf(interfaceName: string): string {
  if (!/^[A-Za-z0-9_.-]{1,15}$/.test(interfaceName)) throw new Error(`${interfaceName} is no name of an interface.`);
  return `mesh_${interfaceName}`;
}

/**
 * By who opened the connection that a packet belongs to. Nearly all packets are decided by the first rule. Neighbour
 * discovery is no connection; errors about one (unreachable, too big) come from either side.
 */
function renderHook(name: string, originals: string, replies: string): string {
  return `chain ${name} {
ct state . ct direction vmap { new . original : goto ${originals}, established . original : goto ${originals}, established . reply : goto ${replies} }
icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } return
ct state invalid drop
ct state related meta l4proto { icmp, ipv6-icmp } return
ct direction original goto ${originals}
goto ${replies}
}
`;
}

const PORT_PROTOCOLS: readonly PortProtocol[] = ['TCP', 'UDP', 'SCTP'];
const FAMILIES = [
  { family: 4, ip: 'ip', type: 'ipv4_addr', icmp: 'icmp' },
  { family: 6, ip: 'ip6', type: 'ipv6_addr', icmp: 'ipv6-icmp' },
] as const;

type Way = 'in' | 'out';
type Tuple = 'ct original' | 'ct reply';

function renderWay(way: Way, permissions: readonly Permission[], tuple: Tuple): { sets: string; lookups: string } {
  // The peer is who the first packet came from, and who the replies come from.
  const port = tuple === 'ct original' ? `${tuple} proto-dst` : `${tuple} proto-src`;
  let [sets, lookups] = ['', ''];
  const put = (name: string, type: string, elements: readonly string[], lookup: string) => {
    if (elements.length === 0) return;
    const flags = elements.some((element) => element.includes('-')) ? ' flags interval;' : '';
    sets += `set ${name} { type ${type};${flags} elements = { ${elements.join(', ')} } }\n`;
    lookups += `${lookup} @${name} return\n`;
  };
  for (const { family, ip, type, icmp } of FAMILIES) {
    const elements = elementsOf(permissions.filter(({ range }) => range.family === family));
    const peer = `${tuple} ${ip} saddr`;
    for (const protocol of PORT_PROTOCOLS) {
      const name = protocol.toLowerCase();
      const key = `meta l4proto ${name} ${peer} . ${port}`;
      put(`${way}_${name}${family}`, `${type} . inet_service`, elements[protocol], key);
    }
    put(`${way}_icmp${family}`, type, elements.icmp, `meta l4proto ${icmp} ${peer}`);
    put(`${way}_all${family}`, type, elements.all, peer);
  }
  return { sets, lookups };
}

type Elements = Record<PortProtocol | 'icmp' | 'all', string[]>;

function elementsOf(permissions: readonly Permission[]): Elements {
  const elements: Elements = { TCP: [], UDP: [], SCTP: [], icmp: [], all: [] };
  for (const { range, all, icmp, ports } of permissions) {
    const addresses = formatRange(range);
    if (all) elements.all.push(addresses);
    if (icmp) elements.icmp.push(addresses);
    for (const protocol of PORT_PROTOCOLS) {
      for (const [from, to] of ports[protocol]) {
        elements[protocol].push(`${addresses} . ${from === to ? from : `${from}-${to}`}`);
      }
    }
  }
  return elements;
}

function formatRange({ family, from, to }: IpRange): string {
  const first = formatAddress(family, from);
  return from === to ? first : `${first}-${formatAddress(family, to)}`;
}
