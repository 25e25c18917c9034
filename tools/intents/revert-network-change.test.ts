import { expect, test } from 'vitest';
import { enrol } from '../../test/kits/plane/devices.ts';
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

test('the last change is not passed over where it cannot be undone: the plan changes nothing and names both', async () => {
  await using kit = await buildWorkspaceKit();
  const { token } = await kit.ask('generate_join_token', { name: 'first' });
  await kit.ask('create_policy', { name: 'shut', spec: SHUT });
  const made = (await kit.ask('list_changes', { from: '2026-01-01T00:00:00Z', name: 'shut' })).items[0].revision;
  await enrol(kit, token, 'web-1');
  expect((await kit.ask('revert_network_change', {})).changes).toHaveLength(1);
  await kit.ask('generate_join_token', { name: 'later' });
  const before = await kit.ask('revert_network_change', {});
  expect(before.changes).toEqual([]);
  expect(before.reading).toMatch(
    /^Nothing to undo: the newest change, revision \d+ of user:\S+ \(made join token later\), cannot be undone\./,
  );
  await kit.ask('update_workspace', { settings: { requirePeerApproval: true } });
  const plan = await kit.ask('revert_network_change', {});
  expect(plan.changes).toEqual([]);
  expect(plan.reading).toContain('(changed workspace own), cannot be undone. ');
  expect(plan.reading).toMatch(new RegExp(`The newest that can is revision ${made} \\(.*\\): mesh undo ${made}\\.$`));
});

test('a revision that never was is refused with the newest', async () => {
  await using kit = await buildWorkspaceKit();
  await expect(kit.ask('revert_network_change', { undo_revision: 500 })).rejects.toThrow(
    /^There is no revision 500: the newest is \d+\.$/,
  );
});
