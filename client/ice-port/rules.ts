import { runProgram } from '../run-program.ts';

/** Types of STUN binding messages: request, indication, success, error. WireGuard's begin with 01 00 to 04 00. */
const STUN_TYPES = '{ 0x0001, 0x0011, 0x0101, 0x0111 }';
const MAGIC_COOKIE = '0x2112a442';
/** Usual filters stand at 0, `security` at 50, NAT at 100, helpers of connection tracking at 300. */
const BEHIND_FILTERS = 1_000;
/** Hops that a check may take: no system's default, which WireGuard's packets have. */
const HOPS = 62;

/** A table for each interface, so that several nodes can live on a host. */
export function tableNameOf(interfaceName: string): string {
  return `mesh_ice_${interfaceName.replaceAll(/[^A-Za-z0-9]/g, '_')}`;
}

/**
 * Lets the agent's socket share WireGuard's port on the wire: STUN that comes for WireGuard's port goes to the agent, and what
 * the agent sends leaves from WireGuard's port. Type and cookie together cannot be those of a packet of WireGuard.
 *
 * Ports are changed before connection tracking on the way out (-300 is before -200) and, on the way in, behind every filter of
 * this host. Its own firewall therefore sees one connection and one port: a check that was answered opens it for WireGuard too,
 * and a rule that stops WireGuard's packets stops checks as well, so that no path counts as open that data cannot take.
 *
 * A check may take other hops than WireGuard's packets: Linux coalesces datagrams of one connection on arrival for a socket that
 * takes them so (wireguard-go since 2023), and would hide a check behind a packet before it; it coalesces none that differ in this.
 *
 * The transaction may run again with the same result.
 */
export function sharingRules(interfaceName: string, wireguardPort: number, agentPort: number): string {
  const table = `inet ${tableNameOf(interfaceName)}`;
  return `table ${table}
delete table ${table}
table ${table} {
 chain stun_in {
  type filter hook input priority ${BEHIND_FILTERS}; policy accept;
  udp dport ${wireguardPort} @th,96,32 ${MAGIC_COOKIE} @th,64,16 ${STUN_TYPES} udp dport set ${agentPort}
 }
 chain from_agent {
  ip ttl set ${HOPS}
  ip6 hoplimit set ${HOPS}
  udp sport set ${wireguardPort}
 }
 chain stun_out {
  type filter hook output priority -300; policy accept;
  udp sport ${agentPort} goto from_agent
 }
}
`;
}

export async function removeSharingRules(interfaceName: string): Promise<void> {
  await runProgram('nft', ['-f', '-'], { stdin: removalRules(interfaceName) });
}

export function removalRules(interfaceName: string): string {
  const table = `inet ${tableNameOf(interfaceName)}`;
  return `table ${table}\ndelete table ${table}\n`;
}
