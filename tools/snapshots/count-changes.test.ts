import { expect, test } from 'vitest';
import { buildHistoryKit } from '../../test/kits/plane/history-kit.ts';

test('registrations and policies that no workflow decided count as changes, snapshots and presence do not', async () => {
  await using kit = await buildHistoryKit({ now: Date.UTC(2026, 0, 4, 12) });
  await kit.join('before-1');
  kit.clock.time = Date.UTC(2026, 0, 5, 12);
  const tokens = 3;
  for (const name of ['web-1', 'web-2', 'db-1']) await kit.join(name);
  const spec = { action: 'DENY', peerSelector: {} };
  await kit.ask('create_policy', { name: 'base', spec });
  await kit.ask('update_policy', { id: 'base', spec: { ...spec, ingress: [] } });
  await kit.ask('take_snapshot');
  kit.clock.time = Date.UTC(2026, 0, 6, 9);
  const counted = await kit.ask('count_changes', { from: 'yesterday' });
  expect(counted).toEqual({
    from: '2026-01-05T00:00:00.000Z',
    to: '2026-01-06T09:00:00.000Z',
    count: 3 + tokens + 2,
    is_complete: true,
    kinds: { MeshPeer: 3, MeshPolicy: 2, Token: tokens },
  });
  expect(await kit.ask('count_changes', { from: 'today' })).toMatchObject({ count: 0, kinds: {} });
});
