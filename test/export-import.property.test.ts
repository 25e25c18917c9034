import fc from 'fast-check';
import { expect, test } from 'vitest';
import { movedPeers, planImport } from '../cli/import-plan.ts';
import { filesOf } from '../cli/resource-files.ts';
import type { FileResource } from '../core/history/export.ts';
import { compile } from '../core/reachability/engine.ts';
import { NOW, policySpec } from '../core/reachability/models.testkit.ts';
import { modelOf } from '../core/state/network-model.ts';
import { parseYaml } from '../tools/yaml.ts';
import { type DeviceKey, freshKey, join, joinToken, proofOf } from './kits/plane/devices.ts';
import { buildKit, type Kit, person } from './kits/plane/kit.ts';

/** The names that lists of the drawn policies have, and the peers that they mean here. `gone` is the id of nobody. */
const LISTED: Readonly<Record<string, string>> = { id0: 'p0', id1: 'p1', gone: `p_${'a'.repeat(26)}` };
const NETWORKS: Readonly<Record<string, string>> = { n1: 'default', n2: 'lab' };

const ENDS = '2026-01-01T00:00:01.000Z';
const defaultAction = fc.constantFrom(...(['ALLOW', 'ALLOW', 'ALLOW', 'DENY'] as const));
const labels = fc.dictionary(fc.constantFrom('role', 'env', 'tier'), fc.constantFrom('a', 'b', 'c'), { maxKeys: 3 });
const some = fc.uniqueArray(fc.constantFrom('id0', 'id1', 'p2', 'p3', 'gone'), { minLength: 1, maxLength: 2 });
const selector = fc.oneof(
  some.map((peers) => ({ peers })),
  some.map((notPeers) => ({ notPeers })),
  fc.constantFrom('a', 'b').map((role) => ({ matchLabels: { role } })),
);
const entry = fc.oneof(
  { weight: 4, arbitrary: selector.map((peerSelector) => ({ peerSelector })) },
  { weight: 1, arbitrary: fc.constantFrom('203.0.113.0/25', '10.96.0.2/31').map((cidr) => ({ ipBlock: { cidr } })) },
);
/** Policies of one rule about few peers, which leave much as it is: with them alone most pairs are told apart. */
const pointed = fc
  .record({
    action: fc.constantFrom('ALLOW' as const, 'DENY' as const),
    peerSelector: selector,
    entry,
    ports: fc.constantFrom([], [{ port: 80 }], [{ protocol: 'UDP' as const }]),
    isIngress: fc.boolean(),
  })
  .map(({ entry: other, ports, isIngress, ...spec }) => ({
    ...spec,
    ...(isIngress ? { ingress: [{ from: [other], ports }] } : { egress: [{ to: [other], ports }] }),
  }));

const network = fc.record({
  defaults: fc.tuple(defaultAction, defaultAction),
  peers: fc.array(fc.record({ labels, network: fc.constantFrom('default', 'default', 'lab') }), {
    minLength: 4,
    maxLength: 5,
  }),
  policies: fc.array(
    fc.record({
      spec: fc.oneof({ weight: 5, arbitrary: pointed }, { weight: 1, arbitrary: policySpec }),
      ends: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  /** In which the devices join the other workspace: mostly the same, so that addresses are. */
  order: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.array(fc.nat(100), { minLength: 5, maxLength: 5 })),
});

/** A policy as people would write it of these peers. */
function written(value: unknown): unknown {
  if (typeof value === 'string') return LISTED[value] ?? value;
  if (Array.isArray(value)) return value.map(written);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, key === 'network' ? NETWORKS[String(inner)] : written(inner)]),
  );
}

const HEAD = 'mesh.internal/v1alpha1';
const nameOf = (index: number) => `p${index}`;

function callIn(kit: Kit, workspace: string) {
  const as = person('admin', workspace);
  return (name: string, raw: Record<string, unknown> = {}) => kit.call(name, raw, { as, workspace });
}

