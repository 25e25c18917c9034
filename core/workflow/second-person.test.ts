import { expect, test } from 'vitest';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';
import { seedPeers } from '../../test/kits/records/seed-peers.ts';

const CARD = { 'compliance.scope': 'cde' };
const BASE = { action: 'DENY', peerSelector: {} };
const OPEN = { action: 'ALLOW', peerSelector: { matchLabels: CARD }, ingress: [{ from: ['*'] }] };
const NARROW = {
  action: 'ALLOW',
  peerSelector: { matchLabels: { role: 'web' } },
  ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'lb' } } }], ports: [{ port: 443 }] }],
};
const openChange = { action: 'create', resource: 'MeshPolicy', name: 'open', spec: OPEN };

/** A workspace with a peer that has cardholder data, two who may approve, and `selfApproval` on. */
async function scene(compliance: Record<string, unknown> = { secondPerson: true }, settings: object = {}) {
  const kit = await buildPeopleKit();
  await seedPeers(kit.services, kit.prod, { 'card-1': CARD, 'web-1': { role: 'web' }, 'lb-1': { role: 'lb' } });
  await kit.ada('create_policy', { name: 'base', spec: BASE });
  await kit.haveSettings(kit.prod, { selfApproval: true, ...settings, compliance });
  const bob = kit.askWith(await kit.person('bob', 'operator', kit.prod));
  const names = async () => (await kit.ada('list_policies')).items.map(({ name }: { name: string }) => name);
  return { ...kit, bob, names };
}

