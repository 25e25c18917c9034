import { expect, test } from 'vitest';
import { buildHistoryKit } from '../../test/kits/plane/history-kit.ts';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const NOON = Date.UTC(2026, 0, 5, 12);
const FROM = '2026-01-05T12:00:00Z';
const DENY = { action: 'DENY', peerSelector: { matchLabels: { role: 'db' } }, ingress: [{}] };
const HOUR_MS = 3_600_000;

/** Two web servers and a database, shut off by a policy that ends after an hour, and a web server renamed since. */
async function changedNetwork() {
  const kit = await buildHistoryKit({ now: NOON });
  for (const [name, role] of [
    ['web-1', 'web'],
    ['web-2', 'web'],
    ['db-1', 'db'],
  ] as const) {
    await kit.pass(1_000);
    await kit.join(name, { role });
  }
  await kit.pass(60_000);
  const expiresAt = new Date(kit.clock.time + HOUR_MS).toISOString();
  await kit.ask('create_policy', { name: 'shut-db', spec: { ...DENY, expiresAt } });
  await kit.pass(60_000);
  await kit.ask('update_peer', { id: 'web-2', name: 'web-9' });
  await kit.pass(2 * HOUR_MS);
  return kit;
}

test('each change is told with who did it and what it alone opened and closed, and so is what time ended', async () => {
  await using kit = await changedNetwork();
  const { items, total, instants } = await kit.ask('list_changes', { from: FROM, limit: 3 });
  expect(total).toBe(6);
  expect(instants).toHaveLength(6);
  const nothing = { opened_pairs: 0, closed_pairs: 0, opened: [], closed: [] };
  const toDatabase = { to: 'db-1', ports: 'everything' };
  const lines = [
    { ...toDatabase, from: 'every other peer (2)', pairs: 2 },
    { ...toDatabase, from: 'outside', pairs: 1 },
  ];
  expect(items).toMatchObject([
    {
      revision: null,
      actor: null,
      resources: [{ type: 'ended', kind: 'MeshPolicy', name: 'shut-db' }],
      effect: { opened_pairs: 2, closed_pairs: 0, opened: lines },
    },
    {
      actor: 'user:admin',
      resources: expect.arrayContaining([{ type: 'created', kind: 'MeshPeer', name: 'web-9' }]),
      effect: nothing,
    },
    {
      actor: 'user:admin',
      reason: expect.stringContaining('shut-db'),
      resources: [{ type: 'created', kind: 'MeshPolicy', name: 'shut-db' }],
      effect: { opened_pairs: 0, closed_pairs: 2, opened: [], closed: lines },
    },
  ]);
});

test('pages together have every change once, and a filter finds those of a record, a kind and an actor', async () => {
  await using kit = await changedNetwork();
  const all = await kit.ask('list_changes', { from: FROM });
  const paged = [];
  for (let cursor: string | undefined = String(all.total); cursor !== undefined; ) {
    const page = await kit.ask('list_changes', { from: FROM, limit: 2, cursor });
    paged.push(...page.items);
    cursor = page.next_cursor;
  }
  expect(paged).toEqual(all.items);
  const names = async (filter: Record<string, unknown>) => {
    const { items } = await kit.ask('list_changes', { from: FROM, ...filter });
    return items.map(({ resources }: { resources: { type: string }[] }) => resources[0]?.type);
  };
  expect(await names({ kind: 'MeshPolicy' })).toEqual(['ended', 'created']);
  expect(await names({ name: 'shut-db', actor: 'user:admin' })).toEqual(['created']);
  expect(await names({ name: 'shut-db', actor: 'admin' })).toEqual(['created']);
  expect(await names({ actor: 'user:nobody' })).toEqual([]);
});

test('a range that is reversed or to come, a foreign workspace and a missing scope are refused', async () => {
  await using kit = await buildWorkspaceKit({ now: NOON });
  expect(await refusalOf(kit.ask('list_changes', { from: '2027-01-01T00:00:00Z' }))).toBe('invalid_input /from');
  const reversed = { from: FROM, to: '2026-01-05T11:00:00Z' };
  expect(await refusalOf(kit.ask('list_changes', reversed))).toBe('invalid_input /to');
  expect(await refusalOf(kit.holding('network:read')('list_changes', { from: FROM }))).toBe('forbidden snapshots:read');
  expect(await refusalOf(kit.ask('list_changes', { from: FROM, cursor: 'x' }))).toBe('invalid_input /cursor');
  await kit.ask('create_policy', { name: 'own', spec: DENY });
  const { items } = await kit.foreign('list_changes', { from: FROM, name: 'own' });
  expect(items).toEqual([]);
});

test('the changes of yesterday are those of the day in the zone of the workspace, in the range that the answer prints', async () => {
  const start = Date.UTC(2026, 0, 4, 22, 30);
  await using kit = await buildHistoryKit({ now: start });
  await kit.ask('update_workspace', { settings: { timeZone: 'Europe/Zurich' } });
  // 23:30 and 00:30 in Zurich, on one day of UTC.
  await kit.join('before-1');
  kit.clock.time += 3_600_000;
  await kit.join('within-1');
  kit.clock.time = Date.UTC(2026, 0, 6, 10);
  const day = { from: '2026-01-04T23:00:00.000Z', to: '2026-01-05T23:00:00.000Z' };
  const changes = await kit.ask('list_changes', { from: 'yesterday', to: 'yesterday' });
  expect(changes).toMatchObject({ ...day, total: 1, items: [{ resources: [{ name: 'within-1' }] }] });
  const diff = await kit.ask('diff_snapshots', { from: 'yesterday', to: 'yesterday' });
  expect(diff).toMatchObject({ from: { captured_at: day.from }, to: { captured_at: day.to } });
  expect(diff.added).toEqual([{ kind: 'MeshPeer', name: 'within-1' }]);
});
