import { expect, test } from 'vitest';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a deleted account is no member and has no session any more', async () => {
  await using kit = await buildPeopleKit();
  expect(await kit.root('delete_user', { username: 'vic' })).toEqual({ deleted: true });
  expect(await refusalOf(kit.vic('get_me'))).toBe('unauthenticated');
  const { items } = await kit.ada('list_members');
  expect(items.map(({ username }: { username: string }) => username)).toEqual(['ada']);
});

test('nobody deletes their own account or one that there is not, and it needs users:write', async () => {
  await using kit = await buildPeopleKit();
  expect(await refusalOf(kit.root('delete_user', { username: 'admin' }))).toBe('conflict');
  expect(await refusalOf(kit.root('delete_user', { username: 'nobody' }))).toBe('not_found');
  expect(await refusalOf(kit.ada('delete_user', { username: 'vic' }))).toBe('forbidden users:write');
});