test('a plan after which a control fails says so, with who does what, and is of medium risk at least', async () => {
  await using kit = await scene({});
  const plan = await kit.ada('plan_network_change', { intent: 'open the card peers', changes: [openChange] });
  const told = /^it fails PCI-DSS-1\.3, PCI-DSS-1\.3\.1: rule 0 of open \(.*\) lets anyone in to card-1 \(/;
  expect(plan.warnings).toContainEqual(expect.stringMatching(told));
  expect(plan.risk_reasons).toContainEqual(expect.stringMatching(told));
  expect(plan.risk_level).not.toBe('low');
  expect(plan.diff_markdown).toContain('PCI-DSS-1.3');
});

test('a plan that mends a control says so, and who has no peer in scope is told nothing', async () => {
  await using kit = await scene({});
  await kit.ada('create_policy', { name: 'open', spec: OPEN });
  const changes = [{ action: 'delete', resource: 'MeshPolicy', name: 'open' }];
  const plan = await kit.ada('plan_network_change', { intent: 'close again', changes });
  expect(plan.warnings).toContainEqual(expect.stringMatching(/^it mends .*PCI-DSS-1\.3/));

  await kit.ada('update_workspace', { settings: { compliance: { cde: ['zone=none'] } } });
  const silent = await kit.ada('plan_network_change', { intent: 'close again', changes });
  expect(silent.warnings.join()).not.toContain('PCI-DSS');
});

test('a plan after which a control fails is never approved by itself, as one that fails none is', async () => {
  await using kit = await scene({}, { autoApprove: { maxRisk: 'critical' } });
  const applied = async (intent: string) => {
    const plan = await kit.ada('plan_network_change', { intent });
    expect(plan.verified).toBe(true);
    return kit.ada('apply_network_change', { plan_id: plan.plan_id, approved_by: 'bob' });
  };
  expect(await applied('let lb-1 reach web-1 on tcp 443')).toMatchObject({ status: 'executed' });
  // Nobody is named who answers for what it opens: PCI-DSS-1.2.5.
  expect(await applied('let web-1 reach card-1 on tcp 443')).toMatchObject({ status: 'pending_approval' });
});

test('a second person approves it, whatever selfApproval says', async () => {
  await using kit = await scene();
  const plan = await kit.ada('plan_network_change', { intent: 'open the card peers', changes: [openChange] });
  const { workflow_id: id } = await kit.ada('apply_network_change', { plan_id: plan.plan_id, approved_by: 'bob' });
  expect(await refusalOf(kit.ada('approve_workflow', { id }))).toBe('forbidden');
  expect(await kit.bob('approve_workflow', { id })).toMatchObject({ status: 'executed', reviewedBy: 'user:bob' });
  expect(await kit.names()).toContain('open');
});

test('who may not approve what they ask for is told that another person has to, in the plan and in what waits', async () => {
  await using kit = await scene();
  const asked = { intent: 'open the card peers', changes: [openChange] };
  const plan = await kit.ada('plan_network_change', asked);
  expect(plan).toMatchObject({ another_person: true });
  const applied = await kit.ada('apply_network_change', { plan_id: plan.plan_id, approved_by: 'bob' });
  expect(applied).toMatchObject({ another_person: true, message: expect.stringMatching(/^Another person has to/) });
  const held = await kit.ada('create_policy', { name: 'open', spec: OPEN });
  expect(held).toMatchObject({ another_person: true, message: expect.stringContaining('another person has to') });
  const own = { intent: 'let lb reach web', changes: [{ ...openChange, name: 'narrow', spec: NARROW }] };
  expect(await kit.ada('plan_network_change', own)).not.toHaveProperty('another_person');
});

test('a plan that fails no control is approved by who asked, as selfApproval says', async () => {
  await using kit = await scene();
  const change = { action: 'create', resource: 'MeshPolicy', name: 'narrow', spec: NARROW };
  const plan = await kit.ada('plan_network_change', { intent: 'let lb reach web', changes: [change] });
  const { workflow_id: id } = await kit.ada('apply_network_change', { plan_id: plan.plan_id, approved_by: 'bob' });
  expect(await kit.ada('approve_workflow', { id })).toMatchObject({ status: 'executed', selfApproved: true });
});

test('a direct write is no way around: one that fails a control waits, another is written at once', async () => {
  await using kit = await scene();
  const held = await kit.ada('create_policy', { name: 'open', spec: OPEN });
  expect(held).toMatchObject({ status: 'pending_approval' });
  await kit.ada('create_policy', { name: 'narrow', spec: NARROW });
  expect(await kit.names()).toEqual(['base', 'narrow']);
  const removed = await kit.ada('delete_policy', { id: 'base' });
  expect(removed).toMatchObject({ status: 'pending_approval' });
  const { workflow_id: id } = held;
  expect(await refusalOf(kit.ada('approve_workflow', { id }))).toBe('forbidden');
  expect(await kit.bob('approve_workflow', { id })).toMatchObject({ status: 'executed' });
  expect(await kit.names()).toContain('open');
});

test('files that are imported are no way around either', async () => {
  await using kit = await scene();
  const metadata = { name: 'open' };
  const file = JSON.stringify({ apiVersion: 'mesh.internal/v1alpha1', kind: 'MeshPolicy', metadata, spec: OPEN });
  const answer = await kit.ada('apply_resources', { manifest: file });
  expect(answer).toMatchObject({ status: 'pending_approval' });
  expect(await kit.names()).toEqual(['base']);
});

test('without the setting a direct write goes through as before', async () => {
  await using kit = await scene({});
  await kit.ada('create_policy', { name: 'open', spec: OPEN });
  expect(await kit.names()).toContain('open');
});

test('who demands a second person needs one to demand it no more, or to be assessed by less', async () => {
  await using kit = await scene();
  for (const compliance of [{ secondPerson: false }, { frameworks: [] }, { cde: ['zone=none'] }, null]) {
    const held = await kit.ada('update_workspace', { settings: { compliance } });
    expect(held).toMatchObject({ status: 'pending_approval' });
    expect(await refusalOf(kit.ada('approve_workflow', { id: held.workflow_id }))).toBe('forbidden');
  }
  expect(await kit.ada('update_workspace', { settings: { reviews: { activity: 366 } } })).toMatchObject({
    status: 'pending_approval',
  });
  await kit.ada('update_workspace', { settings: { timeZone: 'Europe/Zurich' } });
  const { settings } = await kit.ada('get_workspace');
  expect(settings).toMatchObject({ timeZone: 'Europe/Zurich', compliance: { secondPerson: true } });
});

test('taking a peer out of the scope by its labels needs a second person as what fails a control does', async () => {
  await using kit = await scene();
  const relabel = (labels: object) => kit.ada('update_peer', { id: 'card-1', labels });
  expect(await relabel({ role: 'db' })).toMatchObject({ status: 'pending_approval' });
  expect(await kit.ada('get_peer', { id: 'card-1' })).toMatchObject({ labels: CARD });
  expect(await relabel({ ...CARD, role: 'db' })).toMatchObject({ labels: { ...CARD, role: 'db' } });
});

test('what fails a control once a policy has ended needs a second person, in whichever order it is prepared', async () => {
  await using kit = await scene();
  const until = (ms: number) => new Date(kit.clock.time + ms).toISOString();
  const short = { ...BASE, expiresAt: until(60_000) };
  const held = await kit.ada('update_policy', { id: 'base', spec: short });
  expect(held).toMatchObject({ status: 'pending_approval' });
  const { riskReasons } = await kit.ada('get_workflow', { id: held.workflow_id });
  expect(riskReasons).toContainEqual(expect.stringMatching(/^it fails PCI-DSS-1\.2: once policies have ended, /));
  await kit.ada('create_policy', { name: 'stand-in', spec: short });
  expect(await kit.ada('delete_policy', { id: 'base' })).toMatchObject({ status: 'pending_approval' });
});

test('a join token whose devices would fail a control needs a second person, whether it or the policy comes first', async () => {
  await using kit = await scene();
  const waiting = { action: 'ALLOW', peerSelector: { matchLabels: { app: 'x' } }, ingress: [{ from: ['*'] }] };
  const labels = { ...CARD, app: 'x' };
  const token = () => kit.ada('generate_join_token', { name: 't', expiry: '', labels });
  await kit.ada('create_policy', { name: 'waiting', spec: waiting });
  expect(await token()).toMatchObject({ status: 'pending_approval' });
  expect(await kit.ada('generate_join_token', { name: 'u', expiry: '', labels: CARD })).toMatchObject({ name: 'u' });
  await kit.ada('delete_policy', { id: 'waiting' });
  expect(await token()).toMatchObject({ name: 't' });
  expect(await kit.ada('create_policy', { name: 'waiting', spec: waiting })).toMatchObject({
    status: 'pending_approval',
  });
});

const FILE_OPEN = JSON.stringify({
  apiVersion: 'mesh.internal/v1alpha1',
  kind: 'MeshPolicy',
  metadata: { name: 'open' },
  spec: OPEN,
});

/** A workspace in which bob has let a change through that mends controls, and how to ask for what was before. */
async function mended() {
  const kit = await scene({});
  await kit.ada('create_policy', { name: 'open', spec: OPEN });
  const { revision } = await kit.services.states.current(kit.prod);
  await kit.ada('update_workspace', { settings: { requireApproval: true } });
  const held = await kit.ada('delete_policy', { id: 'open' });
  await kit.bob('approve_workflow', { id: held.workflow_id });
  const settings = { requireApproval: false, compliance: { secondPerson: true } };
  const set = await kit.ada('update_workspace', { settings });
  if (set.workflow_id) await kit.bob('approve_workflow', { id: set.workflow_id });
  expect(await kit.names()).toEqual(['base']);
  return { ...kit, revision, mending: held.workflow_id as string };
}

test.each(['revision', 'workflow_id'] as const)(
  'what a second person approved is not undone by its %s without one',
  async (by) => {
    await using kit = await mended();
    const asked = by === 'revision' ? { revision: kit.revision } : { workflow_id: kit.mending };
    const plan = await kit.ada('revert_network_change', asked);
    const { workflow_id: id } = await kit.ada('apply_network_change', { plan_id: plan.plan_id, approved_by: 'ada' });
    expect(await refusalOf(kit.ada('approve_workflow', { id }))).toBe('forbidden');
    expect(await kit.names()).toEqual(['base']);
  },
);

test('what a second person approved is not undone by a file without one', async () => {
  await using kit = await mended();
  expect(await kit.ada('apply_resources', { manifest: FILE_OPEN })).toMatchObject({ status: 'pending_approval' });
  expect(await kit.names()).toEqual(['base']);
});

test.each(['revert', 'file'])('an agent of narrow reach undoes nothing by a %s that a person approved', async (by) => {
  await using kit = await mended();
  const scopes = ['network:read', 'network:write', 'snapshots:read', 'intents:plan', 'intents:apply'];
  const reach = [{ to: [{ peerSelector: { matchLabels: { role: 'web' } } }] }];
  const agent = kit.askWith((await kit.ada('create_agent', { name: 'narrow', scopes, reach })).token);
  const answer =
    by === 'file'
      ? await agent('apply_resources', { manifest: FILE_OPEN })
      : await agent('revert_network_change', { revision: kit.revision }).then(({ plan_id }) =>
          agent('apply_network_change', { plan_id, approved_by: 'bob' }),
        );
  expect(answer).toMatchObject({ status: 'pending_approval' });
  expect(await refusalOf(kit.ada('approve_workflow', { id: answer.workflow_id }))).toBe('forbidden');
  expect(await kit.names()).toEqual(['base']);
});

test.each([
  ['takes a peer out of the scope', 'card-1', {}],
  ['gives a peer a label that a policy trusts', 'web-1', { role: 'lb' }],
])('an agent of narrow reach %s by no relabelling that a person has not seen', async (_what, id, labels) => {
  await using kit = await scene({});
  await kit.ada('create_policy', { name: 'narrow', spec: NARROW });
  const reach = [{ to: [{ peerSelector: { matchLabels: { role: 'web' } } }] }];
  const { token } = await kit.ada('create_agent', { name: 'agent', scopes: ['network:read', 'network:write'], reach });
  const agent = kit.askWith(token);
  const before = await kit.ada('get_peer', { id });
  expect(await agent('update_peer', { id, labels })).toMatchObject({ status: 'pending_approval' });
  expect(await kit.ada('get_peer', { id })).toMatchObject({ labels: before.labels });
});
