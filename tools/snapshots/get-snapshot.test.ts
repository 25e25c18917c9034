import { expect, test } from 'vitest';
import { formatInstant } from '../../core/base/time.ts';
import { buildHistoryKit } from '../../test/kits/plane/history-kit.ts';
import { seedPeers } from '../../test/kits/records/seed-peers.ts';
import { verifies } from '../../test/verifies.ts';
import { SNAPSHOT_PAGE } from './get-snapshot.ts';

const NOON = Date.UTC(2026, 0, 5, 12);
const DENY = { action: 'DENY', peerSelector: {} };

type Kit = Awaited<ReturnType<typeof buildHistoryKit>>;
interface Resource {
  readonly metadata: { readonly name: string };
}

test("a snapshot shows the contract's fields as they were, without managed metadata", async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  const { id: peer } = await kit.join('web-1', { role: 'web' });
  await kit.ask('create_policy', { name: 'base', spec: DENY });
  const { id } = await kit.ask('take_snapshot');
  await kit.ask('delete_policy', { id: 'base' });
  const snapshot = await kit.ask('get_snapshot', { snapshot_id: id });
  expect(snapshot).toMatchObject({ id, trigger_type: 'manual', captured_at: formatInstant(NOON) });
  expect(snapshot.presence).toEqual({ 'web-1': 'offline' });
  expect(snapshot.policies).toEqual([
    {
      apiVersion: 'mesh.internal/v1alpha1',
      kind: 'MeshPolicy',
      metadata: { name: 'base', uid: expect.any(String) },
      spec: DENY,
    },
  ]);
  expect(snapshot.peers[0].metadata).toEqual({ name: 'web-1', uid: peer, labels: { role: 'web' } });
  expect(snapshot.peers[0].status).toEqual({ phase: 'ready', address: '10.96.0.1' });
  expect(snapshot.networks).toHaveLength(1);
  await expect(kit.ask('get_snapshot', { snapshot_id: 'snap_none' })).rejects.toMatchObject({ code: 'not_found' });
});

/** Every page of a tool's answers, each of which is one message to an agent. */
async function pagesOf(kit: Kit, input: Record<string, unknown>) {
  const pages = [await kit.call('get_snapshot', input, { as: kit.admin, face: 'mcp' })];
  for (let cursor = pages[0].next_cursor; cursor !== undefined; cursor = pages.at(-1).next_cursor) {
    pages.push(await kit.call('get_snapshot', { ...input, cursor }, { as: kit.admin, face: 'mcp' }));
  }
  return pages;
}

test('over MCP a large snapshot comes in pages with counts and a link, which together are the whole', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  const names = Array.from({ length: 90 }, (_, index) => `web-${index}`);
  await seedPeers(kit.services, kit.workspace, Object.fromEntries(names.map((name) => [name, { role: 'web' }])));
  await kit.ask('create_policy', { name: 'base', spec: DENY });
  const { id } = await kit.ask('take_snapshot');
  const pages = await pagesOf(kit, { snapshot_id: id });
  expect(pages.length).toBeGreaterThan(2);
  expect(pages[0]).toMatchObject({
    id,
    counts: { peers: 90, policies: 1, networks: 1, online: 0 },
    resource: `mesh://workspaces/${kit.workspace}/snapshots/${id}`,
  });
  for (const page of pages) expect(JSON.stringify(page).length).toBeLessThan(SNAPSHOT_PAGE.mcp + 1_500);
  const shown = (field: string) => pages.flatMap((page) => page[field] ?? []);
  expect(shown('peers').map(({ metadata }: Resource) => metadata.name)).toEqual(names.toSorted());
  expect([shown('policies').length, shown('networks').length]).toEqual([1, 1]);
  expect(Object.keys(Object.assign({}, ...shown('presence'))).toSorted()).toEqual(names.toSorted());
});

