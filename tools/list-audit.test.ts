import { expect, test } from 'vitest';
import { formatInstant } from '../core/time.ts';
import { buildHistoryKit } from '../test/history-kit.ts';

const NOON = Date.UTC(2026, 0, 5, 12);
const DENY = { action: 'DENY', peerSelector: {} };

test('a change is listed with who, why and when, and whether anyone approved it', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  kit.clock.time = NOON + 1_000;
  await kit.ask('create_policy', { name: 'base', spec: DENY });
  const { items } = await kit.ask('list_audit', { limit: 1 });
  expect(items).toEqual([
    {
      seq: expect.any(Number),
      at: formatInstant(NOON + 1_000),
      type: 'commit',
      actor: 'user:admin',
      requestId: expect.stringMatching(/^r_/),
      revision: expect.any(Number),
      reason: 'created policy base',
      direct: true,
      changes: [{ type: 'created', kind: 'MeshPolicy', name: 'base', uid: expect.stringMatching(/^pol_/) }],
    },
  ]);
});

test('filters narrow the log and pages join up', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  for (let index = 0; index < 5; index += 1) {
    kit.clock.time = NOON + index * 1_000;
    await kit.ask('create_policy', { name: `base-${index}`, spec: DENY });
  }
  const names = ({ items }: { items: { changes: { name: string }[] }[] }) =>
    items.map(({ changes }) => changes[0]?.name);
  const all = ['base-4', 'base-3', 'base-2', 'base-1', 'base-0'];
  const query = { kind: 'MeshPolicy', limit: 3 };
  const first = await kit.ask('list_audit', query);
  const second = await kit.ask('list_audit', { ...query, cursor: first.next_cursor });
  expect([...names(first), ...names(second)]).toEqual(all);
  expect(second).not.toHaveProperty('next_cursor');
  expect(names(await kit.ask('list_audit', { name: 'base-2', kind: 'MeshPolicy' }))).toEqual(['base-2']);
  const range = { from: formatInstant(NOON + 1_000), to: formatInstant(NOON + 2_000), kind: 'MeshPolicy' };
  expect(names(await kit.ask('list_audit', range))).toEqual(['base-2', 'base-1']);
  expect(names(await kit.ask('list_audit', { actor: 'user:nobody' }))).toEqual([]);
});

test.each([
  ['an unknown kind', { kind: 'Pod' }],
  ['a time that is none', { from: 'monday' }],
  ['a cursor that is none', { cursor: 'abc' }],
])('a query with %s is refused', async (_what, query) => {
  await using kit = await buildHistoryKit();
  await expect(kit.ask('list_audit', query)).rejects.toMatchObject({ code: 'invalid_input' });
});
