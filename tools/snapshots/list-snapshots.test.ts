import { expect, test } from 'vitest';
import { draftOf } from '../../core/base/record.ts';
import { formatInstant } from '../../core/base/time.ts';
import { LONGEST_ONLINE_MS } from '../../core/model/heartbeat-times.ts';
import type { PolicySpec } from '../../core/model/policy.ts';
import { sweepWorkspace } from '../../core/peers/presence.ts';
import { buildHistoryKit } from '../../test/kits/plane/history-kit.ts';
import { policy } from '../../test/kits/records/records.ts';

const NOON = Date.UTC(2026, 0, 5, 12);
const DENY: PolicySpec = { action: 'DENY', peerSelector: {} };

async function triggersOf(kit: Awaited<ReturnType<typeof buildHistoryKit>>): Promise<string[]> {
  const { items } = await kit.ask('list_snapshots');
  return items.map(({ trigger_type: type }: { trigger_type: string }) => type).reverse();
}

test('each cause leaves a snapshot of its kind, newest first, with the instant of what it shows', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  await kit.pass(5_000);
  const { deviceToken } = await kit.join('web-1');
  await kit.pass(5_000);
  await kit.call('send_heartbeat', {}, { bearer: deviceToken });
  await kit.pass(5_000);
  const written = kit.clock.time;
  await kit.ask('create_policy', { name: 'base', spec: DENY });
  await kit.pass(5_000);
  await kit.ask('delete_peer', { id: 'web-1' });
  await kit.pass(5_000);
  await kit.ask('take_snapshot');
  expect(await triggersOf(kit)).toEqual(['peer_online', 'policy_change', 'peer_offline', 'manual']);
  const { items } = await kit.ask('list_snapshots', { trigger_type: 'policy_change' });
  expect(items[0]).toEqual({
    id: expect.stringMatching(/^snap_[a-z2-7]{26}$/),
    captured_at: formatInstant(written),
    revision: expect.any(Number),
    trigger_type: 'policy_change',
    triggered_by: 'user:admin',
    digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    size_bytes: expect.any(Number),
    history_bytes: expect.any(Number),
  });
});

test('of three devices that register, one that comes and goes leaves one snapshot each, and those never online none', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  const sweep = () => sweepWorkspace(kit.services, kit.workspace, NOON);
  const { deviceToken } = await kit.join('web-1');
  await kit.pass(5_000);
  await kit.join('web-2');
  await kit.join('web-3');
  await kit.pass(5_000);
  expect(await triggersOf(kit)).toEqual([]);
  await kit.call('send_heartbeat', {}, { bearer: deviceToken });
  await kit.pass(5_000);
  expect(await triggersOf(kit)).toEqual(['peer_online']);
  await kit.pass(LONGEST_ONLINE_MS);
  await sweep();
  await kit.pass(5_000);
  await kit.ask('delete_peer', { id: 'web-2' });
  await kit.pass(5_000);
  await kit.ask('delete_peer', { id: 'web-1' });
  await kit.pass(5_000);
  expect(await triggersOf(kit)).toEqual(['peer_online', 'peer_offline']);
});

test('a device that was online when it is deleted or revoked leaves a snapshot of its going, a new name none', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  for (const name of ['web-1', 'web-2']) {
    const { deviceToken } = await kit.join(name);
    await kit.call('send_heartbeat', {}, { bearer: deviceToken });
  }
  await kit.pass(5_000);
  await kit.ask('update_peer', { id: 'web-1', name: 'web-9' });
  await kit.pass(5_000);
  expect(await triggersOf(kit)).toEqual(['peer_online']);
  await kit.ask('delete_peer', { id: 'web-9' });
  await kit.pass(5_000);
  await kit.ask('revoke_peer', { id: 'web-2' });
  await kit.pass(5_000);
  expect(await triggersOf(kit)).toEqual(['peer_online', 'peer_offline', 'peer_offline']);
});

test('a state equal to the last one makes no new snapshot, except when a person asks', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  await kit.ask('create_policy', { name: 'base', spec: DENY });
  await kit.pass(5_000);
  const before = await triggersOf(kit);
  await kit.ask('create_policy', { name: 'short', spec: DENY });
  await kit.ask('delete_policy', { id: 'short' });
  await kit.pass(5_000);
  expect(await triggersOf(kit)).toEqual(before);
  await kit.ask('take_snapshot');
  await kit.ask('take_snapshot');
  expect(await triggersOf(kit)).toEqual([...before, 'manual', 'manual']);
});

test('neither a device that comes and goes at once nor a policy made and deleted after it makes a snapshot', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  const { deviceToken } = await kit.join('web-1');
  await kit.ask('take_snapshot');
  await kit.call('send_heartbeat', {}, { bearer: deviceToken });
  kit.clock.time += LONGEST_ONLINE_MS;
  await sweepWorkspace(kit.services, kit.workspace, NOON);
  await kit.pass(5_000);
  await kit.ask('create_policy', { name: 'short', spec: DENY });
  await kit.ask('delete_policy', { id: 'short' });
  await kit.pass(5_000);
  expect(await triggersOf(kit)).toEqual(['manual']);
});

test('a change that passed approval is named so', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  await kit.pass(5_000);
  const { store } = kit.services;
  const record = draftOf(policy('base', DENY));
  const approval = { workflowId: 'wf_1', reviewedBy: 'user:ada' };
  const context = { actor: 'user:bob', reason: 'planned', requestId: 'r_1', approval };
  await store.commit(kit.workspace, [{ op: 'create', record }], context);
  await kit.pass(5_000);
  expect((await triggersOf(kit)).at(-1)).toBe('workflow_executed');
});

test('pages join up and filters narrow them', async () => {
  await using kit = await buildHistoryKit({ now: NOON });
  const taken: string[] = [];
  for (let index = 0; index < 5; index += 1) {
    kit.clock.time += 1_000;
    taken.unshift((await kit.ask('take_snapshot')).id);
  }
  const ids = ({ items }: { items: { id: string }[] }) => items.map(({ id }) => id);
  const filter = { trigger_type: 'manual', limit: 2 };
  const first = await kit.ask('list_snapshots', filter);
  const second = await kit.ask('list_snapshots', { ...filter, cursor: first.next_cursor });
  const third = await kit.ask('list_snapshots', { ...filter, cursor: second.next_cursor });
  expect([...ids(first), ...ids(second), ...ids(third)]).toEqual(taken);
  expect(third).not.toHaveProperty('next_cursor');
  const range = { from: formatInstant(NOON + 2_000), to: formatInstant(NOON + 4_000) };
  expect(ids(await kit.ask('list_snapshots', range))).toEqual(taken.slice(1, 4));
});

test.each([
  ['a time that is none', { from: 'monday' }],
  ['an unknown cause', { trigger_type: 'whim' }],
  ['a limit beyond the page', { limit: 201 }],
])('a list with %s is refused', async (_what, query) => {
  await using kit = await buildHistoryKit();
  await expect(kit.ask('list_snapshots', query)).rejects.toMatchObject({ code: 'invalid_input' });
});
