import { expect, test } from 'vitest';
import { formatInstant } from '../../core/base/time.ts';
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

test.each(['count_changes', 'list_changes'])(
  '%s counts nothing before history, and says where a range is cut at its beginning and at now',
  async (name) => {
    await using kit = await buildHistoryKit({ now: Date.UTC(2026, 0, 5, 12) });
    const begins =
      'The history of this workspace begins on Monday 2026-01-05 12:00 (UTC); nothing was recorded before.';
    const countIn = async (range: Record<string, unknown>) => {
      const { note, ...answer } = await kit.ask(name, range);
      return { count: answer.count ?? answer.total, note };
    };
    expect(await countIn({ from: 'yesterday', to: 'yesterday' })).toEqual({ count: 0, note: begins });
    kit.clock.time += 1_000;
    await kit.join('web-1');
    kit.clock.time += 1_000;
    const ahead = formatInstant(kit.clock.time + 3_600_000);
    expect(await countIn({ from: 'yesterday', to: ahead })).toEqual({
      count: expect.toSatisfy((count) => count > 0),
      note: `${begins} Of the range: it ends now, as ${ahead} lies in the future.`,
    });
    expect((await countIn({ from: '1s' })).note).toBeUndefined();
  },
);
