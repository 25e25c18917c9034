import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect as connectBus } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { busSecretOf } from '../../core/identity/device-token.ts';
import { peerIdOf } from '../../net/relay/frame.ts';
import { generateKeyPair } from '../../net/seal/x25519.ts';
import { BINDING, decodeStun, encodeStun } from '../../net/stun/message.ts';
import { busNode } from '../kits/http/bus-node.ts';
import { startHarness } from '../kits/http/harness.ts';
import { relaySession } from '../kits/http/relay-socket.ts';
import { ALL_ON, relayCredential, startWiredPlane } from '../kits/http/wired-plane.ts';
import { verifies } from '../verifies.ts';

test('the relay forwards between two nodes with the credentials of their graphs, and refuses one that was revoked', async () => {
  verifies('auth-relay', 'env-lrp-token', 'ports-relay');
  const relayToken = 'a shared relay token of a test';
  await using plane = await startWiredPlane({ env: { MESH_LRP_AUTH_TOKEN: relayToken } });
  const { harness, relayPort } = plane;
  const [a, b] = [await plane.join('a'), await plane.join('b')];
  const credential = await relayCredential(harness, a);
  using from = await relaySession(relayPort, a.pair, credential);
  using to = await relaySession(relayPort, b.pair, await relayCredential(harness, b));
  await Promise.all([from.next('ready'), to.next('ready')]);

  from.send(from.client.forward(peerIdOf(b.pair.publicKey), Buffer.from('packet')));
  const packet = await to.next('forward');
  expect([packet.peer, Buffer.from(packet.packets).toString()]).toEqual([peerIdOf(a.pair.publicKey), 'packet']);

  using forged = await relaySession(relayPort, generateKeyPair(), credential);
  expect((await forged.next('closed')).reason).toBe('bad-credential');

  const revoked = await harness.api('POST', `/api/v1/peers/${a.id}/revoke`, { ...plane.admin, body: {} });
  expect(revoked.status).toBe(200);
  expect((await from.next('closed')).reason).toBe('revoked');
  using again = await relaySession(relayPort, a.pair, credential);
  expect((await again.next('closed')).reason).toBe('revoked');
  expect(harness.log.join('\n')).not.toContain(relayToken);
});

test('a relay that was restarted still refuses whom was revoked before', async () => {
  await using plane = await startWiredPlane();
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
  await using plane = await startWiredPlane();
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
  await using plane = await startWiredPlane();
  const nats = await connectBus({ port: plane.busPort, reconnect: false });
  const heard = nats.subscribe('mesh.w.p.signal', { max: 1 });
  nats.publish('mesh.w.p.signal', 'SYN');
  for await (const message of heard) expect(message.string()).toBe('SYN');
  await nats.close();
});

