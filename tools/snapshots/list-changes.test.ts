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

test('the changes of a peer are its own and those that opened or closed a connection of it, with the effect on it alone', async () => {
  await using kit = await changedNetwork();
  const toDb = { action: 'ALLOW', peerSelector: { matchLabels: { role: 'db' } } };
  const from = [{ peerSelector: { matchLabels: { role: 'web' } } }];
  await kit.ask('create_policy', { name: 'shut-db-again', spec: { ...toDb, ingress: [] } });
  await kit.pass(1_000);
  const ingress = [{ from, ports: [{ port: 5432 }] }];
  await kit.ask('create_policy', { name: 'web-to-db', spec: { ...toDb, ingress } });
  await kit.pass(1_000);
  await kit.join('db-2', { role: 'db' });
  await kit.pass(1_000);
  const of = async (peer: string, more = {}) => {
    const answer = await kit.ask('list_changes', { from: FROM, peer, ...more });
    const lines = answer.items.map(({ resources: [first], effect }: { resources: never[]; effect: never }) => {
      const { type, name } = first as unknown as { type: string; name: string };
      const { opened_pairs: opened, closed_pairs: closed } = effect as { opened_pairs: number; closed_pairs: number };
      return `${type} ${name}: +${opened} -${closed}`;
    });
    return { lines, total: answer.total, answer };
  };
  const own = await of('web-1');
  expect(own.lines).toEqual([
    'created db-2: +2 -0',
    'created web-to-db: +1 -0',
    'created shut-db-again: +0 -1',
    'ended shut-db: +1 -0',
    'created shut-db: +0 -1',
    'created db-1: +2 -0',
    'created web-2: +2 -0',
    'created web-1: +0 -0',
  ]);
  expect(own.answer.items[1].effect.opened).toEqual([{ from: 'web-1', to: 'db-1', ports: 'TCP 5432', pairs: 1 }]);
  expect((await of('db-2')).lines).toEqual(['created db-2: +4 -0']);
  expect((await of('web-9')).lines).toEqual(expect.arrayContaining(['created web-2: +2 -0', 'deleted web-2: +0 -0']));
  expect(await of('web-1', { limit: 1, cursor: '2' })).toMatchObject({ lines: ['created web-2: +2 -0'], total: 8 });
  expect(await refusalOf(kit.ask('list_changes', { from: FROM, peer: 'web-7' }))).toContain('not_found');
});

test('of a network that changed very often, the changes of a peer are looked for in the newest part of the range, and the note says so', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  await kit.join('web-1', { role: 'web' });
  const draft = (n: number) => ({ ...DENY, peerSelector: { matchLabels: { role: `r${n}` } } });
  for (let n = 0; n < 1_010; n += 1) {
    await kit.pass(1);
    await kit.ask(n === 0 ? 'create_policy' : 'update_policy', {
      ...(n === 0 ? { name: 'often' } : { id: 'often' }),
      spec: draft(n),
    });
  }
  await kit.ask('create_policy', { name: 'shut-web', spec: { ...DENY, peerSelector: {} } });
  await kit.pass(1);
  const { items, note } = await kit.ask('list_changes', { from: FROM, peer: 'web-1' });
  expect(items.map(({ resources: [{ name }] }: { resources: [{ name: string }] }) => name)).toEqual(['shut-web']);
  expect(note).toMatch(/only what changed since .* was looked at/);
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
