import { expect, test } from 'vitest';
import { buildHistoryKit } from '../test/history-kit.ts';
import { person } from '../test/kit.ts';

const pair = { src: 'a', dst: 'b' };
const AT = '2026-01-05T12:00:00Z';
const PRO: [string, Record<string, unknown>][] = [
  ['list_snapshots', {}],
  ['get_snapshot', { snapshotId: 'snap_x' }],
  ['take_snapshot', {}],
  ['diff_snapshots', { from: 'snap_x', to: 'snap_y' }],
  ['check_connectivity_at', { ...pair, at: AT }],
  ['get_connectivity_matrix', { at: AT }],
  ['get_connectivity_matrix', { snapshot_id: 'snap_x' }],
];
const COMMUNITY: [string, Record<string, unknown>][] = [
  ['check_connectivity', pair],
  ['explain_denial', pair],
  ['get_connectivity_matrix', {}],
  ['list_audit', {}],
];

test.each(PRO)('%s with %j is Pro', async (name, input) => {
  await using kit = await buildHistoryKit({ edition: 'community' });
  await expect(kit.ask(name, input)).rejects.toMatchObject({ code: 'edition_required' });
});

test.each(COMMUNITY)('%s with %j is Community', async (name, input) => {
  await using kit = await buildHistoryKit({ edition: 'community' });
  await expect(kit.ask(name, input)).resolves.toBeDefined();
});

test.each([...PRO, ...COMMUNITY])('%s with %j says nothing of another workspace', async (name, input) => {
  await using kit = await buildHistoryKit();
  const stranger = person('admin', 'w_elsewhere');
  await expect(kit.call(name, input, { as: stranger, workspace: kit.workspace })).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('a snapshot of another workspace is not found', async () => {
  await using kit = await buildHistoryKit();
  const { id } = await kit.ask('take_snapshot');
  const elsewhere = { as: person('admin', await kit.addWorkspace()) };
  for (const [name, input] of [
    ['get_snapshot', { snapshotId: id }],
    ['diff_snapshots', { from: id, to: id }],
    ['check_connectivity_at', { ...pair, snapshot_id: id }],
    ['get_connectivity_matrix', { snapshot_id: id }],
  ] as const) {
    await expect(kit.call(name, input, elsewhere)).rejects.toMatchObject({ code: 'not_found' });
  }
});

test('a viewer reads the past but takes no snapshot and reads no audit log; an auditor reads it', async () => {
  await using kit = await buildHistoryKit();
  const viewer = { as: person('viewer', kit.workspace) };
  const auditor = { as: person('auditor', kit.workspace) };
  await expect(kit.call('list_snapshots', {}, viewer)).resolves.toBeDefined();
  await expect(kit.call('take_snapshot', {}, viewer)).rejects.toMatchObject({ code: 'forbidden' });
  await expect(kit.call('list_audit', {}, viewer)).rejects.toMatchObject({ code: 'forbidden' });
  await expect(kit.call('list_audit', {}, auditor)).resolves.toBeDefined();
  await expect(kit.call('take_snapshot', {}, auditor)).rejects.toMatchObject({ code: 'forbidden' });
});
