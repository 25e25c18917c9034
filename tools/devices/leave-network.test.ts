import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a device that leaves is answered by its name, and its token ends', async () => {
  await using kit = await buildWorkspaceKit();
  const { self } = await kit.join('web-1');
  expect(await kit.call('leave_network', {}, self)).toEqual({ deleted: 'web-1' });
  expect(await refusalOf(kit.call('leave_network', {}, self))).toBe('unauthenticated');
  expect((await kit.ask('list_peers')).items).toEqual([]);
});

test('only a device is answered, and it needs its own token', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.join('web-1');
  expect(await refusalOf(kit.ask('leave_network', {}))).toBe('forbidden device');
  expect(await refusalOf(kit.call('leave_network', {}))).toBe('unauthenticated');
});
