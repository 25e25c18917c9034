import { expect, test } from 'vitest';
import { formatInstant } from '../../core/base/time.ts';
import { buildHistoryKit } from '../../test/kits/plane/history-kit.ts';

const NOON = Date.UTC(2026, 0, 5, 12);

test('the matrix lists who may reach whom, now and as it was', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  await kit.join('web-1', { role: 'web' });
  await kit.join('db-1', { role: 'db' });
  const { id } = await kit.ask('take_snapshot');
  kit.clock.time = NOON + 60_000;
  await kit.ask('create_policy', { name: 'base', spec: { action: 'DENY', peerSelector: {} } });

  const now = await kit.ask('get_connectivity_matrix');
  expect(now).toEqual({
    at: formatInstant(NOON + 60_000),
    revision: expect.any(Number),
    pairs: 0,
    groups: [],
    omitted_groups: 0,
  });
  const at = await kit.ask('get_connectivity_matrix', { at: formatInstant(NOON) });
  expect(at).toMatchObject({ at: formatInstant(NOON), pairs: 2, omitted_groups: 0 });
  expect(at.groups.every(({ allowed }: { allowed: unknown }) => allowed === 'ALL')).toBe(true);
  const bySnapshot = await kit.ask('get_connectivity_matrix', { snapshot_id: id });
  expect(bySnapshot.groups).toEqual(at.groups);
});

test.each([
  ['a time ahead of the clock', { at: '2027-01-01T00:00:00Z' }, 'invalid_input'],
  ['a time before history', { at: '2025-01-01T00:00:00Z' }, 'not_found'],
  ['an unknown snapshot', { snapshot_id: 'snap_none' }, 'not_found'],
])('a matrix of %s is refused', async (_what, query, code) => {
  await using kit = await buildHistoryKit({ now: NOON });
  await expect(kit.ask('get_connectivity_matrix', query)).rejects.toMatchObject({ code });
});