test('an instant shows the state that was in force, also between two snapshots', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  await kit.ask('create_policy', { name: 'first', spec: DENY });
  const between = kit.clock.time + 1_000;
  kit.clock.time += 2_000;
  await kit.ask('create_policy', { name: 'second', spec: DENY });
  const snapshot = await kit.ask('get_snapshot', { snapshot_id: formatInstant(between) });
  expect(snapshot).toMatchObject({ captured_at: formatInstant(between), revision: expect.any(Number) });
  expect(snapshot).not.toHaveProperty('id');
  expect(snapshot.policies.map(({ metadata }: Resource) => metadata.name)).toEqual(['first']);
  const { digest } = await kit.ask('take_snapshot');
  expect(digest).not.toBe(snapshot.digest);
});

test.each([
  ['a future instant', '2026-01-05T12:00:01Z', 'invalid_input', 'future'],
  ['a day that is none', '2026-02-30', 'invalid_input', 'Write an instant as'],
  ['an id that nothing has', 'snap_none', 'not_found', 'list_snapshots'],
])('%s is refused in words that say what to do', async (_what, id, code, words) => {
  await using kit = await buildHistoryKit({ now: NOON });
  const refusal = { code, message: expect.stringContaining(words) };
  await expect(kit.ask('get_snapshot', { snapshot_id: id })).rejects.toMatchObject(refusal);
  await expect(kit.ask('diff_snapshots', { from: id, to: id })).rejects.toMatchObject(refusal);
});

test.each(['2020-01-01T00:00:00Z', '2020-01-01', 'yesterday'])(
  'a snapshot of %s, before history, is refused by the clocks of the workspace, and a difference begins where history does',
  async (moment) => {
    await using kit = await buildHistoryKit({ now: NOON });
    await kit.ask('update_workspace', { settings: { timeZone: 'Europe/Berlin' } });
    const begins =
      'The history of this workspace begins on Monday 2026-01-05 13:00 (Europe/Berlin); nothing was recorded before.';
    await expect(kit.ask('get_snapshot', { snapshot_id: moment })).rejects.toMatchObject({
      code: 'not_found',
      message: `${begins} Ask about a later moment.`,
      details: { known_since: formatInstant(NOON) },
    });
    kit.clock.time += 1_000;
    await kit.join('web-1');
    kit.clock.time += 1_000;
    const since = await kit.ask('diff_snapshots', { from: moment, to: formatInstant(kit.clock.time) });
    expect(since).toMatchObject({
      note: begins,
      from: { captured_at: formatInstant(NOON) },
      added: [{ kind: 'MeshPeer', name: 'web-1' }],
    });
    expect(await kit.ask('diff_snapshots', { from: moment, to: moment })).toMatchObject({ note: begins, added: [] });
  },
);

test("the contract's spelling of the id is taken too, but not both", async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  const { id } = await kit.ask('take_snapshot');
  expect(await kit.ask('get_snapshot', { snapshotId: id })).toMatchObject({ id });
  kit.clock.time += 1_000;
  expect(await kit.ask('get_snapshot', { snapshotId: '1s' })).toMatchObject({ captured_at: formatInstant(NOON) });
  const both = kit.ask('get_snapshot', { snapshotId: id, snapshot_id: id });
  await expect(both).rejects.toMatchObject({ code: 'invalid_input' });
});

test('a cursor of another snapshot is refused', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  const { id } = await kit.ask('take_snapshot');
  for (const cursor of ['web-1', '99.peers.web-1', '1.secrets.a']) {
    await expect(kit.ask('get_snapshot', { snapshot_id: id, cursor })).rejects.toMatchObject({ code: 'invalid_input' });
  }
});

test('a snapshot of 2,000 peers adds under 10 KB, and its own size is told apart from that of the history', async () => {
  verifies('snapshot-size');
  await using kit = await buildHistoryKit({ now: NOON });
  const names = Array.from({ length: 2_000 }, (_, index) => [`web-${index}`, { role: 'web' }] as const);
  await seedPeers(kit.services, kit.workspace, Object.fromEntries(names));
  const { store } = kit.services;
  const before = await store.revision(kit.workspace);
  const taken = await kit.ask('take_snapshot');
  const added = await store.sizeBetween(kit.workspace, before, await store.revision(kit.workspace));
  expect(added).toBeLessThan(10_000);
  expect(taken.size_bytes).toBeLessThan(10_000);
  expect(taken.history_bytes).toBeGreaterThan(100_000);
  const { items } = await kit.ask('list_snapshots');
  expect(items[0]).toEqual(taken);
});
