import { expect, test } from 'vitest';
import { formatInstant } from '../../core/base/time.ts';
import { buildHistoryKit } from '../../test/kits/plane/history-kit.ts';
import { person } from '../../test/kits/plane/kit.ts';

async function withStory() {
  const kit = await buildHistoryKit();
  const began = kit.clock.time;
  const web = await kit.join('web-1', { role: 'web' });
  await kit.join('db-1', { role: 'db' });
  const isolate = { action: 'DENY', peerSelector: { matchLabels: { role: 'db' } } };
  kit.clock.time += 60_000;
  await kit.ask('create_policy', { name: 'isolate-db', spec: isolate });
  kit.clock.time += 60_000;
  const open = {
    action: 'ALLOW',
    peerSelector: { matchLabels: { role: 'db' } },
    ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports: [{ port: 5432 }] }],
    expiresAt: formatInstant(kit.clock.time + 60_000),
  };
  await kit.ask('create_policy', { name: 'web-to-db', spec: open });
  kit.clock.time += 120_000;
  return { kit, web, at: (seconds: number) => formatInstant(began + seconds * 1_000) };
}

test('a connection is told as intervals that cover the range, each with what began it, an expiry too', async () => {
  const { kit, at } = await withStory();
  await using _ = kit;
  const asked = { src: 'web-1', dst: 'db-1', port: 5432, from: at(1), to: at(200) };
  const { intervals, count, ...rest } = await kit.ask('get_connectivity_history', asked);
  expect(rest).toEqual({
    src: 'web-1',
    dst: 'db-1',
    range: { from: at(1), to: at(200), known_since: at(0), gap: null },
  });
  expect(count).toBe(4);
  const shown = intervals.map(({ from, to, verdict, causes, change }: Record<string, never>) => {
    const { actor, resources } = (change ?? {}) as { actor?: string; resources?: string[] };
    return [from, to, verdict, causes, actor, resources];
  });
  expect(shown).toEqual([
    [at(1), at(60), 'reachable', [], undefined, undefined],
    [
      at(60),
      at(120),
      'unreachable',
      [{ cause: 'policy', kind: 'MeshPolicy', name: 'isolate-db' }],
      'user:admin',
      ['created MeshPolicy/isolate-db'],
    ],
    [
      at(120),
      at(180),
      'reachable',
      [{ cause: 'policy', kind: 'MeshPolicy', name: 'web-to-db' }],
      'user:admin',
      ['created MeshPolicy/web-to-db'],
    ],
    [
      at(180),
      at(200),
      'unreachable',
      [{ cause: 'expiry', kind: 'MeshPolicy', name: 'web-to-db' }],
      undefined,
      undefined,
    ],
  ]);
  const asTool = await kit.ask('check_connectivity_at', asked);
  expect(asTool.intervals).toEqual(intervals);
});

test('pages of a history go on in the range of the first page', async () => {
  const { kit, at } = await withStory();
  await using _ = kit;
  const asked = { src: 'web-1', dst: 'db-1', from: at(1), limit: 2 };
  const first = await kit.ask('get_connectivity_history', asked);
  kit.clock.time += 5_000;
  const second = await kit.ask('get_connectivity_history', { ...asked, cursor: first.next_cursor });
  expect([first.intervals.length, second.intervals.length, second.next_cursor]).toEqual([2, 2, undefined]);
  expect([second.range.to, second.intervals[0].from]).toEqual([first.range.to, first.intervals[1].to]);
});

test('a peer that was deleted or renamed is found by the name that it had', async () => {
  const { kit, web, at } = await withStory();
  await using _ = kit;
  await kit.call('rename_own_device', { name: 'front-1' }, { bearer: web.deviceToken });
  const asked = { src: 'web-1', dst: 'db-1', from: at(1), to: at(200) };
  const before = await kit.ask('get_connectivity_history', asked);
  expect(before.src).toBe('web-1');
  const after = await kit.ask('get_connectivity_history', { ...asked, src: 'front-1', to: undefined });
  expect(after.intervals.map(({ verdict }: { verdict: string }) => verdict)).toEqual(
    before.intervals.map(({ verdict }: { verdict: string }) => verdict),
  );
  kit.clock.time += 1_000;
  await kit.ask('delete_peer', { id: 'db-1' });
  kit.clock.time += 1_000;
  const gone = await kit.ask('get_connectivity_history', { ...asked, src: 'front-1', to: undefined });
  expect(gone.intervals.at(-1)).toMatchObject({ verdict: 'unreachable', usable: false });
});

