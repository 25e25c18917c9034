import { connect } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { startHarness } from '../kits/http/harness.ts';
import { ALL_ON, join, startWiredPlane } from '../kits/http/wired-plane.ts';
import { freePort } from '../kits/servers/free-port.ts';
import { verifies } from '../verifies.ts';

/** The lines of a log that speak of an address nodes are given. */
const deadAddresses = (log: readonly string[]) =>
  log.map((line) => JSON.parse(line)).filter(({ msg }) => msg.startsWith('nothing answers there'));

test('an address given to nodes at which nothing answers is logged with what it costs, and the plane runs on', async () => {
  verifies('ports-bus', 'ports-relay', 'ports-stun');
  const port = await freePort();
  await using harness = await startHarness({
    env: {
      ...ALL_ON,
      MESH_SIGNALING_URL: `nats://127.0.0.1:${port}`,
      MESH_RELAY_ADVERTISE_URL: `127.0.0.1:${port}`,
      MESH_STUN_URL: `127.0.0.1:${port}`,
    },
  });
  expect((await harness.api('GET', '/readyz')).status).toBe(200);
  await expect.poll(() => deadAddresses(harness.log).length, { timeout: 15_000 }).toBe(3);
  const said = 'nothing answers there, as seen from this machine';
  expect(deadAddresses(harness.log)).toEqual([
    {
      level: 'warn',
      variable: 'MESH_SIGNALING_URL',
      address: `nats://127.0.0.1:${port}`,
      reason: 'ECONNREFUSED',
      msg: `${said}: nodes cannot negotiate connections`,
    },
    {
      level: 'warn',
      variable: 'MESH_RELAY_ADVERTISE_URL',
      address: `127.0.0.1:${port}`,
      reason: 'ECONNREFUSED',
      msg: `${said}: nodes that cannot connect directly cannot communicate`,
    },
    {
      level: 'warn',
      variable: 'MESH_STUN_URL',
      address: `127.0.0.1:${port}`,
      reason: 'no answer in 3 s',
      msg: `${said}: only relay paths and a lower rate of direct connections`,
    },
  ]);
});

test('addresses at which bus, relay and STUN answer are passed over in silence', async () => {
  await using serving = await startWiredPlane();
  const { busPort, relayPort, stunPort } = serving;
  await using harness = await startHarness({
    env: {
      MESH_SIGNALING_URL: `nats://127.0.0.1:${busPort}`,
      MESH_RELAY_ADVERTISE_URL: `127.0.0.1:${relayPort}`,
      MESH_STUN_URL: `127.0.0.1:${stunPort}`,
    },
  });
  // STUN is tried last.
  await expect
    .poll(async () => (await serving.harness.api('GET', '/metrics')).text, { timeout: 15_000 })
    .toMatch(/^mesh_stun_answered_total 1$/m);
  expect(deadAddresses(harness.log)).toEqual([]);
});

test('with bus, relay and STUN off nodes still join and fetch their graph, and are given no relay', async () => {
  await using harness = await startHarness();
  const admin = await harness.workspace();
  const node = await join(harness, admin, 'a');
  const graph = await harness.api('GET', '/api/v1/devices/self/graph', { token: node.deviceToken });
  expect([graph.status, graph.body.self.id, graph.body.relay]).toEqual([200, node.id, null]);
  expect((await harness.api('GET', '/readyz')).body).toEqual({ status: 'ready' });
});

test('an API port that another process has is named, and nothing is left listening', async () => {
  verifies('env-listen');
  await using first = await startWiredPlane();
  const { port } = new URL(first.harness.url);
  const bus = await freePort();
  const clash = startHarness({ env: { MESH_LISTEN: `127.0.0.1:${port}`, MESH_BUS_LISTEN: `127.0.0.1:${bus}` } });
  await expect(clash).rejects.toThrow(
    `MESH_LISTEN: cannot listen on 127.0.0.1:${port} (EADDRINUSE: another process listens there). Set MESH_LISTEN to another address.`,
  );
  await expect(connect({ port: bus, reconnect: false })).rejects.toThrow(/refused/);
});