async function exportedOf(call: ReturnType<typeof callIn>): Promise<FileResource[]> {
  const resources: FileResource[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await call('export_resources', cursor === undefined ? {} : { cursor });
    resources.push(...page.resources);
    cursor = page.next_cursor;
    if (cursor === undefined) return resources;
  }
}

/** Who may open what to whom, by name, with addresses outside of the network. */
async function reachIn(kit: Kit, workspace: string, at: number): Promise<string[]> {
  const state = await kit.services.states.current(workspace);
  const externals = [
    { name: 'near', range: '203.0.113.0/25' },
    { name: 'far', range: '203.0.113.128/25' },
  ];
  const reach = compile({ ...modelOf(state, at), externals });
  const names = [...state.peers.keys(), 'near', 'far'].sort();
  return names.flatMap((src) =>
    names.flatMap((dst) => (src === dst ? [] : [`${src} > ${dst}: ${JSON.stringify(reach.allowed(src, dst))}`])),
  );
}

test('an export that is imported into an empty workspace gives the same reachability, or says which addresses differ', async () => {
  await using kit = await buildKit({ now: NOW });
  let same = 0;
  let runs = 0;
  const check = async ({
    defaults,
    peers,
    policies,
    order,
  }: typeof network extends fc.Arbitrary<infer N> ? N : never) => {
    const keys = peers.map(() => freshKey());
    const [from, to] = [await kit.workspace(), await kit.workspace()];
    const source = callIn(kit, from);
    await joinAll(
      from,
      peers.map((_, index) => index),
      keys,
    );
    const documents = [
      ...defaults.map((action, index) => ({
        kind: 'MeshNetwork',
        metadata: { name: ['default', 'lab'][index] },
        spec: { cidr: `10.${96 + index}.0.0/24`, defaultAction: action },
      })),
      ...peers.map((peer, index) => ({
        kind: 'MeshPeer',
        metadata: { name: nameOf(index), labels: peer.labels },
        spec: { network: peer.network },
      })),
      ...policies.map(({ spec, ends }, index) => ({
        kind: 'MeshPolicy',
        metadata: { name: `policy-${index}`, labels: { nth: `${index}` }, annotations: { why: 'a: "test"\n# 1' } },
        spec: written({ peerSelector: {}, ...spec, expiresAt: ends ? ENDS : undefined }),
      })),
    ].map((document) => ({ apiVersion: HEAD, ...document }));
    await source('apply_resources', { documents });

    const files = filesOf(await exportedOf(source));
    const read = [...files.keys()].sort().flatMap((file) => parseYaml(files.get(file) ?? ''));
    const target = callIn(kit, to);
    const shuffled = peers.map((_, index) => index).sort((a, b) => (order[a] ?? 0) - (order[b] ?? 0));
    await joinAll(to, shuffled, keys);
    const plan = planImport(read, await exportedOf(target));
    expect([plan.missing, plan.listed, plan.otherKeys]).toEqual([[], [], []]);
    await target('apply_resources', { documents: plan.documents, prune: [] });

    const there = await exportedOf(target);
    runs += 1;
    if (movedPeers(read, there).length > 0) return;
    same += 1;
    for (const at of [NOW, Date.parse(ENDS)]) expect(await reachIn(kit, to, at)).toEqual(await reachIn(kit, from, at));
    const without = (resources: readonly FileResource[]) =>
      resources.map((resource) => ({ ...resource, status: undefined }));
    expect(without(there)).toEqual(without(await exportedOf(source)));
  };

  async function joinAll(workspace: string, indexes: readonly number[], keys: readonly DeviceKey[]): Promise<void> {
    const token = await joinToken(kit, workspace);
    for (const index of indexes) {
      const key = keys[index];
      if (key) await join(kit, workspace, nameOf(index), { token, key, ...proofFor(key, token) });
    }
  }

  function proofFor(key: DeviceKey, token: string) {
    return { proof: proofOf(key, token, kit.services.keys.controlKey) };
  }

  await fc.assert(fc.asyncProperty(network, check), { numRuns: 40 });
  // What addresses decide is a minority: the rest was compared.
  expect(same / runs).toBeGreaterThan(0.5);
});
