import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { connect as connectBus } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { busSecretOf } from '../../core/identity/device-token.ts';
import { testCertificate } from '../../net/nats/test-certificate.ts';
import { peerIdOf } from '../../net/relay/frame.ts';
import { busNode } from '../kits/http/bus-node.ts';
import { startHarness } from '../kits/http/harness.ts';
import { relaySession } from '../kits/http/relay-socket.ts';
import { join, relayCredential, startWiredPlane } from '../kits/http/wired-plane.ts';
import { freshDirectory, startMeshd } from '../kits/process/meshd.ts';
import { startPart } from '../kits/process/part.ts';

const ca = testCertificate.cert;
const files = filesOf(testCertificate);

function filesOf({ cert, key }: { readonly cert: string; readonly key: string }) {
  const directory = freshDirectory();
  const names = { MESH_TLS_CERT: path.join(directory, 'cert.pem'), MESH_TLS_KEY: path.join(directory, 'key.pem') };
  writeFileSync(names.MESH_TLS_CERT, cert);
  writeFileSync(names.MESH_TLS_KEY, key, { mode: 0o600 });
  return names;
}

// The API speaks TLS as well, and `fetch` takes no certificate of its own.
const trusted = getCACertificates();
beforeAll(() => setDefaultCACertificates([...trusted, ca]));
afterAll(() => setDefaultCACertificates(trusted));

test('with a certificate nodes reach bus and relay over TLS, and the relay address they are given says so', async () => {
  await using plane = await startWiredPlane({
    env: { ...files, MESH_RELAY_ADVERTISE_URL: '127.0.0.1:6266', MESH_SIGNALING_URL: 'nats://127.0.0.1:4222' },
  });
  const { harness, busPort, relayPort } = plane;
  const [idA, idB] = [await plane.join('a'), await plane.join('b')];
  await using a = await busNode(busPort, idA, { reconnect: false, tls: { ca } });
  expect(a.nats.info?.tls_available).toBe(true);
  await a.heartbeat();
  const graph = await a.fetch();
  expect(graph.relay?.url).toBe('lrps://127.0.0.1:6266');

  using from = await relaySession(relayPort, idA.pair, graph.relay?.credential ?? '', ca);
  using to = await relaySession(relayPort, idB.pair, await relayCredential(harness, idB), ca);
  await Promise.all([from.next('ready'), to.next('ready')]);
  from.send(from.client.forward(peerIdOf(idB.pair.publicKey), Buffer.from('packet')));
  expect(Buffer.from((await to.next('forward')).packets).toString()).toBe('packet');

  const old = await connectBus({ port: busPort, reconnect: false, tls: null });
  const heard = old.subscribe('mesh.w.p.signal', { max: 1 });
  a.nats.publish('mesh.w.p.signal', 'SYN');
  for await (const message of heard) expect(message.string()).toBe('SYN');
  await old.close();
});

test('where nodes sign in to the bus TLS is required and handed out, so that no credential travels in clear', async () => {
  await using plane = await startWiredPlane({ env: { ...files, MESH_SIGNALING_AUTH: 'token' } });
  const { body } = await plane.harness.api('GET', '/api/v1/discovery');
  expect(body.signalingUrl).toBe('tls://127.0.0.1:4222');
  const idA = await plane.join('a');
  await using a = await busNode(plane.busPort, idA, { reconnect: false, tls: { ca } });
  expect(a.nats.info?.tls_required).toBe(true);
  await a.heartbeat();
  expect((await a.fetch()).self.id).toBe(idA.id);
  const inClear = { port: plane.busPort, reconnect: false, tls: null, token: busSecretOf(idA.deviceToken) };
  await expect(connectBus(inClear)).rejects.toThrow();
});

test('a control plane reaches a relay elsewhere over TLS when its address says lrps', async () => {
  const token = 'a shared relay token of a test';
  await using relay = await startPart('relay', { ...files, MESH_LRP_AUTH_TOKEN: token });
  const url = `lrps://127.0.0.1:${relay.port}`;
  await using harness = await startHarness({ env: { MESH_RELAY_URL: url, MESH_LRP_AUTH_TOKEN: token } });
  const admin = await harness.workspace();
  const a = await join(harness, admin, 'a');
  const { body } = await harness.api('GET', '/api/v1/devices/self/graph', { token: a.deviceToken });
  expect(body.relay.url).toBe(url);
  using session = await relaySession(relay.port, a.pair, body.relay.credential, ca);
  await session.next('ready');
  const readiness = async () => (await harness.api('GET', '/readyz')).body;
  await expect.poll(readiness, { timeout: 20_000 }).toEqual({ status: 'ready' });
  await harness.api('POST', `/api/v1/peers/${a.id}/revoke`, { ...admin, body: {} });
  expect((await session.next('closed')).reason).toBe('revoked');
});

test('files that hold no certificate with its own key are named before anything listens', async () => {
  const meshd = startMeshd({ env: filesOf({ cert: testCertificate.cert, key: 'no key' }) });
  expect(await meshd.ended).toBe(1);
  expect(meshd.stderr()).toContain('MESH_TLS_CERT, MESH_TLS_KEY: no certificate with its own key in PEM form');
});
