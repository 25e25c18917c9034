import fc from 'fast-check';
import { formatInstant } from '../../core/base/time.ts';
import { graphFor } from '../../core/graph/graph-for.ts';
import { viewsOf } from '../../core/graph/views.ts';
import type { FirewallRules } from '../../core/model/graph.ts';
import { compile } from '../../core/reachability/engine.ts';
import type { NetworkModel } from '../../core/reachability/model.ts';
import { NOW, PROBES, policySpec } from '../../core/reachability/models.testkit.ts';
import type { Reachability } from '../../core/reachability/reachability.ts';
import { modelOf } from '../../core/state/network-model.ts';
import type { Target } from '../../test/kits/lab/natlab-packets.ts';
import { network, peer, policy, stateWith } from '../../test/kits/records/records.ts';

/** Networks of five hosts, the rules that their nodes get, and what the engine says of each connection: for every firewall. */

export const CIDR = '10.96.0.0/24';
export const HOSTS = ['p0', 'p1', 'p2', 'p3', 'p4'];
export const NOTHING: FirewallRules = { in: [], out: [] };
const SETTINGS = { epoch: 'e1', reason: 'test', relay: null, stun: [], checkpoint: null };

export interface Probe extends Target {
  readonly src: string;
  readonly dst: string;
  readonly isAllowed: boolean;
}

export const addressOf = (name: string) => `10.96.0.${HOSTS.indexOf(name) + 1}`;
export const ports = [...new Set(PROBES.flatMap(([, port]) => port ?? []))];

/** Networks in which much is allowed and much is not. */
export const model: fc.Arbitrary<NetworkModel> = fc
  .record({
    defaultAction: fc.constantFrom('ALLOW' as const, 'ALLOW' as const, 'DENY' as const),
    peers: fc.tuple(...HOSTS.map(() => peerInput())),
    policies: fc.array(policySpec, { minLength: 1, maxLength: 4 }),
  })
  .map(({ defaultAction, peers, policies }) => ({
    networks: [{ name: 'n1', cidr: CIDR, defaultAction }],
    peers: peers.map((input, index) => ({ ...input, name: HOSTS[index] ?? '', network: 'n1' })),
    policies: policies.map((spec, index) => ({ name: `pol${index}`, spec })),
    now: NOW,
  }));

function peerInput() {
  return fc.record({
    labels: fc.dictionary(fc.constantFrom('role', 'env', 'tier'), fc.constantFrom('a', 'b', 'c'), { maxKeys: 3 }),
    phase: fc.constantFrom(...new Array<string>(9).fill('ready'), 'pending'),
    expiresAt: fc.constantFrom(...new Array<undefined>(9).fill(undefined), NOW, NOW + 1),
  });
}

function stateOf({ networks, peers, policies }: NetworkModel) {
  return stateWith(
    ...networks.map(({ name, ...spec }) => network(name, spec)),
    ...peers.map(({ name, labels, network: net, phase, expiresAt }) =>
      peer(name, {
        labels,
        network: net,
        phase: (phase ?? 'ready') as 'ready',
        // A device has an address from its approval on.
        ...(phase !== 'pending' && { address: addressOf(name) }),
        ...(expiresAt !== undefined && { expiresAt: formatInstant(expiresAt) }),
      }),
    ),
    ...policies.map(({ name, spec }) => policy(name, spec as never)),
  );
}

/** Compiled graph of each host; nothing where it has none. */
export function rulesOf(sample: NetworkModel): { reachability: Reachability; rules: Map<string, FirewallRules> } {
  const state = stateOf(sample);
  const reachability = compile(modelOf(state, NOW));
  const rules = new Map<string, FirewallRules>();
  for (const [name, record] of state.peers) {
    const { phase, address } = record.status;
    if (phase !== 'ready' || address === null) continue;
    rules.set(name, graphFor(state, viewsOf(state, reachability, []), record, SETTINGS).firewall.full);
  }
  return { reachability, rules };
}

export function probesOf(reachability: Reachability): Probe[] {
  return HOSTS.flatMap((src) =>
    HOSTS.filter((dst) => dst !== src).flatMap((dst) =>
      // This kernel may have no SCTP sockets to try it with.
      PROBES.flatMap(([protocol, port]): Probe[] => {
        if (protocol === 'SCTP') return [];
        const isAllowed = reachability.verdict(src, dst, protocol, port);
        return [{ src, dst, protocol, address: addressOf(dst), port: port ?? 0, isAllowed }];
      }),
    ),
  );
}
