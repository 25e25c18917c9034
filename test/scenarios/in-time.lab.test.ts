import { expect, test } from 'vitest';
import { busNode } from '../kits/http/bus-node.ts';
import { startHarness } from '../kits/http/harness.ts';
import { peerNames, register } from '../kits/http/joining.ts';
import { relaySession } from '../kits/http/relay-socket.ts';
import { ALL_ON, relayCredential, startWiredPlane } from '../kits/http/wired-plane.ts';
import { startPart } from '../kits/process/part.ts';
import { seedCrowd } from '../kits/records/seed-peers.ts';
import { verifies } from '../verifies.ts';

/** The times that users are promised. They are taken where one file runs at a time; what happens is tested elsewhere. */
const REVOKED_MS = 2_000;
const ENDED_MS = 1_000;
const PUSHED_MS = 2_000;
const STOPPED_MS = 2_000;
const TOKEN = 'a shared relay token of a test';

test.each(['inside the control plane', 'of another process'])(
  'a revoked node is off a relay %s within two seconds',
  async (where) => {
    await using relay = await startPart('relay', { MESH_LRP_AUTH_TOKEN: TOKEN });
    const elsewhere = { MESH_RELAY_LISTEN: 'off', MESH_RELAY_URL: `127.0.0.1:${relay.port}` };
    const env = { MESH_LRP_AUTH_TOKEN: TOKEN, ...(where === 'of another process' && elsewhere) };
    await using plane = await startWiredPlane({ env });
    const { harness, admin } = plane;
    if (where === 'of another process')
      await expect
        .poll(async () => (await harness.api('GET', '/metrics')).text)
        .toMatch(/^mesh_relay_control_up\{relay="main"\} 1$/m);
    const node = await plane.join('a');
    const port = plane.relayPort || relay.port;
    using session = await relaySession(port, node.pair, await relayCredential(harness, node));
    await session.next('ready');
    const revoked = performance.now();
    await harness.api('POST', `/api/v1/peers/${node.id}/revoke`, { ...admin, body: {} });
    expect((await session.next('closed')).reason).toBe('revoked');
    expect(performance.now() - revoked).toBeLessThan(REVOKED_MS);
  },
);

test('a sub-agent is gone from the list within a second of its end, and from the graphs of its neighbours within two', async () => {
  verifies('delegate-ttl', 'limit-delegated-life');
  await using plane = await startWiredPlane();
  const { harness, admin, busPort } = plane;
  await using neighbour = await busNode(busPort, await plane.join('a'));
  await neighbour.heartbeat();
  await neighbour.fetch();
  const reach = [{ to: [{ peerSelector: { matchLabels: { name: 'a' } } }], ports: [{ protocol: 'TCP', port: 22 }] }];
  const parent = await harness.api('POST', '/api/v1/agents', { ...admin, body: { name: 'root', reach } });
  const { body } = await harness.api('POST', `/api/v1/agents/${parent.body.id}/delegate`, {
    token: parent.body.token,
    body: { subAgentName: 'brief', ttl: '2s', policyPreset: 'sandboxed', egress: reach },
  });
  const end = Date.parse(body.expiresAt);
  await register(harness, body.enrollmentToken, 'brief', { platform: 'agent' });
  expect(await peerNames(harness, admin)).toContain('brief');
  await neighbour.until(() => neighbour.graph?.peers.length === 1);

  await expect.poll(() => peerNames(harness, admin), { timeout: 10_000, interval: 25 }).not.toContain('brief');
  expect(Date.now() - end).toBeLessThan(ENDED_MS);
  await neighbour.until(() => neighbour.graph?.peers.length === 0);
  expect(Date.now() - end).toBeLessThan(PUSHED_MS);
});

test('a sub-agent whose time ended while the control plane was down is gone within a second of its return', async () => {
  await using first = await startHarness();
  const admin = await first.workspace();
  const parent = await first.api('POST', '/api/v1/agents', { ...admin, body: { name: 'sleeper' } });
  const { body } = await first.api('POST', `/api/v1/agents/${parent.body.id}/delegate`, {
    token: parent.body.token,
    body: { subAgentName: 'lost', ttl: '1s', policyPreset: 'sandboxed' },
  });
  await register(first, body.enrollmentToken, 'lost', { platform: 'agent' });
  await first.stop();
  await expect.poll(() => Date.now(), { timeout: 3_000 }).toBeGreaterThan(Date.parse(body.expiresAt));
  await using second = await startHarness({ directory: first.directory });
  const stored = async () => [...(await second.plane.services.states.current(admin.workspace)).peers.keys()];
  await expect.poll(stored, { timeout: ENDED_MS }).toEqual([]);
});

test('a control plane that is giving thousands of nodes their first graph ends at once, without serving them all', async () => {
  await using harness = await startHarness({ env: ALL_ON });
  const admin = await harness.workspace('prod', 10_000);
  await seedCrowd(harness.plane.services, admin.workspace);
  const pushed = async () => (await harness.api('GET', '/metrics')).text;
  await expect.poll(pushed, { timeout: 60_000 }).toMatch(/^mesh_graph_pushes_too_large_total [1-9]/m);
  const asked = performance.now();
  await harness.stop();
  expect(performance.now() - asked).toBeLessThan(STOPPED_MS);
});
