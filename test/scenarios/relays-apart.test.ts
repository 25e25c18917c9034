import { expect, test } from 'vitest';
import { FIRST_ADMIN, startHarness } from '../kits/http/harness.ts';
import { relaySession } from '../kits/http/relay-socket.ts';
import { join, relayCredential } from '../kits/http/wired-plane.ts';
import { logged, startPart } from '../kits/process/part.ts';

const TOKEN = 'a shared relay token of a test';
const PATIENCE = { timeout: 20_000 };

test('nodes are told of all relays and STUN servers, and every relay of whom was revoked', async () => {
  await using main = await startPart('relay', { MESH_LRP_AUTH_TOKEN: TOKEN });
  await using eu = await startPart('relay', { MESH_LRP_AUTH_TOKEN: TOKEN });
  const relays = [{ name: 'eu', url: `127.0.0.1:${eu.port}`, region: 'eu-west', capacity: 3 }];
  await using harness = await startHarness({
    env: {
      MESH_RELAY_URL: `127.0.0.1:${main.port}`,
      MESH_LRP_AUTH_TOKEN: TOKEN,
      MESH_STUN_URL: 'stun.example.net:3478',
    },
    config: { app: { initAdmins: [FIRST_ADMIN], relays, stun: ['stun.example.org:3478'] } },
  });
  const { api } = harness;
  const admin = await harness.workspace();
  const a = await join(harness, admin, 'a');
  const { body } = await api('GET', '/api/v1/devices/self/graph', { token: a.deviceToken });
  const url = `127.0.0.1:${main.port}`;
  expect(body).toMatchObject({
    relay: { url },
    relays: [{ name: 'main', url }, ...relays],
    stun: ['stun.example.net:3478', 'stun.example.org:3478'],
  });

  const checks = async () => (await api('GET', '/readyz?verbose')).body.checks;
  await expect
    .poll(checks, PATIENCE)
    .toEqual(
      expect.arrayContaining(
        ['relay main', 'relay eu'].map((name) => ({ name, state: 'ok', detail: 'is told of revocations' })),
      ),
    );
  const metrics = (await api('GET', '/metrics')).text;
  for (const name of ['main', 'eu']) expect(metrics).toContain(`mesh_relay_control_up{relay="${name}"} 1`);
  const { credential } = body.relay;
  using there = await relaySession(eu.port, a.pair, credential);
  using here = await relaySession(main.port, a.pair, credential);
  await Promise.all([there.next('ready'), here.next('ready')]);
  expect((await api('POST', `/api/v1/peers/${a.id}/revoke`, { ...admin, body: {} })).status).toBe(200);
  expect([(await there.next('closed')).reason, (await here.next('closed')).reason]).toEqual(['revoked', 'revoked']);

  await eu[Symbol.asyncDispose]();
  await expect
    .poll(async () => (await api('GET', '/readyz')).body.degraded, PATIENCE)
    .toEqual([expect.stringContaining(`the relay at lrp://127.0.0.1:${eu.port} is away`)]);
});

test('one relay is told of as ever, and a listed one at its address gives it a name', async () => {
  const config = (relays: readonly object[]) => ({ app: { initAdmins: [FIRST_ADMIN], relays } });
  const graphWith = async (relays: readonly object[]) => {
    const env = { MESH_RELAY_ADVERTISE_URL: 'relay.example.net:6266' };
    await using harness = await startHarness({ env, config: config(relays) });
    const a = await join(harness, await harness.workspace(), 'a');
    return (await harness.api('GET', '/api/v1/devices/self/graph', { token: a.deviceToken })).body;
  };
  expect(await graphWith([])).not.toHaveProperty('relays');
  const home = { name: 'home', url: 'relay.example.net:6266', region: 'eu' };
  const other = { name: 'other', url: 'lrps://other.example.net:443' };
  expect(await graphWith([other, home])).toMatchObject({ relay: { url: home.url }, relays: [home, other] });
});

test('a relay alone serves its health and metrics, refuses nodes beyond its capacity, and is not ready while it ends', async () => {
  await using relay = await startPart('relay', {
    MESH_LRP_AUTH_TOKEN: TOKEN,
    MESH_HEALTH_LISTEN: '127.0.0.1:0',
    MESH_RELAY_SESSIONS: '1',
  });
  const { port } = await logged(relay.meshd, 'health and metrics are served');
  const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
  expect(await (await get('/healthz')).json()).toEqual({ status: 'ok' });
  expect(await (await get('/readyz')).json()).toEqual({
    status: 'ready',
    checks: [{ name: 'relay', state: 'ok', detail: 'takes connections' }],
  });
  expect((await get('/')).status).toBe(404);
  await using harness = await startHarness({
    env: { MESH_RELAY_URL: `127.0.0.1:${relay.port}`, MESH_LRP_AUTH_TOKEN: TOKEN },
  });
  const admin = await harness.workspace();
  const sessionOf = async (name: string) => {
    const node = await join(harness, admin, name);
    return relaySession(relay.port, node.pair, await relayCredential(harness, node));
  };
  using first = await sessionOf('a');
  await first.next('ready');
  using second = await sessionOf('b');
  expect((await second.next('closed')).reason).toBe('limit');
  expect(await (await get('/metrics')).text()).toMatch(/^mesh_relay_sessions_ready 1$/m);

  const ended = relay.meshd.stop();
  await first.next('move');
  const answer = await get('/readyz');
  expect([answer.status, ((await answer.json()) as { detail: string }).detail]).toEqual([
    503,
    'relay it ends: go to another one.',
  ]);
  first[Symbol.dispose]();
  expect(await ended).toBe(0);
});
