import { afterAll, describe, expect, test } from 'vitest';
import { connectMcp, ERAS } from '../kits/http/agent-client.ts';
import { startHarness } from '../kits/http/harness.ts';
import { type Joined, webAndDatabase } from '../kits/http/network-setup.ts';
import { planIdOf } from '../kits/http/plan-id.ts';
import { buildSettableClock } from '../kits/plane/settable-clock.ts';
import { verifies } from '../verifies.ts';

const DAY_MS = 86_400_000;
const ONLINE_MS = 90_000;
/** The debounce is 1 s, at most 5 s. */
const CAPTURED = { timeout: 10_000, interval: 100 };

const clock = buildSettableClock();
const harness = await startHarness({ clock });
afterAll(() => harness[Symbol.asyncDispose]());

let count = 0;
async function setUp() {
  count += 1;
  const network = await webAndDatabase(harness, `snapshots-${count}`);
  const { token, workspace } = network;
  const base = `/api/v1/workspaces/${workspace}/snapshots`;
  const call = (method: string, route: string, body?: unknown) =>
    harness.api(method, route, { token, workspace, ...(body !== undefined && { body }) });
  return {
    ...network,
    call,
    take: async () => (await call('POST', base, {})).body,
    list: async (query = '') => (await call('GET', `${base}${query}`)).body.items as Row[],
    get: (id: string) => call('GET', `${base}/${id}`),
    diff: (from: string, to: string) => call('GET', `${base}/diff?from=${from}&to=${to}`),
    heartbeat: ({ deviceToken }: Joined) =>
      harness.api('POST', '/api/v1/devices/self/heartbeat', { token: deviceToken, body: {} }),
  };
}
type SetUp = Awaited<ReturnType<typeof setUp>>;

interface Row {
  readonly id: string;
  readonly trigger_type: string;
  readonly triggered_by: string;
  readonly size_bytes: number;
}

const POLICY = {
  name: 'web-to-db',
  spec: {
    action: 'ALLOW',
    peerSelector: { matchLabels: { role: 'db' } },
    ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports: [{ protocol: 'TCP', port: 5432 }] }],
  },
};

/** The one snapshot of a cause, as soon as it is stored. */
async function captured({ list }: SetUp, trigger: string): Promise<Row> {
  await expect.poll(async () => (await list(`?trigger_type=${trigger}`)).length, CAPTURED).toBe(1);
  const [row] = await list(`?trigger_type=${trigger}`);
  if (!row) throw new Error(`No snapshot ${trigger}.`);
  expect(row.size_bytes).toBeLessThan(10_000);
  return row;
}

