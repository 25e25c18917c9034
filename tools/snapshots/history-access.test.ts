import { expect, test } from 'vitest';
import { buildHistoryKit } from '../../test/kits/plane/history-kit.ts';
import { agent, person } from '../../test/kits/plane/kit.ts';
import { seedPeers } from '../../test/kits/records/seed-peers.ts';

const pair = { src: 'a', dst: 'b' };

async function scene(options?: Parameters<typeof buildHistoryKit>[0]) {
  const kit = await buildHistoryKit(options);
  await seedPeers(kit.services, kit.workspace, { a: {}, b: {} });
  return kit;
}
const AT = '2026-01-05T12:00:00Z';
/** Community about the present, Pro about the past. */
const BY_ARGUMENT: [string, Record<string, unknown>][] = [
  ...['get_connectivity_matrix', 'list_peers', 'list_policies', 'list_networks'].flatMap(
    (name): [string, Record<string, unknown>][] => [
      [name, { at: AT }],
      [name, { snapshot_id: 'snap_x' }],
    ],
  ),
  ['explain_denial', { ...pair, at: AT }],
  ['explain_denial', { ...pair, snapshot_id: 'snap_x' }],
];
const PRO: [string, Record<string, unknown>][] = [
  ...BY_ARGUMENT,
  ['list_snapshots', {}],
  ['get_snapshot', { snapshot_id: 'snap_x' }],
  ['take_snapshot', {}],
  ['diff_snapshots', { from: 'snap_x', to: 'snap_y' }],
  ['check_connectivity_at', { ...pair, at: AT }],
];
const COMMUNITY: [string, Record<string, unknown>][] = [
  ['check_connectivity', pair],
  ['explain_denial', pair],
  ['get_connectivity_matrix', {}],
  ['list_peers', {}],
  ['list_policies', {}],
  ['list_networks', {}],
  ['list_audit', {}],
];

test.each(PRO)('%s with %j is Pro', async (name, input) => {
  await using kit = await buildHistoryKit({ edition: 'community' });
  await expect(kit.ask(name, input)).rejects.toMatchObject({ code: 'edition_required' });
});

test.each(COMMUNITY)('%s with %j is Community', async (name, input) => {
  await using kit = await scene({ edition: 'community' });
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
    ['get_snapshot', { snapshot_id: id }],
    ['diff_snapshots', { from: id, to: id }],
    ['check_connectivity_at', { ...pair, snapshot_id: id }],
    ...BY_ARGUMENT.flatMap(([name, { at, ...input }]) =>
      at === undefined ? [[name, { ...input, snapshot_id: id }] as const] : [],
    ),
  ] as const) {
    await expect(kit.call(name, input, elsewhere)).rejects.toMatchObject({ code: 'not_found' });
  }
});

test.each(BY_ARGUMENT)('%s with %j needs the right to snapshots beside that to the network', async (name, input) => {
  await using kit = await scene();
  const { id } = await kit.ask('take_snapshot');
  const asked = 'at' in input ? input : { ...input, snapshot_id: id };
  const narrow = { as: agent(['network:read'], kit.workspace) };
  await expect(kit.call(name, asked, narrow)).rejects.toMatchObject({ code: 'forbidden' });
  const wide = { as: agent(['network:read', 'snapshots:read'], kit.workspace) };
  await expect(kit.call(name, asked, wide)).resolves.toBeDefined();
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