test('with one end the exposure of a peer is told: who could reach it, from outside too, when, on which ports and why', async () => {
  const { kit, at } = await withStory();
  await using _ = kit;
  const { intervals, count } = await kit.ask('get_connectivity_history', { dst: 'db-1', from: at(-10), to: at(200) });
  const policy = (cause: string, name: string) => [{ cause, kind: 'MeshPolicy', name }];
  const port = [{ protocol: 'TCP', from: 5432, to: 5432 }];
  const none = { verdict: 'unreachable', reach: [], outside: [] };
  const all = [{ addresses: ['outside'], allowed: 'ALL' }];
  const web = (allowed: unknown) => [{ peers: ['web-1'], peer_count: 1, allowed }];
  expect(count).toBe(intervals.length);
  const after = intervals.findIndex(({ reach }: { reach: unknown[] }) => reach.length > 0);
  expect(intervals.slice(after)).toMatchObject([
    { to: at(60), verdict: 'reachable', reach: web('ALL'), outside: all },
    { from: at(60), to: at(120), ...none, causes: policy('policy', 'isolate-db'), change: { actor: 'user:admin' } },
    {
      from: at(120),
      to: at(180),
      verdict: 'partial',
      reach: web(port),
      outside: [],
      causes: policy('policy', 'web-to-db'),
    },
    { from: at(180), to: at(200), ...none, causes: policy('expiry', 'web-to-db'), change: null },
  ]);
  expect(intervals[0]).toMatchObject({ from: at(-10), verdict: 'undetermined', causes: [] });
});

test('a range before the workspace says since when there is history', async () => {
  const { kit, at } = await withStory();
  await using _ = kit;
  const asked = { src: 'web-1', dst: 'db-1', from: at(-1_000), to: at(30) };
  const { intervals, range } = await kit.ask('get_connectivity_history', asked);
  expect([range.gap, range.known_since, intervals[0].verdict]).toEqual(['NO_SNAPSHOT', at(0), 'undetermined']);
  await expect(kit.ask('get_connectivity_history', { ...asked, to: at(-10) })).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('The history of this workspace begins on '),
  });
});

test.each([
  [{ from: 180, to: 10 }, '/to', /ends before it begins/],
  [{ from: 10_000 }, '/from', /lies in the future/],
  [{ from: -3_000_000_000 }, '/from', /before all history/],
  [{ from: 10, src: 'role=web' }, '/src', /one peer is needed/],
  [{ from: 10, cursor: 'x' }, '/cursor', /another question/],
] as const)('a bad range is refused with what to do: %j', async (asked, pointer, detail) => {
  const { from, to, ...more }: { from: number; to?: number } = asked;
  const { kit, at } = await withStory();
  await using _ = kit;
  const question = { src: 'web-1', dst: 'db-1', from: at(from), ...(to !== undefined && { to: at(to) }), ...more };
  await expect(kit.ask('get_connectivity_history', question)).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringMatching(detail),
    details: { errors: [{ pointer }] },
  });
});

test('an unknown peer is answered with the nearest names, and another workspace knows nothing', async () => {
  const { kit, at } = await withStory();
  await using _ = kit;
  const asked = { src: 'web-2', dst: 'db-1', from: at(1) };
  await expect(kit.ask('get_connectivity_history', asked)).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('web-1'),
  });
  const stranger = person('admin', await kit.addWorkspace());
  const foreign = kit.call('get_connectivity_history', asked, { as: stranger, workspace: kit.workspace });
  await expect(foreign).rejects.toMatchObject({ code: 'not_found' });
});
