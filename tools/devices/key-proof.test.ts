import { expect, test } from 'vitest';
import { LOST_ANSWERS } from '../../core/enrolment/register.ts';
import {
  type DeviceKey,
  freshKey,
  type JoinedDevice,
  join,
  joinToken,
  proofOf,
} from '../../test/kits/plane/devices.ts';
import { buildKit, type Kit, person } from '../../test/kits/plane/kit.ts';

const MINUTE = 60_000;

async function enrolled(options: Parameters<typeof buildKit>[0] = {}) {
  const kit = await buildKit(options);
  const workspace = await kit.workspace();
  const token = await joinToken(kit, workspace);
  const prove = (key: DeviceKey, subject: string) => proofOf(key, subject, kit.services.keys.controlKey);
  return { kit, workspace, token, prove, [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose]() };
}

const rotate = (kit: Kit, { self }: JoinedDevice, input: object) => kit.call('rotate_device_key', { ...input }, self);

test('who knows token and public key of a device that was heard of gets neither its token nor in its way', async () => {
  await using place = await enrolled();
  const { kit, workspace, token } = place;
  const device = await join(kit, workspace, 'a', { token });
  await kit.call('send_heartbeat', {}, device.self);
  const again = await join(kit, workspace, 'a', { token, key: device.key });
  expect(again).toMatchObject({ id: device.id, existing: true });
  expect(again).not.toHaveProperty('deviceToken');
  expect(await kit.call('get_own_device', {}, device.self)).toMatchObject({ id: device.id });
});

test('nor once five minutes have passed in which the first answer may have been lost', async () => {
  await using place = await enrolled();
  const { kit, workspace, token } = place;
  const device = await join(kit, workspace, 'a', { token });
  kit.clock.time += 5 * MINUTE;
  expect(await join(kit, workspace, 'a', { token, key: device.key })).toHaveProperty('deviceToken');
  kit.clock.time += 1;
  expect(await join(kit, workspace, 'a', { token, key: device.key })).not.toHaveProperty('deviceToken');
});

test('nor more than three times, and what it is answered then writes nothing', async () => {
  await using place = await enrolled();
  const { kit, workspace, token } = place;
  const device = await join(kit, workspace, 'a', { token });
  const again = () => join(kit, workspace, 'a', { token, key: device.key });
  for (let count = 1; count <= LOST_ANSWERS; count += 1) expect(await again()).toHaveProperty('deviceToken');
  const written = async () => (await kit.services.store.audit(workspace, { limit: 100 })).length;
  const before = await written();
  for (let count = 1; count <= 20; count += 1) {
    expect(await again()).toMatchObject({ id: device.id, existing: true });
  }
  expect(await again()).not.toHaveProperty('deviceToken');
  expect(await written()).toBe(before);
});

test('nor the agent token of a sub-agent', async () => {
  await using place = await enrolled();
  const { kit, workspace } = place;
  const root = await kit.call('create_agent', { name: 'root' }, { as: person('admin', workspace), workspace });
  const { enrollmentToken } = await kit.call(
    'delegate_agent',
    { id: root.id, subAgentName: 'child', ttl: '1h', policyPreset: 'sandboxed' },
    { bearer: root.token },
  );
  const child = await join(kit, workspace, 'child', { token: enrollmentToken, platform: 'agent' });
  await kit.call('send_heartbeat', {}, child.self);
  const again = await join(kit, workspace, 'child', { token: enrollmentToken, key: child.key });
  expect(again).toMatchObject({ id: child.id, existing: true });
  expect(Object.keys(again)).not.toContain('agentToken');
});

test('a proof brings a device that lost its token another one at any time, and it must prove its key from then on', async () => {
  await using place = await enrolled();
  const { kit, workspace, token, prove } = place;
  const device = await join(kit, workspace, 'a', { token });
  await kit.call('send_heartbeat', {}, device.self);
  const proof = prove(device.key, token);
  const again = await join(kit, workspace, 'a', { token, key: device.key, proof });
  expect(await kit.call('get_own_device', {}, again.self)).toMatchObject({ id: device.id });
  await expect(kit.call('get_own_device', {}, device.self)).rejects.toMatchObject({ code: 'unauthenticated' });
  await expect(join(kit, workspace, 'a', { token, key: device.key })).rejects.toMatchObject({ code: 'conflict' });
});

test('without a proof no key comes in that a device of another workspace holds, and its holder may come to both', async () => {
  await using place = await enrolled();
  const { kit, workspace, token, prove } = place;
  const { key } = await join(kit, workspace, 'a', { token });
  const other = await kit.workspace();
  const theirs = await joinToken(kit, other);
  await expect(join(kit, other, 'a', { token: theirs, key })).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('proof'),
  });
  const thief = await join(kit, other, 'thief', { token: theirs });
  await expect(rotate(kit, thief, { publicKey: key.publicKey })).rejects.toMatchObject({ code: 'conflict' });
  expect(await join(kit, other, 'a', { token: theirs, key, proof: prove(key, theirs) })).toMatchObject({ name: 'a' });
});

test('nobody registers the key of the control plane', async () => {
  await using place = await enrolled();
  const { kit, workspace, token } = place;
  const key = { ...freshKey(), publicKey: Buffer.from(kit.services.keys.controlKey).toString('base64') };
  await expect(join(kit, workspace, 'a', { token, key })).rejects.toMatchObject({ code: 'conflict' });
});

test('a rotation proves the new key for the id of the device', async () => {
  await using place = await enrolled();
  const { kit, workspace, token, prove } = place;
  const device = await join(kit, workspace, 'a', { token });
  const key = freshKey();
  const { publicKey } = key;
  const wrong = { publicKey, proof: prove(key, 'p_another') };
  await expect(rotate(kit, device, wrong)).rejects.toMatchObject({ details: { errors: [{ pointer: '/proof' }] } });
  const rotated = await rotate(kit, device, { publicKey, proof: prove(key, device.id) });
  expect(rotated).toMatchObject({ id: device.id, publicKey });
  await expect(join(kit, workspace, 'a', { token, key })).rejects.toMatchObject({ code: 'conflict' });
});

test('where a proof is required nothing is registered or rotated without one', async () => {
  await using place = await enrolled({ registrationProof: 'required' });
  const { kit, workspace, token, prove } = place;
  const key = freshKey();
  const refusal = { code: 'invalid_input', details: { errors: [{ pointer: '/proof' }] } };
  await expect(join(kit, workspace, 'a', { token, key })).rejects.toMatchObject(refusal);
  const device = await join(kit, workspace, 'a', { token, key, proof: prove(key, token) });
  await expect(join(kit, workspace, 'a', { token, key })).rejects.toMatchObject(refusal);
  await expect(rotate(kit, device, { publicKey: freshKey().publicKey })).rejects.toMatchObject(refusal);
});
