import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a deleted peer is answered by its name, its token ends, and its name is free', async () => {
  await using kit = await buildWorkspaceKit();
  const { id, self } = await kit.join('web-1');
  expect(await kit.ask('delete_peer', { id })).toEqual({ deleted: 'web-1' });
  expect(await refusalOf(kit.call('get_own_device', {}, self))).toBe('unauthenticated');
  expect(await kit.join('web-1')).toMatchObject({ name: 'web-1' });
});

test('a peer is deleted where it is, by who has network:write', async () => {
  await using kit = await buildWorkspaceKit();
  const { id } = await kit.join('web-1');
  expect(await refusalOf(kit.ask('delete_peer', { id: 'db-1' }))).toBe('not_found');
  expect(await refusalOf(kit.foreign('delete_peer', { id }))).toBe('not_found');
  expect(await refusalOf(kit.as('viewer')('delete_peer', { id }))).toBe('forbidden network:write');
});
