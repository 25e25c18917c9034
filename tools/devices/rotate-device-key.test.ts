import { expect, test } from 'vitest';
import { freshKey } from '../../test/kits/plane/devices.ts';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a device that changes its key gets another token, and the one that it had ends', async () => {
  await using kit = await buildWorkspaceKit();
  const { id, self } = await kit.join('web-1');
  const { publicKey } = freshKey();
  const rotated = await kit.call('rotate_device_key', { publicKey }, self);
  expect(rotated).toMatchObject({ id, publicKey });
  expect(await refusalOf(kit.call('get_own_device', {}, self))).toBe('unauthenticated');
  expect(await kit.call('get_own_device', {}, { bearer: rotated.deviceToken })).toMatchObject({ id, publicKey });
});

test('a key is 32 bytes and of one device alone, and only a device changes its own', async () => {
  await using kit = await buildWorkspaceKit();
  const { self } = await kit.join('web-1');
  const { key } = await kit.join('db-1');
  expect(await refusalOf(kit.call('rotate_device_key', { publicKey: 'AAAA' }, self))).toBe('invalid_input /publicKey');
  expect(await refusalOf(kit.call('rotate_device_key', { publicKey: key.publicKey }, self))).toBe('conflict');
  expect(await refusalOf(kit.ask('rotate_device_key', { publicKey: freshKey().publicKey }))).toBe('forbidden device');
});

test('a device that changes its key in a loop waits half a minute for each, and asks for the one that it has as often as it likes', async () => {
  await using kit = await buildWorkspaceKit();
  const { id, self } = await kit.join('web-1');
  const { publicKey } = freshKey();
  const first = await kit.call('rotate_device_key', { publicKey }, self);
  const own = { bearer: first.deviceToken };
  const refused = await kit.call('rotate_device_key', { publicKey: freshKey().publicKey }, own).catch((error) => error);
  expect(refused).toMatchObject({ code: 'rate_limited', details: { retryAfterSeconds: 30 } });
  const again = await kit.call('rotate_device_key', { publicKey }, own);
  expect(again).toMatchObject({ id, publicKey });
  kit.clock.time += 30_000;
  const next = freshKey();
  const asked = { publicKey: next.publicKey };
  expect(await kit.call('rotate_device_key', asked, { bearer: again.deviceToken })).toMatchObject({ id, ...asked });
});