describe('a snapshot is taken', () => {
  test('when it is asked for', async () => {
    verifies('trigger-manual', 'snapshot-list');
    const network = await setUp();
    const taken = await network.take();
    expect(taken).toMatchObject({ id: expect.stringMatching(/^snap_/), trigger_type: 'manual' });
    expect(await captured(network, 'manual')).toMatchObject({ id: taken.id, triggered_by: 'user:admin' });
  });

  test('after each policy change', async () => {
    verifies('trigger-policy-change', 'trigger-policy-deleted');
    const network = await setUp();
    expect((await network.call('POST', '/api/v1/policies', POLICY)).status).toBe(201);
    const { id } = await captured(network, 'policy_change');
    expect((await network.get(id)).body.policies).toMatchObject([{ metadata: { name: 'web-to-db' } }]);
    expect((await network.call('DELETE', '/api/v1/policies/web-to-db')).status).toBeLessThan(300);
    await expect.poll(async () => (await network.list('?trigger_type=policy_change')).length, CAPTURED).toBe(2);
  });

  test('when a peer comes online and when it has been silent for 90 seconds', async () => {
    verifies('trigger-peer-online', 'trigger-peer-offline');
    const network = await setUp();
    const { peers, heartbeat } = network;
    await network.call('DELETE', '/api/v1/peers/laptop');
    await network.call('POST', '/api/v1/policies', POLICY);
    await captured(network, 'policy_change');
    expect(await network.list()).toHaveLength(1);
    expect((await heartbeat(peers['web-1'])).status).toBe(200);
    const online = await captured(network, 'peer_online');
    expect((await network.get(online.id)).body.presence).toMatchObject({ 'web-1': 'online' });

    clock.pass(ONLINE_MS);
    await heartbeat(peers['web-2']);
    const offline = await captured(network, 'peer_offline');
    expect((await network.get(offline.id)).body.presence).toMatchObject({ 'web-1': 'offline', 'web-2': 'online' });
  });

  test('when a workflow was executed', async () => {
    verifies('trigger-workflow-executed');
    const network = await setUp();
    const intent = 'let the web servers reach the database on port 5432 and nobody else';
    const { body: plan } = await network.call('POST', '/api/v1/ai/intent/plan', { intent });
    const request = { plan_id: planIdOf(plan), approved_by: 'admin' };
    const { body: applied } = await network.call('POST', '/api/v1/ai/intent/apply', request);
    await network.call('POST', `/api/v1/workflows/${applied.workflow_id}/approve`, {});
    const row = await captured(network, 'workflow_executed');
    expect((await network.get(row.id)).body.policies).toHaveLength(1);
    expect(await network.list('?trigger_type=policy_change')).toEqual([]);
  });

  test('daily at 02:00', async () => {
    verifies('trigger-scheduled');
    const network = await setUp();
    expect(await network.list('?trigger_type=scheduled')).toEqual([]);
    clock.pass(DAY_MS);
    // A write to the workspace is what tells the job of the new time without a minute's wait.
    const login = await harness.login();
    const route = `/api/v1/workspaces/${network.workspace}`;
    await harness.api('PATCH', route, { token: login, body: { displayName: 'A day later' } });
    const list = () =>
      harness.api('GET', `${route}/snapshots?trigger_type=scheduled`, { token: login, workspace: network.workspace });
    await expect.poll(async () => (await list()).body.items.length, CAPTURED).toBe(1);
    expect((await list()).body.items).toMatchObject([{ triggered_by: 'system:schedule' }]);
  });
});

test('a snapshot has the six fields of the contract, as semantic JSON', async () => {
  verifies('snapshot-fields', 'snapshot-semantic', 'snapshot-get', 'snapshot-size');
  const { take, get, call } = await setUp();
  await call('POST', '/api/v1/policies', POLICY);
  const { id } = await take();
  const { status, body } = await get(id);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    trigger_type: 'manual',
    captured_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    presence: { laptop: 'offline' },
    networks: [{ kind: 'MeshNetwork' }],
    policies: [{ apiVersion: 'mesh.internal/v1alpha1', kind: 'MeshPolicy', spec: { action: 'ALLOW' } }],
  });
  expect(body.peers.map(({ metadata }: { metadata: { name: string } }) => metadata.name).sort()).toEqual([
    'db-1',
    'laptop',
    'web-1',
    'web-2',
  ]);
  expect(JSON.stringify(body)).not.toMatch(/managedFields|resourceVersion|"generation"/);
});

test('a snapshot, a difference and the lists take an instant where they take a snapshot', async () => {
  verifies('snapshot-get', 'snapshot-diff');
  const { take, get, diff, call } = await setUp();
  const before = await take();
  clock.pass(1);
  await call('POST', '/api/v1/policies', POLICY);
  const after = await take();
  const names = (answer: { body: { items: { name: string }[] } }) => answer.body.items.map(({ name }) => name);
  for (const moment of [before.id, before.captured_at]) {
    const { status, body } = await get(moment);
    expect([status, body.captured_at, body.policies, body.peers.length]).toEqual([200, before.captured_at, [], 4]);
    expect((await diff(moment, after.id)).body.added).toEqual([{ kind: 'MeshPolicy', name: 'web-to-db' }]);
    expect(names(await call('GET', `/api/v1/policies?snapshot_id=${moment}`))).toEqual([]);
    expect(names(await call('GET', `/api/v1/peers?snapshot_id=${moment}`))).toHaveLength(4);
  }
  expect(names(await call('GET', '/api/v1/policies'))).toEqual(['web-to-db']);
  expect((await get('2999-01-01T00:00:00Z')).body).toMatchObject({ status: 400, code: 'invalid_input' });
  expect((await get('2020-01-01T00:00:00Z')).body).toMatchObject({ status: 404, code: 'not_found' });
});

