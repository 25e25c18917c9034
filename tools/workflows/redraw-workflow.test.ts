import { expect, test } from 'vitest';
import { memberDraft } from '../../core/identity/members.ts';
import { buildHeldKit, buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';
import { seedPeers } from '../../test/kits/records/seed-peers.ts';

const role = (name: string) => ({ peerSelector: { matchLabels: { role: name } } });
const CARD = { role: 'card', 'compliance.scope': 'cde' };
const BASE = { action: 'ALLOW', peerSelector: {}, ingress: [] };
const OPEN = { action: 'ALLOW', ...role('card'), ingress: [{ from: [role('web')], ports: [{ port: 443 }] }] };
const openChange = { action: 'create', resource: 'MeshPolicy', name: 'open', spec: OPEN };

/** A plan of an operator waits that lets two web servers reach a peer with cardholder data. */
async function scene() {
  const kit = await buildWorkspaceKit();
  const context = { actor: 'system:test', reason: 'a person who may approve', requestId: 'r' };
  await kit.services.store.commit(kit.workspace, [{ op: 'create', record: memberDraft('olga', 'operator') }], context);
  const peers = { 'card-1': CARD, 'web-1': { role: 'web' }, 'web-2': { role: 'web' }, 'odd-1': { role: 'odd' } };
  await seedPeers(kit.services, kit.workspace, peers);
  await kit.ask('create_policy', { name: 'base', spec: BASE });
  await kit.ask('create_assertion', {
    name: 'odd-stays-out',
    src: 'role=odd',
    dst: 'role=card',
    expect: 'unreachable',
  });
  await kit.ask('create_assertion', {
    name: 'web-stays-out',
    src: 'role=web',
    dst: 'role=card',
    port: 22,
    expect: 'unreachable',
  });
  const plan = await kit.as('operator')('plan_network_change', {
    intent: 'open the card peers',
    changes: [openChange],
  });
  const { workflow_id: id } = await kit.as('operator')('apply_network_change', {
    plan_id: plan.plan_id,
    approved_by: 'olga',
  });
  return { ...kit, id: id as string };
}

test('a change is told by kinds of peers and in pairs, with the assertions and controls that it touches', async () => {
  await using kit = await scene();
  const { drawing, problem, revision, base_revision } = await kit.ask('redraw_workflow', { id: kit.id });
  expect([problem, drawing.differs, drawing.refusal]).toEqual([null, false, null]);
  expect(revision).toBeGreaterThanOrEqual(base_revision);
  const names = { src: ['web-1', 'web-2'], dst: ['card-1'], src_total: 2, dst_total: 1 };
  expect(drawing.opens.rows).toEqual([
    { from: 'role=web (2 peers)', to: 'card-1', ports: 'TCP 443', pairs: 2, ...names },
  ]);
  const touched = { held: true, holds: true, detail: null };
  expect(drawing.assertions).toMatchObject([
    { name: 'odd-stays-out', ...touched, touched: false },
    { name: 'web-stays-out', ...touched, touched: true },
  ]);
  expect(drawing.controls.map(({ control, to }: Record<string, string>) => `${control} ${to}`)).toContain(
    'PCI-DSS-1.2.5 fail',
  );
  expect(drawing.controls_standing.map(({ control }: Record<string, string>) => control)).toContain('PCI-DSS-1.3.1');
});

test('the smallest of very many kinds that open is told after the others, and with skip alone', async () => {
  await using kit = await scene();
  const group = (name: string) => ({ peerSelector: { matchLabels: { group: name } } });
  const noise = Array.from({ length: 120 }, (_, index) => [`noise-${index}`, { group: `g${index % 60}` }] as const);
  await seedPeers(kit.services, kit.workspace, { ...Object.fromEntries(noise), 'vault-1': { role: 'vault' } });
  const lets = (name: string, spec: object) => ({ action: 'create', resource: 'MeshPolicy', name, spec });
  const rules = (first: number, count: number) =>
    Array.from({ length: count }, (_, index) => ({
      from: [group(`g${(first + index) % 60}`)],
      ports: [{ port: 9_000 + first + index }],
    }));
  const changes = [
    ...Array.from({ length: 12 }, (_, index) =>
      lets(`noise-${index}`, { action: 'ALLOW', ...group(`g${index}`), ingress: rules(index * 5 + 12, 5) }),
    ),
    lets('hidden', { action: 'ALLOW', ...role('vault'), ingress: [{ from: [role('odd')], ports: [{ port: 22 }] }] }),
  ];
  const asOperator = kit.as('operator');
  const plan = await asOperator('plan_network_change', { intent: 'open the groups', changes });
  const { workflow_id: id } = await asOperator('apply_network_change', { plan_id: plan.plan_id, approved_by: 'olga' });
  const { drawing } = await kit.ask('redraw_workflow', { id });
  expect([drawing.opens.rows.length, drawing.opens.omitted_rows]).toEqual([50, 11]);
  expect(JSON.stringify(drawing.opens)).not.toContain('vault-1');
  const { drawing: rest } = await kit.ask('redraw_workflow', { id, skip: 50 });
  expect([rest.digest, rest.opens.omitted_rows, rest.opens.omitted_pairs]).toEqual([drawing.digest, 0, 0]);
  expect(rest.opens.rows).toHaveLength(11);
  expect(rest.opens.rows.at(-1)).toMatchObject({ from: 'odd-1', to: 'vault-1', ports: 'TCP 22' });
});

test('a kind that no label means is told with the names of all its peers', async () => {
  await using kit = await scene();
  const peers = Array.from({ length: 300 }, (_, index) => [`p-${index}`, { group: `g${index % 2}` }] as const);
  await seedPeers(kit.services, kit.workspace, { ...Object.fromEntries(peers), 'zz-vault': { role: 'vault' } });
  const to = {
    peerSelector: { matchExpressions: [{ key: 'role', operator: 'NotIn', values: ['web', 'card', 'odd'] }] },
  };
  const spec = { action: 'ALLOW', ...to, ingress: [{ from: [role('odd')], ports: [{ port: 22 }] }] };
  const change = { action: 'create', resource: 'MeshPolicy', name: 'wide', spec };
  const asOperator = kit.as('operator');
  const plan = await asOperator('plan_network_change', { intent: 'let odd reach others', changes: [change] });
  const { workflow_id: id } = await asOperator('apply_network_change', { plan_id: plan.plan_id, approved_by: 'olga' });
  const { drawing } = await kit.ask('redraw_workflow', { id });
  const [row] = drawing.opens.rows;
  expect([row.dst_total, row.dst.length, row.dst.at(-1)]).toEqual([301, 301, 'zz-vault']);
});

test('where the network has changed since, it says that the change would do otherwise, and what', async () => {
  await using kit = await scene();
  await seedPeers(kit.services, kit.workspace, { 'web-3': { role: 'web' } });
  const { drawing } = await kit.ask('redraw_workflow', { id: kit.id });
  expect([drawing.differs, drawing.opens.rows[0].pairs]).toEqual([true, 3]);
  expect((await kit.ask('get_workflow', { id: kit.id })).effect.opened_pairs).toBe(2);
});

test('changes that cannot be made any more, or would break an assertion, are told with the reason', async () => {
  await using kit = await scene();
  await kit.ask('create_assertion', { name: 'shut', src: 'role=web', dst: 'role=card', expect: 'unreachable' });
  const { drawing } = await kit.ask('redraw_workflow', { id: kit.id });
  expect(drawing.refusal).toMatch(/^The change would break the assertion shut: /);
  expect(drawing.assertions).toContainEqual(expect.objectContaining({ name: 'shut', held: true, holds: false }));
  await kit.ask('delete_assertion', { id: 'shut' });
  await kit.ask('create_policy', { name: 'open', spec: BASE });
  const { drawing: none, problem } = await kit.ask('redraw_workflow', { id: kit.id });
  expect([none, problem]).toEqual([null, expect.stringContaining('open')]);
});

test('it says who may approve and why others may not', async () => {
  await using kit = await scene();
  const decisionOf = async (ask: typeof kit.ask) => (await ask('redraw_workflow', { id: kit.id })).decision;
  expect(await decisionOf(kit.ask)).toMatchObject({ may_approve: true, why: null, own: false, code_required: false });
  expect(await decisionOf(kit.as('viewer'))).toMatchObject({
    may_approve: false,
    why: expect.stringContaining('workflows:approve'),
  });
  expect(await decisionOf(kit.holding('network:read', 'workflows:approve'))).toMatchObject({ may_approve: false });
  await kit.ask('update_workspace', { settings: { selfApproval: false } });
  expect(await decisionOf(kit.as('operator'))).toMatchObject({
    ...{ may_approve: false, own: true },
    why: expect.stringContaining('another person'),
  });
});

test('what is decided is not drawn, nor one of another workspace, nor for who may not read the network', async () => {
  await using kit = await scene();
  expect(await refusalOf(kit.foreign('redraw_workflow', { id: kit.id }))).toBe('not_found');
  expect(await refusalOf(kit.holding()('redraw_workflow', { id: kit.id }))).toBe('forbidden network:read');
  await kit.ask('reject_workflow', { id: kit.id });
  expect(await refusalOf(kit.ask('redraw_workflow', { id: kit.id }))).toBe('conflict');
});

test('a direct write that waits is drawn as a plan is', async () => {
  await using kit = await buildHeldKit();
  const { drawing } = await kit.ask('redraw_workflow', { id: kit.held });
  expect(drawing).toMatchObject({ differs: false, refusal: null, changes: [{ name: 'shut' }] });
});
