import { expect, test } from 'vitest';
import { peerIdOf } from '../../net/relay/frame.ts';
import { apiOf, configure, freshWorkspace, startHarness } from '../kits/http/harness.ts';
import { relaySession } from '../kits/http/relay-socket.ts';
import { join, relayCredential } from '../kits/http/wired-plane.ts';
import { freshDirectory, startMeshd } from '../kits/process/meshd.ts';
import { logged, startPart } from '../kits/process/part.ts';
import { freePort } from '../kits/servers/free-port.ts';
import { verifies } from '../verifies.ts';

const TOKEN = 'a shared relay token of a test';

test('a control plane tells a relay of another process whom it revoked, and the session ends', async () => {
  verifies('env-relay-url', 'auth-relay');
  await using relay = await startPart('relay', { MESH_LRP_AUTH_TOKEN: TOKEN });
  const directory = freshDirectory();
  configure(directory);
  const meshd = startMeshd({
    directory,
    env: { MESH_RELAY_LISTEN: 'off', MESH_RELAY_URL: `127.0.0.1:${relay.port}`, MESH_LRP_AUTH_TOKEN: TOKEN },
  });
  try {
    const api = apiOf(await meshd.ready());
    expect(meshd.stdout()).toContain(`Relay      127.0.0.1:${relay.port} (MESH_RELAY_URL)`);
    expect(await logged(meshd, 'connected to the relay')).toMatchObject({ relay: `lrp://127.0.0.1:${relay.port}` });
    const admin = await freshWorkspace(api);
    const [a, b] = [await join({ api }, admin, 'a'), await join({ api }, admin, 'b')];
    const graph = await api('GET', '/api/v1/devices/self/graph', { token: a.deviceToken });
    expect(graph.body.relay.url).toBe(`127.0.0.1:${relay.port}`);

    using from = await relaySession(relay.port, a.pair, graph.body.relay.credential);
    using to = await relaySession(relay.port, b.pair, await relayCredential({ api }, b));
    await Promise.all([from.next('ready'), to.next('ready')]);
    from.send(from.client.forward(peerIdOf(b.pair.publicKey), Buffer.from('packet')));
    expect(Buffer.from((await to.next('forward')).packets).toString()).toBe('packet');

    expect((await api('POST', `/api/v1/peers/${a.id}/revoke`, { ...admin, body: {} })).status).toBe(200);
    expect((await from.next('closed')).reason).toBe('revoked');
    expect(to.client.state).toBe('ready');
    expect(meshd.stdout() + meshd.stderr() + relay.meshd.stderr()).not.toContain(TOKEN);
  } finally {
    await meshd.stop();
  }
});

test('a relay that was away hears of what was revoked meanwhile, and its absence is shown without ending readiness', async () => {
  const place = `127.0.0.1:${await freePort()}`;
  const first = await startPart('relay', { MESH_LRP_AUTH_TOKEN: TOKEN, MESH_RELAY_LISTEN: place });
  await using harness = await startHarness({ env: { MESH_RELAY_URL: place, MESH_LRP_AUTH_TOKEN: TOKEN } });
  const { api } = harness;
  const isUp = async (up: 0 | 1) =>
    expect
      .poll(async () => (await api('GET', '/metrics')).text, { timeout: 20_000 })
      .toMatch(new RegExp(`^mesh_relay_control_up\\{relay="main"\\} ${up}$`, 'm'));
  await isUp(1);
  expect((await api('GET', '/readyz')).body).toEqual({ status: 'ready' });
  const admin = await harness.workspace();
  const [a, b] = [await join(harness, admin, 'a'), await join(harness, admin, 'b')];
  const [ofA, ofB] = [await relayCredential(harness, a), await relayCredential(harness, b)];

  await first[Symbol.asyncDispose]();
  await isUp(0);
  expect(await api('GET', '/readyz')).toMatchObject({
    status: 200,
    body: { status: 'ready', degraded: [expect.stringContaining(`the relay at lrp://${place} is away`)] },
  });
  expect(harness.log.join('\n')).toContain('the relay is away: nodes revoked meanwhile may use it until it is back');
  expect((await api('POST', `/api/v1/peers/${a.id}/revoke`, { ...admin, body: {} })).status).toBe(200);

  await using _second = await startPart('relay', { MESH_LRP_AUTH_TOKEN: TOKEN, MESH_RELAY_LISTEN: place });
  await isUp(1);
  using refused = await relaySession(first.port, a.pair, ofA);
  expect((await refused.next('closed')).reason).toBe('revoked');
  using welcome = await relaySession(first.port, b.pair, ofB);
  await welcome.next('ready');
});

test('a relay with another shared token is said to have one', async () => {
  await using relay = await startPart('relay', { MESH_LRP_AUTH_TOKEN: 'quite another token' });
  await using harness = await startHarness({ env: { MESH_RELAY_URL: `127.0.0.1:${relay.port}` } });
  expect(harness.log.join('\n')).toContain(
    'a relay elsewhere knows the shared token only when both are given the same one',
  );
  await expect
    .poll(async () => (await harness.api('GET', '/readyz')).text, { timeout: 20_000 })
    .toContain('it has another shared token: set the same MESH_LRP_AUTH_TOKEN on both');
});
