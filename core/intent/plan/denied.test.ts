import { expect, it } from 'vitest';
import { agent, buildKit, type Kit, person } from '../../../test/kits/plane/kit.ts';
import { policy } from '../../../test/kits/records/records.ts';
import { seedPeers } from '../../../test/kits/records/seed-peers.ts';
import { draftOf } from '../../base/record.ts';
import type { PolicySpec } from '../../model/policy.ts';

type Raw = Record<string, unknown>;

const DB = { matchLabels: { role: 'db' } };
const from = (role: string) => [{ peerSelector: { matchLabels: { role } } }];
const NO_LAB: PolicySpec = { action: 'DENY', peerSelector: DB, ingress: [{ from: from('lab') }] };
const why = { actor: 'system:test', reason: 'seed', requestId: 'seed' };
const open = { do: 'allow', from: ['lab'], to: ['db-1'], ports: ['tcp/8443'] };
const document = (selector: string) =>
  `{"apiVersion":"mesh.internal/v1alpha1","kind":"MeshPolicy","metadata":{"name":"no-lab"},"spec":{"action":"DENY","peerSelector":{"matchLabels":{"role":"db"}},"ingress":[{"from":[${selector}]}]}}`;
const NARROWED = document('{"peerSelector":{"matchLabels":{"role":"lab","floor":"2"}}}');
const EXTENDED = document(
  '{"peerSelector":{"matchLabels":{"role":"lab"}}},{"peerSelector":{"matchLabels":{"role":"ci"}}}',
);

async function scene(kit: Kit) {
  const workspace = await kit.workspace();
  await seedPeers(kit.services, workspace, {
    lab: { role: 'lab' },
    'ci-1': { role: 'ci' },
    'web-1': { role: 'web' },
    'db-1': { role: 'db' },
  });
  const policies = { base: { action: 'DENY', peerSelector: {} }, 'no-lab': NO_LAB } as const;
  for (const [name, spec] of Object.entries(policies))
    await kit.services.store.commit(workspace, [{ op: 'create', record: draftOf(policy(name, spec)) }], why);
  const admin = { as: person('admin', workspace), workspace };
  const autoApprove = { maxRisk: 'low', from: ['agent', 'person'] };
  await kit.call('update_workspace', { settings: { autoApprove } }, admin);
  const as = agent(['network:read', 'intents:plan', 'intents:apply'], workspace);
  const plan = (raw: Raw) => kit.call('plan_network_change', raw, { as, workspace });
  const statusOf = async (raw: Raw) => {
    const { plan_id } = await plan(raw);
    return (await kit.call('apply_network_change', { plan_id }, { as, workspace, face: 'mcp' })).status;
  };
  return { plan, statusOf, admin };
}

it.each<[string, Raw]>([
  ['deletes the DENY', { orders: [open], delete: ['policy/no-lab'] }],
  ['writes its selector anew', { orders: [open], documents: NARROWED }],
  ['takes the label that it denies', { orders: [open], set: [{ peer: 'lab', labels: ['role='] }] }],
])('a plan that opens what a DENY denied and %s is high, and waits for a person', async (_what, raw) => {
  await using kit = await buildKit();
  const { plan, statusOf, admin } = await scene(kit);
  const { risk_level, risk_reasons } = await plan(raw);
  expect([risk_level, risk_reasons]).toEqual([
    'high',
    expect.arrayContaining([
      expect.stringContaining('it opens connections that the policy no-lab denies: for example lab to db-1'),
    ]),
  ]);
  const autoApprove = { maxRisk: 'critical', from: ['agent', 'person'] };
  await kit.call('update_workspace', { settings: { autoApprove } }, admin);
  expect(await statusOf(raw)).toBe('pending_approval');
});

it.each<[string, Raw]>([
  ['deletes it', { delete: ['policy/no-lab'] }],
  ['is the sentence that deletes it', { intent: 'delete the policy no-lab' }],
  ['narrows it', { documents: NARROWED }],
  ['takes a peer out of it by labels', { set: [{ peer: 'lab', labels: ['role='] }] }],
])('a plan that takes from a DENY is medium where it opens nothing: it %s', async (_what, raw) => {
  await using kit = await buildKit();
  const { plan, statusOf } = await scene(kit);
  expect(await plan(raw)).toMatchObject({
    risk_level: 'medium',
    risk_reasons: ['it takes connections from those that the policy no-lab denies'],
  });
  expect(await statusOf(raw)).toBe('pending_approval');
});

it('a plan that makes a DENY wider is low, and so is one that leaves it alone', async () => {
  await using kit = await buildKit();
  const { plan } = await scene(kit);
  expect(await plan({ documents: EXTENDED })).toMatchObject({ risk_level: 'low', risk_reasons: [] });
  const beside = { ...open, from: ['web-1'] };
  expect(await plan({ orders: [beside] })).toMatchObject({ risk_level: 'low', risk_reasons: [] });
});

it('a revert to a state without a DENY takes from it, as its deletion does', async () => {
  await using kit = await buildKit();
  const { plan, admin } = await scene(kit);
  await kit.call('create_policy', { name: 'no-ci', spec: { ...NO_LAB, ingress: [{ from: from('ci') }] } }, admin);
  expect(await plan({ revert: 'last' })).toMatchObject({
    risk_level: 'medium',
    risk_reasons: ['it takes connections from those that the policy no-ci denies'],
  });
});

it('a direct write that waits for approval shows that it takes from a DENY', async () => {
  await using kit = await buildKit();
  const { admin } = await scene(kit);
  await kit.call('update_workspace', { settings: { requireApproval: true } }, admin);
  await kit.call('delete_policy', { id: 'no-lab' }, admin);
  const { items } = await kit.call('list_workflows', {}, admin);
  expect(items).toMatchObject([{ status: 'pending', riskLevel: 'medium' }]);
});
