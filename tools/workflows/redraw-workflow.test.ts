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
