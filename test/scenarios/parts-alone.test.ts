import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { mintCredential, relayKeysOf, workspaceTagOf } from '../../net/relay/credential.ts';
import { peerIdOf } from '../../net/relay/frame.ts';
import { generateKeyPair, type KeyPair } from '../../net/seal/x25519.ts';
import { decodeXorAddress } from '../../net/stun/address.ts';
import { ATTRIBUTES, BINDING, decodeStun, encodeStun } from '../../net/stun/message.ts';
import { formatIp } from '../../platform/ip.ts';
import { relaySession } from '../kits/http/relay-socket.ts';
import { startMeshd } from '../kits/process/meshd.ts';
import { startPart } from '../kits/process/part.ts';

const TOKEN = 'a shared relay token of a test';
const DAY_MS = 24 * 3_600_000;

/** What a control plane with that token gives a node; the relay asks nobody whether it holds. */
function credentialOf(
  token: string,
  { publicKey }: KeyPair,
  workspace: string,
  expiresAt = Date.now() + DAY_MS,
): string {
  return mintCredential(relayKeysOf(token), { workspace: workspaceTagOf(workspace), publicKey, expiresAt });
}

test('meshd bus alone serves the official client, guards the subjects of the control plane, and tells clients to move', async () => {
  await using bus = await startPart('bus');
  const [a, b] = [
    await connect({ port: bus.port, reconnect: false }),
    await connect({ port: bus.port, reconnect: false }),
  ];
  a.subscribe('mesh.w.a.signal', { queue: 'one', callback: (_error, message) => void message.respond(message.data) });
  await a.flush();
  expect((await b.request('mesh.w.a.signal', 'SYN')).string()).toBe('SYN');
  await expect(b.request('mesh.w.nobody.signal', 'SYN')).rejects.toThrow(/no responders/i);
  const refused = new Promise<string>((resolve) => {
    b.subscribe('mesh.control.>', { callback: (error) => resolve(String(error?.message)) });
  });
  expect(await refused).toMatch(/permissions violation/i);

  const told = new Promise<void>((resolve) => {
    void (async () => {
      for await (const { type } of a.status()) if (type === 'ldm') resolve();
    })();
  });
  const code = bus.meshd.stop();
  await told;
  await Promise.all([a.closed(), b.closed()]);
  expect(await code).toBe(0);
});

test('meshd relay alone checks credentials offline: genuine ones forward inside their workspace, all others are named', async () => {
  await using relay = await startPart('relay', { MESH_LRP_AUTH_TOKEN: TOKEN });
  const [a, b, stranger] = [generateKeyPair(), generateKeyPair(), generateKeyPair()];
  using from = await relaySession(relay.port, a, credentialOf(TOKEN, a, 'w'));
  using to = await relaySession(relay.port, b, credentialOf(TOKEN, b, 'w'));
  using elsewhere = await relaySession(relay.port, stranger, credentialOf(TOKEN, stranger, 'another'));
  await Promise.all([from.next('ready'), to.next('ready'), elsewhere.next('ready')]);
  elsewhere.send(elsewhere.client.forward(peerIdOf(b.publicKey), Buffer.from('from outside')));
  elsewhere.send(elsewhere.client.probe(peerIdOf(b.publicKey), new Uint8Array()));
  expect((await elsewhere.next('probe-reply')).isPresent).toBe(false);
  from.send(from.client.forward(peerIdOf(b.publicKey), Buffer.from('packet')));
  const { peer: source, packets } = await to.next('forward');
  expect([source, Buffer.from(packets).toString()]).toEqual([peerIdOf(a.publicKey), 'packet']);

  for (const [credential, reason] of [
    [credentialOf('the token of another plane', stranger, 'w'), 'bad-credential'],
    [credentialOf(TOKEN, a, 'w'), 'bad-credential'],
    [credentialOf(TOKEN, stranger, 'w', Date.now() - 1), 'credential-expired'],
  ] as const) {
    using session = await relaySession(relay.port, stranger, credential);
    expect((await session.next('closed')).reason).toBe(reason);
  }
  const code = relay.meshd.stop();
  await from.next('move');
  expect(await code).toBe(0);
  expect(relay.meshd.stdout() + relay.meshd.stderr()).not.toContain(TOKEN);
});

test('meshd relay without the shared token says which variable to set', async () => {
  const meshd = startMeshd({ command: ['bin/meshd', 'relay'] });
  expect(await meshd.ended).toBe(1);
  expect(meshd.stderr()).toContain('MESH_LRP_AUTH_TOKEN: set it to the shared token of the control plane');
});

test('meshd stun alone tells clients their address', async () => {
  await using stun = await startPart('stun');
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const transactionId = Uint8Array.from({ length: 12 }, (_, index) => index);
  const request = encodeStun({ class: 'request', method: BINDING, transactionId, attributes: [] });
  socket.send(request, stun.port, '127.0.0.1');
  const [datagram] = (await once(socket, 'message')) as [Buffer];
  const attributes = decodeStun(datagram)?.attributes ?? [];
  const [mapped] = attributes.filter(({ type }) => type === ATTRIBUTES.xorMappedAddress);
  const seen = mapped && decodeXorAddress(mapped.value, transactionId);
  expect(seen && [formatIp(seen.ip), seen.port]).toEqual(['127.0.0.1', socket.address().port]);
  socket.close();
});

test('a part whose port is taken or that is off ends at once and names its variable', async () => {
  await using bus = await startPart('bus');
  const place = `127.0.0.1:${bus.port}`;
  const ended = async (part: string, env: Record<string, string>) => {
    const meshd = startMeshd({ command: ['bin/meshd', part], env: { MESH_LRP_AUTH_TOKEN: TOKEN, ...env } });
    return [await meshd.ended, meshd.stderr()];
  };
  const taken = `cannot listen on ${place} (EADDRINUSE: another process listens there)`;
  expect(
    await Promise.all([
      ended('bus', { MESH_BUS_LISTEN: place }),
      ended('relay', { MESH_RELAY_LISTEN: place }),
      ended('stun', { MESH_STUN_LISTEN: 'off' }),
    ]),
  ).toEqual([
    [1, expect.stringContaining(`MESH_BUS_LISTEN: ${taken}`)],
    [1, expect.stringContaining(`MESH_RELAY_LISTEN: ${taken}`)],
    [1, expect.stringContaining('MESH_STUN_LISTEN: is off; set it to <host>:<port>')],
  ]);
});
