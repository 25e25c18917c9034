import { expect, test } from 'vitest';
import { buildHistoryKit } from '../../test/kits/plane/history-kit.ts';

const NOON = Date.UTC(2026, 0, 5, 12);
const ALLOW = {
  action: 'ALLOW',
  peerSelector: { matchLabels: { role: 'db' } },
  ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports: [{ protocol: 'TCP', port: 5432 }] }],
};

test('a difference names resources with paths, pairs with their cause, and commits with who wrote them', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  await kit.join('web-1', { role: 'web' });
  await kit.join('db-1', { role: 'db' });
  await kit.ask('create_policy', {
    name: 'old',
    spec: { action: 'DENY', peerSelector: { matchLabels: { role: 'x' } } },
  });
  const before = await kit.ask('take_snapshot');
  kit.clock.time += 1_000;
  await kit.ask('create_policy', { name: 'web-to-db', spec: ALLOW });
  await kit.ask('delete_policy', { id: 'old' });
  await kit.ask('update_network', { id: 'default', spec: { cidr: '10.96.0.0/17', mtu: 1300 } });
  const after = await kit.ask('take_snapshot');

  const diff = await kit.ask('diff_snapshots', { from: before.id, to: after.id });
  expect(diff.added).toEqual([{ kind: 'MeshPolicy', name: 'web-to-db' }]);
  expect(diff.removed).toEqual([{ kind: 'MeshPolicy', name: 'old' }]);
  expect(diff.changed).toEqual([
    { kind: 'MeshNetwork', name: 'default', changes: [{ path: '/spec/mtu', old: 1280, new: 1300 }] },
  ]);
  const ofPeers = ({ src, dst }: { src: string; dst: string }) => src !== 'outside' && dst !== 'outside';
  expect(diff.connectivity).toContainEqual({
    type: 'removed',
    src: 'outside',
    dst: 'db-1',
    old: 'ALL',
    new: [],
    causes: ['policies/web-to-db'],
  });
  expect(diff.connectivity.filter(ofPeers)).toEqual([
    {
      type: 'changed',
      src: 'web-1',
      dst: 'db-1',
      old: 'ALL',
      new: [{ protocol: 'TCP', from: 5432, to: 5432 }],
      causes: ['policies/web-to-db'],
    },
  ]);
  expect(diff.commits).toMatchObject([
    { actor: 'user:admin', reviewed_by: null, resources: ['created MeshPolicy/web-to-db'] },
    { resources: ['deleted MeshPolicy/old'] },
    { resources: ['updated MeshNetwork/default'] },
  ]);
  expect(diff.presence).toEqual([]);

  const back = await kit.ask('diff_snapshots', { from: after.id, to: before.id });
  expect(back.added).toEqual(diff.removed);
  expect(back.removed).toEqual(diff.added);
  const same = await kit.ask('diff_snapshots', { from: after.id, to: after.id });
  expect(same).toMatchObject({ added: [], removed: [], changed: [], connectivity: [], commits: [] });
});

test('an unknown snapshot and a missing one are refused', async () => {
  await using kit = await buildHistoryKit();
  const { id } = await kit.ask('take_snapshot');
  await expect(kit.ask('diff_snapshots', { from: id, to: 'snap_none' })).rejects.toMatchObject({ code: 'not_found' });
  await expect(kit.ask('diff_snapshots', { from: id })).rejects.toMatchObject({ code: 'invalid_input' });
});
