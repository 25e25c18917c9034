import { RELAY_ENDPOINTS, RELAY_ENDPOINTS_IPV4 } from '../relay-endpoints.ts';
import { runProgram } from '../run-program.ts';

/** Behind every filter of the host, as in ice-port/rules.ts. */
const BEHIND_FILTERS = 1_000;

/**
 * Renders the rules of this host for packets of relayed peers, as one nftables transaction that may run again:
 *
 * - Linux answers on any interface for addresses of any other, for those of 127/8 where `route_localnet` is set: neighbours
 *   are kept from the loopback endpoints.
 * - What the agent's loopback socket sends to its own port is handed to WireGuard's, behind the host's filters: a host that
 *   blocks WireGuard's port keeps the relay (docs/node.md#files-and-ports).
 *
 * @param agentPort of the loopback socket; the second rule needs it
 */
export async function applyRelayRules(wireguardPort: number, agentPort?: number): Promise<boolean> {
  const redirect = `udp sport ${agentPort} udp dport ${agentPort} iifname "lo" udp dport set ${wireguardPort}`;
  return load(`${removal(wireguardPort)}table ${tableOf(wireguardPort)} {
 chain to_relayed_peers {
  type filter hook input priority ${BEHIND_FILTERS}; policy accept;
  ip6 daddr ${RELAY_ENDPOINTS} iifname != "lo" drop
  ip daddr ${RELAY_ENDPOINTS_IPV4} iifname != "lo" drop
  ${agentPort === undefined ? '' : redirect}
 }
}
`);
}

export async function removeRelayRules(wireguardPort: number): Promise<void> {
  await load(removal(wireguardPort));
}

function removal(wireguardPort: number): string {
  const table = tableOf(wireguardPort);
  return `table ${table}\ndelete table ${table}\n`;
}

function tableOf(wireguardPort: number): string {
  return `inet mesh_relay_${wireguardPort}`;
}

/** @returns whether nft took it */
async function load(rules: string): Promise<boolean> {
  return (await runProgram('nft', ['-f', '-'], { stdin: rules })).code === 0;
}
