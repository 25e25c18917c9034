import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect as connectBus } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { peerIdOf } from '../../net/relay/frame.ts';
import { generateKeyPair, type KeyPair } from '../../net/seal/x25519.ts';
import { BINDING, decodeStun, encodeStun } from '../../net/stun/message.ts';
import { type Harness, type HarnessOptions, startHarness } from '../harness.ts';
import { relaySession } from '../relay-socket.ts';
import { verifies } from '../requirements.ts';

const FREE_PORT = '127.0.0.1:0';
const ALL_ON = { MESH_BUS_LISTEN: FREE_PORT, MESH_RELAY_LISTEN: FREE_PORT, MESH_STUN_LISTEN: FREE_PORT };

interface Node {
  readonly id: string;
  readonly deviceToken: string;
  readonly controlKey: string;
  readonly pair: KeyPair;
}

/** A control plane with everything on, and a workspace with an admin. */
async function startPlane(options: HarnessOptions = {}) {
  const harness = await startHarness({ ...options, env: { ...ALL_ON, ...options.env } });
  const { token, workspace } = await harness.workspace();
  const admin = { token, workspace };
  const { bus, relay, stun } = harness.plane.listeners;
  return {
    harness,
    admin,
    workspace,
    busPort: bus?.port ?? 0,
    relayPort: relay?.port ?? 0,
    stunPort: stun?.port ?? 0,
    join: (name: string) => join(harness, admin, name),
    [Symbol.asyncDispose]: () => harness[Symbol.asyncDispose](),
  };
}

async function join(harness: Harness, admin: { token: string; workspace: string }, name: string): Promise<Node> {
  const made = await harness.api('POST', '/api/v1/token/generate', { ...admin, body: { name } });
  const pair = generateKeyPair();
  const publicKey = Buffer.from(pair.publicKey).toString('base64');
  const answer = await harness.api('POST', '/api/v1/devices/register', {
    token: made.body.token,
    body: { name, publicKey },
  });
  expect(answer.status).toBe(201);
  return { ...answer.body, pair };
}

async function relayCredential(harness: Harness, { deviceToken }: Node): Promise<string> {
  const { body } = await harness.api('GET', '/api/v1/devices/self/graph', { token: deviceToken });
  return body.relay.credential;
}

test('the relay forwards between two nodes with the credentials of their graphs, and refuses one that was revoked', async () => {
  verifies('auth-relay', 'env-lrp-token', 'ports-relay');
  const relayToken = 'a shared relay token of a test';
  await using plane = await startPlane({ env: { MESH_LRP_AUTH_TOKEN: relayToken } });
  const { harness, relayPort } = plane;
  const [a, b] = [await plane.join('a'), await plane.join('b')];
  const credential = await relayCredential(harness, a);
  using from = await relaySession(relayPort, a.pair, credential);
  using to = await relaySession(relayPort, b.pair, await relayCredential(harness, b));
  await Promise.all([from.next('ready'), to.next('ready')]);

  from.send(from.client.forward(peerIdOf(b.pair.publicKey), Buffer.from('packet')));
  const packet = await to.next('packet');
  expect([packet.from, Buffer.from(packet.payload).toString()]).toEqual([peerIdOf(a.pair.publicKey), 'packet']);

  using forged = await relaySession(relayPort, generateKeyPair(), credential);
  expect((await forged.next('closed')).reason).toBe('bad-credential');

  const revokedAt = Date.now();
  const revoked = await harness.api('POST', `/api/v1/peers/${a.id}/revoke`, { ...plane.admin, body: {} });
  expect(revoked.status).toBe(200);
  expect((await from.next('closed')).reason).toBe('revoked');
  expect(Date.now() - revokedAt).toBeLessThan(2_000);
  using again = await relaySession(relayPort, a.pair, credential);
  expect((await again.next('closed')).reason).toBe('revoked');
  expect(harness.log.join('\n')).not.toContain(relayToken);
});

test('a relay that was restarted still refuses whom was revoked before', async () => {
  await using plane = await startPlane();
  const { harness, admin } = plane;
  const a = await plane.join('a');
  const credential = await relayCredential(harness, a);
  expect((await harness.api('DELETE', `/api/v1/peers/${a.id}`, admin)).status).toBeLessThan(300);
  await harness.stop();
  await using later = await startHarness({ directory: harness.directory, env: ALL_ON });
  using session = await relaySession(later.plane.listeners.relay?.port ?? 0, a.pair, credential);
  expect((await session.next('closed')).reason).toBe('revoked');
});

test('STUN tells a node its address', async () => {
  verifies('ports-stun');
  await using plane = await startPlane();
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const transactionId = Uint8Array.from({ length: 12 }, (_, index) => index);
  const request = encodeStun({ class: 'request', method: BINDING, transactionId, attributes: [] });
  socket.send(request, plane.stunPort, '127.0.0.1');
  const [datagram] = (await once(socket, 'message')) as [Buffer];
  const answer = decodeStun(datagram);
  socket.close();
  expect([datagram.length, answer?.class, answer?.transactionId]).toEqual([32, 'success', transactionId]);
});

test('anyone may signal on the bus of a plane that asks for no credential', async () => {
  verifies('bus-open');
  await using plane = await startPlane();
  const nats = await connectBus({ port: plane.busPort, reconnect: false });
  const heard = nats.subscribe('mesh.w.p.signal', { max: 1 });
  nats.publish('mesh.w.p.signal', 'SYN');
  for await (const message of heard) expect(message.string()).toBe('SYN');
  await nats.close();
});

test('readiness and metrics cover bus, relay and STUN', async () => {
  await using plane = await startPlane();
  expect((await plane.harness.api('GET', '/readyz')).status).toBe(200);
  const { text } = await plane.harness.api('GET', '/metrics');
  for (const name of ['mesh_nats_connections', 'mesh_relay_sessions', 'mesh_stun_answered_total']) {
    expect(text).toMatch(new RegExp(`^${name} 0$`, 'm'));
  }
});

test('a part that is off is said with what it costs, and an address that is taken names its variable', async () => {
  await using harness = await startHarness();
  for (const text of ['nodes cannot negotiate connections', 'cannot communicate', 'only relay paths']) {
    expect(harness.log.join('\n')).toContain(text);
  }
  await using other = await startPlane();
  for (const [variable, port] of [
    ['MESH_BUS_LISTEN', other.busPort],
    ['MESH_RELAY_LISTEN', other.relayPort],
    ['MESH_STUN_LISTEN', other.stunPort],
  ] as const) {
    const clash = startHarness({ env: { [variable]: `127.0.0.1:${port}` } });
    await expect(clash).rejects.toThrow(
      `${variable}: cannot listen on 127.0.0.1:${port} (EADDRINUSE: another process listens there). ` +
        `Set ${variable} to another address, or set ${variable}=off to run without it.`,
    );
  }
});
