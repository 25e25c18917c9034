import { connect } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { draftOf } from '../../core/base/record.ts';
import { busSecretOf } from '../../core/identity/device-token.ts';
import { tokenName } from '../../core/model/token-record.ts';
import { generateKeyPair } from '../../net/seal/x25519.ts';
import { busNode } from '../kits/http/bus-node.ts';
import { startHarness } from '../kits/http/harness.ts';
import { ALL_ON, join } from '../kits/http/wired-plane.ts';

test('a device from before the bus had credentials is refused with what to do, and works once it has done it', async () => {
  const first = await startHarness();
  const admin = await first.workspace();
  const idA = await join(first, admin, 'a');
  const { store } = first.plane.services;
  const key = { kind: 'Token', name: tokenName('dev', idA.id) } as const;
  const token = await store.get(admin.workspace, key);
  if (!token) throw new Error('no token');
  const { busDigest: _, ...spec } = token.spec;
  const record = { ...draftOf(token), spec };
  const context = { actor: 'system:test', reason: 'as it was once', requestId: 'seed' };
  await store.commit(admin.workspace, [{ op: 'update', record, revision: token.revision }], context);
  await first.stop();

  await using harness = await startHarness({
    directory: first.directory,
    env: { ...ALL_ON, MESH_SIGNALING_AUTH: 'token' },
  });
  const port = harness.plane.listeners.bus?.port ?? 0;
  const line = (words: string) => harness.log.map((text) => JSON.parse(text)).find(({ msg }) => msg.includes(words));
  expect(line('devices have no credential of the bus')).toMatchObject({
    level: 'warn',
    devices: 1,
    names: ['a'],
    msg: expect.stringContaining('POST /api/v1/devices/self/key'),
  });
  const secret = busSecretOf(idA.deviceToken);
  await expect(connect({ port, token: secret, reconnect: false })).rejects.toThrow(
    /Authorization Violation .*POST \/api\/v1\/devices\/self\/key .* or registers again/,
  );
  await expect
    .poll(() => line('the bus refused clients'), { timeout: 10_000 })
    .toMatchObject({
      level: 'warn',
      refused: 1,
      msg: expect.stringContaining('POST /api/v1/devices/self/key'),
    });
  expect(harness.log.join('\n')).not.toContain(secret);

  const pair = generateKeyPair();
  const publicKey = Buffer.from(pair.publicKey).toString('base64');
  const rotated = await harness.api('POST', '/api/v1/devices/self/key', {
    token: idA.deviceToken,
    body: { publicKey },
  });
  expect(rotated.status).toBe(200);
  await using a = await busNode(port, { ...idA, pair, deviceToken: rotated.body.deviceToken });
  await a.heartbeat();
  expect((await a.fetch()).self.id).toBe(idA.id);
});
