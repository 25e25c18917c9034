import { expect, test } from 'vitest';
import { decodeGraphMessage } from '../../client/graph-shape.ts';
import { busNode } from '../kits/http/bus-node.ts';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { ALL_ON, join, startWiredPlane } from '../kits/http/wired-plane.ts';
import { enrol } from '../kits/plane/devices.ts';
import { CROWD, seedCrowd } from '../kits/records/seed-peers.ts';
import { verifies } from '../verifies.ts';

test('the end of a sub-agent reaches its subscribed neighbours as a delta, not before its time and without being asked for', async () => {
  verifies('delegate-ttl', 'ports-bus');
  await using plane = await startWiredPlane();
  const { harness, admin, busPort } = plane;
  const { api } = harness;
  const idA = await plane.join('a');
  await using a = await busNode(busPort, idA);
  await a.heartbeat();
  await a.fetch();

  const reach = [{ to: [{ peerSelector: { matchLabels: { name: 'a' } } }], ports: [{ protocol: 'TCP', port: 22 }] }];
  const agent = await api('POST', '/api/v1/agents', { ...admin, body: { name: 'root', reach } });
  const delegated = await api('POST', `/api/v1/agents/${agent.body.id}/delegate`, {
    token: agent.body.token,
    // It is to join and to be seen before that, on a machine that is busy too.
    body: { subAgentName: 'brief', ttl: '10s', policyPreset: 'sandboxed', egress: reach },
  });
  const enrolled = await enrol(harness, delegated.body.enrollmentToken, 'brief', { platform: 'agent' });
  await a.until(() => a.graph?.peers.some(({ id }) => id === enrolled.id) === true);
  expect(a.graph?.peers.find(({ id }) => id === enrolled.id)?.expiresAt).toBe(delegated.body.expiresAt);

  const seen = a.received.length;
  await a.until(() => a.graph?.peers.length === 0);
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(delegated.body.expiresAt));
  const last = a.received.at(-1);
  expect([last?.kind, last?.kind === 'delta' && last.peers.removed, a.gaps, a.received.length > seen]).toEqual([
    'delta',
    [enrolled.id],
    0,
    true,
  ]);
});

test('a node whose graph is larger than a message of the bus is told to fetch it over the API, and deltas go on from there', async () => {
  const first = await startHarness();
  const admin = await first.workspace('prod', 10_000);
  const idA = await join(first, admin, 'a');
  await seedCrowd(first.plane.services, admin.workspace);
  await first.stop();
  await using harness = await startHarness({ directory: first.directory, env: ALL_ON });
  await using a = await busNode(harness.plane.listeners.bus?.port ?? 0, idA);
  expect(await a.heartbeat()).toMatchObject({ version: null });
  await snapshotOf(harness, admin.workspace, 'a');
  a.ask();
  await a.until(() => a.notices.length > 0);

  const { text, body } = await harness.api('GET', '/api/v1/devices/self/graph', { token: idA.deviceToken });
  expect([text.length > 1_048_576, body.peers.length]).toEqual([true, CROWD]);
  expect(a.notices).toEqual([{ kind: 'fetch', epoch: body.epoch, version: body.version, reason: 'requested' }]);
  expect(decodeGraphMessage(Buffer.from(JSON.stringify(a.notices[0])))).toEqual(a.notices[0]);
  expect(await a.heartbeat()).toMatchObject({ version: body.version });
  expect((await harness.api('GET', '/metrics')).text).toMatch(/^mesh_graph_pushes_too_large_total 1$/m);

  a.goBackTo(body);
  const gone = await harness.api('DELETE', '/api/v1/peers/crowd-7', admin);
  expect(gone.status).toBeLessThan(300);
  await a.until(() => a.received.length > 0);
  expect(a.received.map(({ kind }) => kind)).toEqual(['delta']);
  expect([a.graph?.peers.length, a.gaps, a.notices.length]).toEqual([CROWD - 1, 0, 1]);
});

/** Waits for the snapshot that follows the coming of a node, and is a revision: what is told and asked from then on is of one. */
async function snapshotOf({ plane }: Harness, workspace: string, name: string): Promise<void> {
  const { store } = plane.services;
  const came = await store.get(workspace, { kind: 'Presence', name });
  const newest = async () => (await store.list(workspace, 'Snapshot', { limit: 1 })).items[0]?.spec.revision;
  await expect.poll(newest).toBeGreaterThanOrEqual(came?.revision ?? Number.POSITIVE_INFINITY);
}
