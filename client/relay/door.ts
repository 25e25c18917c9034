import { runProgram } from '../run-program.ts';

/** Behind every filter of the host, as in ice-port/rules.ts. */
const BEHIND_FILTERS = 1_000;

/** How packets of the relay reach WireGuard although a filter of the host drops what comes to WireGuard's port. */
export interface Door {
  /** @returns whether packets that the agent sends to its own port now reach WireGuard */
  open(): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * What the agent's loopback socket sends to its own port is handed to WireGuard's, behind the host's filters: a host that
 * blocks WireGuard's port keeps the relay (contract, network ports).
 */
export function relayDoor(wireguardPort: number, agentPort: number): Door {
  const table = `inet mesh_door_${wireguardPort}`;
  const apply = async (rules: string) => (await runProgram('nft', ['-f', '-'], { stdin: rules })).code === 0;
  return {
    open: () =>
      apply(`table ${table}
delete table ${table}
table ${table} {
 chain to_wireguard {
  type filter hook input priority ${BEHIND_FILTERS}; policy accept;
  iifname "lo" udp sport ${agentPort} udp dport ${agentPort} udp dport set ${wireguardPort}
 }
}
`),
    async close() {
      await apply(`table ${table}\ndelete table ${table}\n`);
    },
  };
}
