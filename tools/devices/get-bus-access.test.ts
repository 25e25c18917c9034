import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a device is told where the bus is, and nothing to sign in with where the bus knows nobody by a key', async () => {
  await using kit = await buildWorkspaceKit();
  const { self } = await kit.join('web-1');
  expect(await kit.call('get_bus_access', {}, self)).toEqual({ signalingUrl: kit.services.settings.signalingUrl });
});

test('a device that is revoked is told nothing, and nobody but a device is', async () => {
  await using kit = await buildWorkspaceKit();
  const { self, id } = await kit.join('web-1');
  await kit.ask('revoke_peer', { id });
  expect(await refusalOf(kit.call('get_bus_access', {}, self))).toMatch(/^forbidden/);
  expect(await refusalOf(kit.ask('get_bus_access', {}))).toBe('forbidden device');
});