test('readiness and metrics cover bus, relay and STUN', async () => {
  await using plane = await startWiredPlane();
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
  await using other = await startWiredPlane();
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

const labelled = (name: string) => ({ peerSelector: { matchLabels: { name } } });
/** Shuts a for b. */
const shut = (name: string, more: object = {}) => ({
  name,
  spec: { action: 'DENY', ...labelled('a'), ingress: [{ from: [labelled('b')] }] },
  ...more,
});

test('a changed policy is pushed as a sealed delta to the two nodes it concerns and to no other', async () => {
  verifies('ports-bus');
  await using plane = await startWiredPlane();
  const { harness, admin, busPort } = plane;
  const [idA, idB, idC] = [await plane.join('a'), await plane.join('b'), await plane.join('c')];
  await using a = await busNode(busPort, idA);
  await using b = await busNode(busPort, idB);
  await using c = await busNode(busPort, idC);
  for (const node of [a, b, c]) await node.heartbeat();
  const first = await a.fetch();
  await b.fetch();
  await c.fetch();
  expect(first.peers.map(({ id }) => id)).toEqual([idB.id, idC.id].sort());
  const seen = c.received.length;

  const made = await harness.api('POST', '/api/v1/policies', { ...admin, body: shut('shut') });
  expect(made.status).toBe(201);
  for (const [node, { deviceToken }] of [
    [a, idA],
    [b, idB],
  ] as const) {
    await node.until(() => node.received.at(-1)?.reason.includes('policy shut') === true);
    const { body } = await harness.api('GET', '/api/v1/devices/self/graph', { token: deviceToken });
    expect([node.received.at(-1)?.kind, node.gaps, node.graph?.firewall]).toEqual(['delta', 0, body.firewall]);
  }
  await c.fetch();
  expect(c.received.slice(seen).map(({ kind, reason }) => [kind, reason])).toEqual([['full', 'requested']]);
});

test('the end of a policy and the deletion of a peer reach a node as deltas without being asked for', async () => {
  await using plane = await startWiredPlane();
  const { harness, admin, busPort } = plane;
  const [idA, idB] = [await plane.join('a'), await plane.join('b')];
  await using a = await busNode(busPort, idA);
  await a.heartbeat();
  const before = await a.fetch();
  await harness.api('POST', '/api/v1/policies', { ...admin, body: shut('brief', { ttl: '3s' }) });
  await a.until(() => a.graph?.firewall.digest !== before.firewall.digest);
  await a.until(() => a.graph?.firewall.digest === before.firewall.digest);
  await harness.api('DELETE', `/api/v1/peers/${idB.id}`, admin);
  await a.until(() => a.graph?.peers.length === 0);
  const deltas = a.received.slice(a.received.findIndex(({ reason }) => reason === 'requested') + 1);
  expect([deltas.map(({ kind }) => kind), a.gaps]).toEqual([['delta', 'delta', 'delta'], 0]);
});

test('a node that missed a delta sees the gap in the next one and is sent the whole graph when it asks', async () => {
  await using plane = await startWiredPlane();
  const { harness, admin, busPort } = plane;
  const idA = await plane.join('a');
  await plane.join('b');
  await using a = await busNode(busPort, idA);
  await a.heartbeat();
  const old = await a.fetch();
  await harness.api('POST', '/api/v1/policies', { ...admin, body: shut('one') });
  await a.until(() => a.received.at(-1)?.reason.includes('policy one') === true);
  a.goBackTo(old);
  await harness.api('DELETE', '/api/v1/policies/one', admin);
  await a.until(() => a.gaps === 1);
  const whole = await a.fetch();
  expect([whole.kind, whole.firewall]).toEqual(['full', old.firewall]);
});

test('a node that waits for approval is sent nothing, and its whole graph when it is approved', async () => {
  await using plane = await startWiredPlane();
  const { harness, admin, busPort, workspace } = plane;
  const settings = { settings: { requirePeerApproval: true } };
  expect((await harness.api('PATCH', `/api/v1/workspaces/${workspace}`, { ...admin, body: settings })).status).toBe(
    200,
  );
  const idA = await plane.join('a');
  await using a = await busNode(busPort, idA);
  expect((await harness.api('POST', `/api/v1/peers/${idA.id}/approve`, { ...admin, body: {} })).status).toBe(200);
  await a.until(() => a.received.length > 0);
  expect(a.received.map(({ kind, self }) => [kind, self.id])).toEqual([['full', idA.id]]);
});

test('a sealed heartbeat brings a node online; one that is unsealed or repeated is ignored and counted', async () => {
  await using plane = await startWiredPlane();
  const { harness, admin, busPort } = plane;
  const idA = await plane.join('a');
  await using a = await busNode(busPort, idA);
  const isOnline = async () => (await harness.api('GET', `/api/v1/peers/${idA.id}`, admin)).body.status.online;
  expect(await isOnline()).toBe(false);
  await a.heartbeat();
  expect(await isOnline()).toBe(true);

  const subject = a.subjectOf('heartbeat');
  const sealed = a.seal('heartbeat', {});
  for (const payload of [sealed, sealed, Buffer.from('{}')]) a.nats.publish(subject, payload);
  await a.nats.flush();
  const counted = async () => {
    const { text } = await harness.api('GET', '/metrics');
    return text.split('\n').filter((line) => /^mesh_node_(heartbeats|requests_ignored)_total/.test(line));
  };
  await expect
    .poll(async () => (await counted()).sort())
    .toEqual([
      'mesh_node_heartbeats_total 2',
      'mesh_node_requests_ignored_total{reason="malformed"} 1',
      'mesh_node_requests_ignored_total{reason="replayed"} 1',
      'mesh_node_requests_ignored_total{reason="unproven"} 1',
    ]);
});

test('2,000 forged heartbeats that name a node, one after the other, stop none of its own from being answered', async () => {
  await using plane = await startWiredPlane();
  const { harness, busPort } = plane;
  const idA = await plane.join('a');
  await using a = await busNode(busPort, idA);
  const forger = await connectBus({ port: busPort, reconnect: false });
  const forged = a.seal('heartbeat', {});
  forged.set([(forged.at(-1) ?? 0) ^ 1], forged.length - 1);
  for (let round = 0; round < 6; round++) {
    for (let n = 0; n < 2_000; n++) forger.publish(a.subjectOf('heartbeat'), forged);
    await forger.flush();
    expect(await a.heartbeat()).toHaveProperty('version');
  }
  const { text } = await harness.api('GET', '/metrics');
  const refused = Number(/mesh_node_requests_ignored_total{reason="not-authentic"} (\d+)/.exec(text)?.[1]);
  const dropped = Number(/^mesh_nats_paced_messages_dropped_total (\d+)$/m.exec(text)?.[1]);
  expect(refused + dropped).toBe(12_000);
  expect(refused).toBeLessThan(200);
  await forger.close();
});

test('with credentials asked for, a node hears its own subjects only, and nothing once it was revoked', async () => {
  await using plane = await startWiredPlane({ env: { MESH_SIGNALING_AUTH: 'token' } });
  const { harness, admin, busPort, workspace } = plane;
  const [idA, idB] = [await plane.join('a'), await plane.join('b')];
  await expect(connectBus({ port: busPort, reconnect: false })).rejects.toThrow(/authorization/i);
  await expect(connectBus({ port: busPort, reconnect: false, token: idA.deviceToken })).rejects.toThrow();
  await using a = await busNode(busPort, idA);
  await a.heartbeat();
  expect((await a.fetch()).self.id).toBe(idA.id);
  const foreign = await new Promise<Error | null>((resolve) => {
    a.nats.subscribe(`mesh.${workspace}.${idB.id}.signal`, { callback: (error) => resolve(error) });
  });
  expect(foreign?.message).toMatch(/permission/i);
  await harness.api('POST', `/api/v1/peers/${idA.id}/revoke`, { ...admin, body: {} });
  await a.nats.closed();
  await expect(connectBus({ port: busPort, reconnect: false, token: busSecretOf(idA.deviceToken) })).rejects.toThrow();
});

test('of two processes with one key each is told that the other took its place, as the log and the page of the peer are once, and one that was restarted is not', async () => {
  await using plane = await startWiredPlane();
  const identity = await plane.join('a');
  await using first = await busNode(plane.busPort, identity);
  expect(await first.beat()).toMatchObject({ challenge: expect.any(String) });
  await first.heartbeat();
  await using second = await busNode(plane.busPort, identity);
  const met = await second.beat();
  expect([typeof met.challenge, met.superseded]).toEqual(['string', undefined]);
  await second.heartbeat();
  expect(await first.beat()).toMatchObject({ challenge: expect.any(String), superseded: true });
  const { body: before } = await plane.harness.api('GET', `/api/v1/peers/${identity.id}`, plane.admin);
  expect(before.status.keySharedAt).toBeUndefined();
  await first.heartbeat();
  expect(await second.beat()).toMatchObject({ superseded: true });
  await second.heartbeat();
  const { body: peer } = await plane.harness.api('GET', `/api/v1/peers/${identity.id}`, plane.admin);
  expect(peer.status.keySharedAt).toEqual(expect.any(String));
  const { body: log } = await plane.harness.api('GET', '/api/v1/audit?type=event', plane.admin);
  const told = log.items.filter(({ event }: { event: string }) => event === 'peer.key_shared');
  expect(told).toMatchObject([{ actor: 'device:a', result: 'refused', detail: { peer: identity.id, name: 'a' } }]);
});
