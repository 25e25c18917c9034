import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatInstant } from '../../core/base/time.ts';
import { graphFor } from '../../core/graph/graph-for.ts';
import { viewsOf } from '../../core/graph/views.ts';
import type { FirewallRules } from '../../core/model/graph.ts';
import { compile } from '../../core/reachability/engine.ts';
import type { NetworkModel } from '../../core/reachability/model.ts';
import { NOW, PROBES, policySpec } from '../../core/reachability/models.testkit.ts';
import type { Reachability } from '../../core/reachability/reachability.ts';
import { modelOf } from '../../core/state/network-model.ts';
import { natlab } from '../../test/kits/lab/natlab.ts';
import type { Heard, Target } from '../../test/kits/lab/natlab-packets.ts';
import { type LabParts, labParts } from '../../test/kits/lab/natlab-parts.ts';
import { describePrivileged, isLong } from '../../test/kits/lab/privileged.ts';
import { network, peer, policy, stateWith } from '../../test/kits/records/records.ts';

const POLICY_SETS = isLong ? 200 : 20;
const CIDR = '10.96.0.0/24';
const HOSTS = ['p0', 'p1', 'p2', 'p3', 'p4'];
const NOTHING: FirewallRules = { in: [], out: [] };
const SETTINGS = { epoch: 'e1', reason: 'test', relay: null, stun: [], checkpoint: null };
/** Answers on this link come within some milliseconds; on a busy machine what should have answered is asked again. */
const [TIMEOUT_MS, PATIENT_TIMEOUT_MS] = [300, 5_000];

interface Probe extends Target {
  readonly src: string;
  readonly dst: string;
  readonly isAllowed: boolean;
}

const addressOf = (name: string) => `10.96.0.${HOSTS.indexOf(name) + 1}`;
const ports = [...new Set(PROBES.flatMap(([, port]) => port ?? []))];

/** Networks in which much is allowed and much is not. */
const model: fc.Arbitrary<NetworkModel> = fc
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
function rulesOf(sample: NetworkModel): { reachability: Reachability; rules: Map<string, FirewallRules> } {
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

function probesOf(reachability: Reachability): Probe[] {
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

async function heardBy(
  nodes: ReadonlyMap<string, LabParts>,
  probes: readonly Probe[],
  timeoutMs: number,
): Promise<Map<Probe, Heard>> {
  const heard = new Map<Probe, Heard>();
  const all = [...nodes].map(async ([src, node]) => {
    const own = probes.filter((one) => one.src === src);
    const answers = await node.probe(own, timeoutMs);
    for (const [index, one] of own.entries()) heard.set(one, answers[index] ?? 'silent');
  });
  await Promise.all(all);
  return heard;
}

describePrivileged('the rules of compiled graphs', () => {
  it(
    'let through exactly what the engine says, for TCP, UDP and ICMP between hosts',
    async () => {
      await using lab = await natlab({ hosts: Object.fromEntries(HOSTS.map((name) => [name, {}])) });
      const nodes = new Map(HOSTS.map((name) => [name, labParts(lab.host(name), 'eth0')]));
      for (const [name, node] of nodes) {
        await lab.host(name).must('ip', ['address', 'add', `${addressOf(name)}/24`, 'dev', 'eth0']);
        await node.serve(ports);
      }
      const counts = { allowed: 0, denied: 0 };
      for (const sample of fc.sample(model, POLICY_SETS)) {
        const { reachability, rules } = rulesOf(sample);
        const own = (name: string) => ({ address: addressOf(name), cidr: CIDR });
        await Promise.all([...nodes].map(([name, node]) => node.apply(rules.get(name) ?? NOTHING, NOW, own(name))));
        const probes = probesOf(reachability);
        const heard = await heardBy(nodes, probes, TIMEOUT_MS);
        const late = probes.filter((one) => one.isAllowed && heard.get(one) !== 'open');
        for (const [one, answer] of await heardBy(nodes, late, PATIENT_TIMEOUT_MS)) heard.set(one, answer);
        const wrong = probes.filter((one) => (heard.get(one) === 'open') !== one.isAllowed);
        expect({ wrong, sample: wrong.length > 0 ? sample : undefined }).toEqual({ wrong: [], sample: undefined });
        counts.allowed += probes.filter(({ isAllowed }) => isAllowed).length;
        counts.denied += probes.filter(({ isAllowed }) => !isAllowed).length;
      }
      expect(Math.min(counts.allowed, counts.denied)).toBeGreaterThan(20 * POLICY_SETS);
    },
    isLong ? 900_000 : 120_000,
  );
});
