import fc from 'fast-check';
import { expect, test } from 'vitest';
import { agent, network, peer, policy, stateWith } from '../../test/kits/records/records.ts';
import { effectOf } from '../effect/effect.ts';
import { retainedPolicies } from '../identity/retained-policies.ts';
import type { PolicySpec, PortEntry, Selector } from '../model/policy.ts';
import { AGENT_LABEL } from '../model/presets.ts';
import type { PeerRecord } from '../model/resources.ts';
import { WRITTEN_BY } from '../model/written-by.ts';
import { compile } from '../reachability/engine.ts';
import { modelOf } from '../state/network-model.ts';
import type { NetworkState } from '../state/state.ts';
import { stateAfter } from './state-after.ts';
import type { Write } from './writes.ts';

const RUNS = process.env['MESH_LONG'] === '1' ? 20_000 : 300;
const NOW = Date.parse('2030-01-01T00:00:00Z');
const SOON = '2030-01-02T00:00:00.000Z';
const LATER = '2030-01-03T00:00:00.000Z';
/** Now, and once each of the two ends of policies has passed. */
const TIMES = [NOW, Date.parse(SOON) + 1, Date.parse(LATER) + 1];

const ENDING = agent('ending');
const ROLES = ['web', 'db', 'ops'] as const;
const NETWORKS = ['default', 'lab'] as const;
const PEERS = NETWORKS.flatMap((where, at) =>
  ROLES.map((role, index) => {
    const address = `10.${96 + at}.0.${index + 1}`;
    return peer(`${role}-${where}`, { labels: { role }, network: where, address });
  }),
);
const OWN = peer('own', { labels: { [AGENT_LABEL]: ENDING.uid }, agentRef: 'ending', address: '10.96.0.9' });
/** Joins once the agent has ended. */
const NEWCOMER = peer('newcomer', { labels: { role: 'db', tier: '1' }, address: '10.96.0.10' });

const selector: fc.Arbitrary<Selector> = fc.oneof(
  fc.constant({}),
  fc.constantFrom(...ROLES).map((role) => ({ matchLabels: { role } })),
  fc.constantFrom(...PEERS).map(({ uid }) => ({ peers: [uid] })),
  fc.constant({ matchLabels: { [AGENT_LABEL]: ENDING.uid } }),
  fc.constant<Selector>({ peers: [OWN.uid] }),
  fc.constant<Selector>({ matchExpressions: [{ key: 'tier', operator: 'Exists' }] }),
);
const ports = fc.constantFrom<PortEntry[] | undefined>(undefined, [{ protocol: 'TCP', port: 443 }]);
const sides = fc.array(
  fc.record({ who: fc.option(selector, { nil: undefined }), ports }).map(({ who, ports: some }) => ({
    ...(who && { who: [{ peerSelector: who }] }),
    ...(some && { ports: some }),
  })),
  { maxLength: 2 },
);
const spec: fc.Arbitrary<PolicySpec> = fc
  .record({
    action: fc.constantFrom('ALLOW' as const, 'DENY' as const),
    peerSelector: selector,
    ingress: fc.option(sides, { nil: undefined }),
    egress: fc.option(sides, { nil: undefined }),
    network: fc.constantFrom(undefined, ...NETWORKS),
    expiresAt: fc.constantFrom(undefined, undefined, SOON, LATER),
  })
  .map(({ action, peerSelector, ingress, egress, network: where, expiresAt }) => ({
    action,
    peerSelector,
    ...(ingress && { ingress: ingress.map(({ who, ...rest }) => ({ ...rest, ...(who && { from: who }) })) }),
    ...(egress && { egress: egress.map(({ who, ...rest }) => ({ ...rest, ...(who && { to: who }) })) }),
    ...(where && { network: where }),
    ...(expiresAt && { expiresAt }),
  }));
const written = fc.record({ isAgents: fc.boolean(), spec });
const defaultAction = fc.constantFrom('ALLOW' as const, 'DENY' as const);

function compiled(state: NetworkState, now: number) {
  return compile(modelOf(state, now));
}

function withPeer(state: NetworkState, after: PeerRecord): NetworkState {
  return stateAfter(state, [{ type: 'created', kind: 'MeshPeer', name: after.name, after }]);
}

test('no agent that ends opens anything, now or later, for peers of today or those that join then', () => {
  fc.assert(
    fc.property(
      fc.array(written, { minLength: 1, maxLength: 6 }),
      defaultAction,
      defaultAction,
      (all, first, second) => {
        const policies = all.map(({ isAgents, spec: own }, index) => ({
          ...policy(`p${index}`, own),
          annotations: isAgents ? { [WRITTEN_BY]: ENDING.uid } : {},
        }));
        const networks = [first, second].map((defaultAction, at) =>
          network(NETWORKS[at] ?? '', { cidr: `10.${96 + at}.0.0/24`, defaultAction }),
        );
        const before = stateWith(...networks, ...PEERS, OWN, ENDING, ...policies);
        const going = policies.filter(({ annotations }) => Object.hasOwn(annotations, WRITTEN_BY));
        const { kept } = retainedPolicies({ state: before, agents: [ENDING], policies: going, now: NOW });
        const stays = new Map(kept.map(({ before: { name }, after }) => [name, after]));
        const writes: Write[] = [
          { type: 'deleted', kind: 'MeshPeer', name: OWN.name, before: OWN },
          ...going.map((record): Write => {
            const after = stays.get(record.name);
            const key = { kind: 'MeshPolicy', name: record.name, before: record } as const;
            return after ? { ...key, type: 'updated', after } : { ...key, type: 'deleted' };
          }),
        ];
        const then = stateAfter(before, writes);
        for (const now of TIMES) {
          for (const [was, is] of [
            [before, then],
            [withPeer(before, NEWCOMER), withPeer(then, NEWCOMER)],
          ] as const) {
            const { groups, outside } = effectOf(compiled(was, now), compiled(is, now));
            expect(groups.filter(({ opened }) => opened.length > 0)).toEqual([]);
            expect((outside ?? []).filter(({ opened }) => opened.length > 0)).toEqual([]);
          }
        }
      },
    ),
    { numRuns: RUNS },
  );
});