test('the difference of two snapshots names the records, the connections and who changed them', async () => {
  verifies('snapshot-diff');
  const { take, diff, call } = await setUp();
  const before = await take();
  await call('POST', '/api/v1/policies', POLICY);
  const after = await take();
  const { status, body } = await diff(before.id, after.id);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    added: [{ kind: 'MeshPolicy', name: 'web-to-db' }],
    removed: [],
    commits: [{ actor: 'user:admin', reviewed_by: null, resources: ['created MeshPolicy/web-to-db'] }],
  });
  const closed = body.connectivity.find(
    ({ src, dst }: { src: string; dst: string }) => src === 'laptop' && dst === 'db-1',
  );
  expect(closed).toMatchObject({ type: 'removed', old: 'ALL', new: [] });
  expect((await diff(after.id, before.id)).body).toMatchObject({ removed: [{ name: 'web-to-db' }], added: [] });
});

test('a snapshot of another workspace is not there', async () => {
  const mine = await setUp();
  const { id } = await (await setUp()).take();
  expect((await mine.get(id)).body).toMatchObject({ status: 404, code: 'not_found' });
  expect((await mine.diff(id, id)).status).toBe(404);
});

test.each(ERAS)(
  'an MCP client (%j) takes, lists, reads and compares snapshots and asks about the past',
  async (era) => {
    verifies('mcp-get-snapshot', 'mcp-list-snapshots', 'mcp-diff-snapshots', 'mcp-check-connectivity-at');
    const network = await setUp();
    await using agent = await connectMcp(harness.url, network.token, era, network.workspace);
    const before = (await agent.use('take_snapshot')) as { id: string; captured_at: string };
    clock.pass(1);
    await network.call('POST', '/api/v1/policies', POLICY);
    const after = (await agent.use('take_snapshot')) as { id: string };

    const listed = (await agent.use('list_snapshots', { trigger_type: 'manual' })) as { items: Row[] };
    expect(listed.items.map(({ id }) => id)).toEqual([after.id, before.id]);
    expect(await agent.use('list_snapshots', { to: '2020-01-01T00:00:00Z' })).toMatchObject({ items: [] });
    expect(await agent.use('get_snapshot', { snapshot_id: before.id })).toMatchObject({ id: before.id, policies: [] });
    expect(await agent.use('get_snapshot', { at: before.captured_at })).toMatchObject({ policies: [] });
    expect(await agent.use('list_policies', { at: before.captured_at })).toMatchObject({ items: [] });
    expect(await agent.use('diff_snapshots', { from: before.id, to: after.id })).toMatchObject({
      added: [{ kind: 'MeshPolicy', name: 'web-to-db' }],
    });
    const pair = { src: 'laptop', dst: 'db-1', port: 5432 };
    expect(await agent.use('check_connectivity_at', { ...pair, snapshot_id: before.id })).toMatchObject({
      verdict: 'reachable',
      snapshot_id: before.id,
      now: { verdict: 'unreachable', changed_by: { resources: ['created MeshPolicy/web-to-db'] } },
    });
    expect(await agent.use('check_connectivity_at', { ...pair, at: '2020-01-01T00:00:00Z' })).toMatchObject({
      verdict: 'undetermined',
    });
    expect(await agent.use('get_snapshot', { snapshot_id: 'snap_none' })).toMatchObject({
      status: 404,
      code: 'not_found',
    });
  },
);
