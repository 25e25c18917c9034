import { expect, test } from 'vitest';
import { formatInstant, formatSecond } from '../core/base/time.ts';
import { buildHistoryKit } from '../test/kits/plane/history-kit.ts';

const NOON = Date.UTC(2026, 0, 5, 12);
const DENY = { action: 'DENY', peerSelector: {} };
const LISTS = ['list_peers', 'list_policies', 'list_networks'];

type Named = { readonly name: string };
const names = ({ items }: { readonly items: readonly Named[] }) => items.map(({ name }) => name);

test('peers, policies and networks are listed as they were at an instant or a snapshot, and now', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  const { deviceToken } = await kit.join('web-1', { role: 'web' });
  await kit.call('send_heartbeat', {}, { bearer: deviceToken });
  await kit.ask('create_policy', { name: 'first', spec: DENY });
  const { id } = await kit.ask('take_snapshot');
  const then = kit.clock.time;
  kit.clock.time += 60_000;
  await kit.ask('delete_peer', { id: 'web-1' });
  await kit.join('web-2');
  await kit.ask('delete_policy', { id: 'first' });
  await kit.ask('create_policy', { name: 'second', spec: DENY });
  await kit.ask('create_network', { name: 'lab', spec: { cidr: '10.97.0.0/24' } });

  for (const past of [{ at: formatInstant(then) }, { snapshot_id: id }, { snapshot_id: formatInstant(then) }]) {
    const peers = await kit.ask('list_peers', past);
    expect(peers.items).toMatchObject([{ name: 'web-1', labels: { role: 'web' }, status: { online: true } }]);
    const policies = await kit.ask('list_policies', past);
    expect(policies.items).toMatchObject([{ name: 'first', status: { matchedPeers: 1 } }]);
    expect(names(await kit.ask('list_networks', past))).toEqual(['default']);
  }
  expect(names(await kit.ask('list_peers'))).toEqual(['web-2']);
  expect(names(await kit.ask('list_policies'))).toEqual(['second']);
  expect(names(await kit.ask('list_networks'))).toEqual(['default', 'lab']);
});

test('a peer that has ended since is listed where it had not, and one that had ended then is not', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  await kit.join('web-1');
  kit.clock.time += 1_000;
  await kit.ask('delete_peer', { id: 'web-1' });
  expect(names(await kit.ask('list_peers', { at: formatInstant(NOON) }))).toEqual(['web-1']);
  expect(names(await kit.ask('list_peers', { at: formatInstant(kit.clock.time) }))).toEqual([]);
});

test.each(LISTS)(
  '%s refuses the future, what was before the workspace, what is no longer kept, and two moments',
  async (name) => {
    await using kit = await buildHistoryKit({ now: NOON });
    const { store } = kit.services;
    kit.clock.time += 60_000;
    await kit.ask('create_policy', { name: 'base', spec: DENY });
    await store.compact(kit.workspace, await store.revision(kit.workspace), []);
    const { id } = await kit.ask('take_snapshot');
    const at = (ms: number) => ({ at: formatInstant(ms) });
    for (const [query, code, words] of [
      [at(kit.clock.time + 1), 'invalid_input', 'future'],
      [at(NOON - 60_000), 'not_found', 'begins on Monday 2026-01-05 12:00 (UTC)'],
      [at(NOON + 1_000), 'expired', 'no longer kept'],
      [{ snapshot_id: 'snap_none' }, 'not_found', 'list_snapshots'],
      [{ ...at(kit.clock.time), snapshot_id: id }, 'invalid_input', 'not both'],
    ] as const) {
      const refusal = { code, message: expect.stringContaining(words) };
      await expect(kit.ask(name, query)).rejects.toMatchObject(refusal);
    }
  },
);

test('a denial of the past is explained as of then, and a moment that nothing is known of is refused', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  await kit.join('a');
  await kit.join('b');
  await kit.ask('create_policy', { name: 'base', spec: { ...DENY, ingress: [{}] } });
  const then = kit.clock.time;
  kit.clock.time += 1_000;
  await kit.ask('delete_policy', { id: 'base' });
  const pair = { src: 'a', dst: 'b' };
  expect(await kit.ask('explain_denial', pair)).toMatchObject({ denied: false });
  const past = await kit.ask('explain_denial', { ...pair, at: formatInstant(then) });
  expect(past).toMatchObject({
    denied: true,
    explanation: expect.stringContaining(`At ${formatSecond(then)}: a may not reach b. It is denied by policy base`),
  });
  const before = kit.ask('explain_denial', { ...pair, at: '2020-01-01T00:00:00Z' });
  await expect(before).rejects.toMatchObject({ code: 'not_found' });
});
