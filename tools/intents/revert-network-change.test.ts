import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const SHUT = { action: 'DENY', peerSelector: {}, ingress: [{}] };

test('the plan to undo the last change takes back what it made, and changes nothing itself', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.ask('create_policy', { name: 'shut', spec: SHUT });
  const plan = await kit.ask('revert_network_change', {});
  expect(plan).toMatchObject({ changes: [{ action: 'delete', resource: 'MeshPolicy', name: 'shut' }], dry_run: false });
  expect((await kit.ask('list_policies')).items).toHaveLength(1);
});

test('one thing is undone at a time, one that there is, and planning needs intents:plan', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.ask('create_policy', { name: 'shut', spec: SHUT });
  expect(await refusalOf(kit.ask('revert_network_change', { revision: 1, workflow_id: 'wf_1' }))).toBe(
    'invalid_input /revision',
  );
  expect(await refusalOf(kit.ask('revert_network_change', { workflow_id: 'wf_none' }))).toBe('not_found');
  expect(await refusalOf(kit.ask('revert_network_change', { snapshot_id: 'snap_none' }))).toBe('not_found');
  expect(await refusalOf(kit.holding('network:read')('revert_network_change', {}))).toBe('forbidden intents:plan');
});

test('a revision is undone alone: what came after it stays, and one that was changed since is refused', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.ask('create_policy', { name: 'first', spec: SHUT });
  await kit.ask('create_policy', { name: 'second', spec: SHUT });
  const { items } = await kit.ask('list_changes', { from: '2026-01-01T00:00:00Z', name: 'first' });
  const plan = await kit.ask('revert_network_change', { undo_revision: items[0].revision });
  expect(plan.changes).toMatchObject([{ action: 'delete', name: 'first' }]);
  await kit.ask('delete_policy', { id: 'first' });
  expect(await refusalOf(kit.ask('revert_network_change', { undo_revision: items[0].revision }))).toBe('conflict');
});
