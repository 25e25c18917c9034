import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';
import { seedPeers } from '../../test/kits/records/seed-peers.ts';

const SINCE = '2026-01-05T12:00:00Z';

test('each peer has its paths counted as its device reported them last, page by page', async () => {
  await using kit = await buildWorkspaceKit();
  await seedPeers(kit.services, kit.workspace, { 'web-1': {}, 'web-2': {}, 'db-1': {} });
  const { items: peers } = await kit.ask('list_peers');
  const uid = (name: string) => peers.find((peer: { name: string }) => peer.name === name).id;
  const report = (peer: string, transport: 'ice-ready' | 'lrp-ready' | 'failed' | 'probing') => ({
    ...{ peer: uid(peer), transport, reason: 'proven', since: SINCE },
    path: transport === 'ice-ready' ? ('direct' as const) : transport === 'lrp-ready' ? ('relayed' as const) : null,
  });
  kit.services.paths.report(kit.workspace, uid('web-1'), [report('web-2', 'ice-ready'), report('db-1', 'failed')]);
  kit.services.paths.report(kit.workspace, uid('web-2'), [report('db-1', 'lrp-ready'), report('web-1', 'probing')]);
  const first = await kit.ask('list_path_counts', { limit: 2 });
  expect(first.items).toMatchObject([
    { name: 'db-1', direct: 0, relayed: 0, failed: 0 },
    { name: 'web-1', direct: 1, relayed: 0, failed: 1 },
  ]);
  const second = await kit.ask('list_path_counts', { limit: 2, cursor: first.next_cursor });
  expect(second.items).toMatchObject([{ name: 'web-2', direct: 0, relayed: 1, failed: 0 }]);
  expect(second.next_cursor).toBeUndefined();
});

test('it needs network:read, and tells nothing of another workspace', async () => {
  await using kit = await buildWorkspaceKit();
  await seedPeers(kit.services, kit.workspace, { 'web-1': {} });
  expect(await refusalOf(kit.holding()('list_path_counts'))).toBe('forbidden network:read');
  expect((await kit.foreign('list_path_counts')).items).toEqual([]);
});
