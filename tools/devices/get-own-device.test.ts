import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a device is shown as the peer that it is', async () => {
  await using kit = await buildWorkspaceKit();
  const { id, self } = await kit.join('web-1');
  expect(await kit.call('get_own_device', {}, self)).toEqual(await kit.ask('get_peer', { id }));
});

test('only a device is answered, and it needs its own token', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.join('web-1');
  expect(await refusalOf(kit.ask('get_own_device', {}))).toBe('forbidden device');
  expect(await refusalOf(kit.call('get_own_device', {}))).toBe('unauthenticated');
});
