import { expect, test } from 'vitest';
import { memberDraft } from '../../core/identity/members.ts';
import { buildHeldKit, buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';
import { seedPeers } from '../../test/kits/records/seed-peers.ts';

test('a workflow that is approved says by whom, and what it asked for is done', async () => {
  await using kit = await buildHeldKit();
  const workflow = await kit.ask('approve_workflow', { id: kit.held, note: 'seen' });
  expect(workflow).toMatchObject({ id: kit.held, status: 'executed', reviewedBy: 'user:admin', note: 'seen' });
  expect((await kit.ask('list_policies')).items).toHaveLength(1);
});

test('a workflow is approved once, where it is, by a signed-in person with workflows:approve', async () => {
  await using kit = await buildHeldKit();
  expect(await refusalOf(kit.foreign('approve_workflow', { id: kit.held }))).toBe('not_found');
  expect(await refusalOf(kit.as('viewer')('approve_workflow', { id: kit.held }))).toBe('forbidden workflows:approve');
  expect(await refusalOf(kit.holding('workflows:approve')('approve_workflow', { id: kit.held }))).toBe('forbidden');
  await kit.ask('reject_workflow', { id: kit.held });
  expect(await refusalOf(kit.ask('approve_workflow', { id: kit.held }))).toBe('conflict');
});

const WEB = { peerSelector: { matchLabels: { role: 'web' } } };
const OPEN = { action: 'ALLOW', ...WEB, ingress: [{ from: [WEB], ports: [{ port: 443 }] }] };

/** A plan waits, and another peer has come since. */
async function movedOn() {
  const kit = await buildWorkspaceKit();
  const context = { actor: 'system:test', reason: 'a person who may approve', requestId: 'r' };
  await kit.services.store.commit(kit.workspace, [{ op: 'create', record: memberDraft('olga', 'operator') }], context);
  await seedPeers(kit.services, kit.workspace, { 'web-1': { role: 'web' }, 'web-2': { role: 'web' } });
  await kit.ask('create_policy', { name: 'base', spec: { action: 'ALLOW', peerSelector: {}, ingress: [] } });
  const changes = [{ action: 'create', resource: 'MeshPolicy', name: 'open', spec: OPEN }];
  const plan = await kit.as('operator')('plan_network_change', { intent: 'open all', changes });
  const asked = { plan_id: plan.plan_id, approved_by: 'olga' };
  const { workflow_id: id } = await kit.as('operator')('apply_network_change', asked);
  await seedPeers(kit.services, kit.workspace, { 'web-3': { role: 'web' } });
  const digest = async () => (await kit.ask('redraw_workflow', { id })).drawing.digest as string;
  return { ...kit, id: id as string, digest };
}

test('what was seen is what is approved: the effect on the network as it is now', async () => {
  await using kit = await movedOn();
  const done = await kit.ask('approve_workflow', { id: kit.id, digest: await kit.digest() });
  expect(done).toMatchObject({ status: 'executed', effect: { opened_pairs: 6 } });
  expect(done.baseRevision).toBeGreaterThan(0);
});

test('where it would do otherwise than what was seen, nothing is approved and it goes on waiting', async () => {
  await using kit = await movedOn();
  const digest = await kit.digest();
  await seedPeers(kit.services, kit.workspace, { 'web-4': { role: 'web' } });
  expect(await refusalOf(kit.ask('approve_workflow', { id: kit.id, digest }))).toBe('plan_stale');
  expect(await kit.ask('get_workflow', { id: kit.id })).toMatchObject({ status: 'pending' });
  const done = await kit.ask('approve_workflow', { id: kit.id, digest: await kit.digest() });
  expect(done).toMatchObject({ status: 'executed', effect: { opened_pairs: 12 } });
});

test('seeing it again is no way around an assertion', async () => {
  await using kit = await movedOn();
  await kit.ask('create_assertion', { name: 'shut', src: '*', dst: 'web-1', expect: 'unreachable' });
  const approval = kit.ask('approve_workflow', { id: kit.id, digest: await kit.digest() });
  expect(await refusalOf(approval)).toBe('policy_assertion_failed');
  expect(await kit.ask('get_workflow', { id: kit.id })).toMatchObject({ status: 'pending' });
});
