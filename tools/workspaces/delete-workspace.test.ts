import { expect, test } from 'vitest';
import { freshKey } from '../../test/kits/plane/devices.ts';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a deleted workspace is not found by its members any more', async () => {
  await using kit = await buildPeopleKit();
  expect(await kit.root('delete_workspace')).toEqual({ deleted: true });
  expect(await refusalOf(kit.vic('get_workspace'))).toBe('not_found');
});

test('a workspace with peers stays, and deleting one needs workspaces:write', async () => {
  await using kit = await buildPeopleKit();
  const { token } = await kit.ada('generate_join_token', { name: 'web' });
  const device = { name: 'web-1', publicKey: freshKey().publicKey };
  await kit.call({ name: 'register_device' }, device, { bearer: token });
  expect(await refusalOf(kit.root('delete_workspace'))).toBe('conflict');
  expect(await refusalOf(kit.ada('delete_workspace'))).toBe('forbidden workspaces:write');
});
