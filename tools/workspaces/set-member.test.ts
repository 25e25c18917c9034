import { expect, test } from 'vitest';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a member has its new role at once', async () => {
  await using kit = await buildPeopleKit();
  expect(await kit.ada('set_member', { username: 'vic', role: 'operator' })).toMatchObject({
    username: 'vic',
    role: 'operator',
  });
  expect((await kit.vic('get_me')).workspaces).toMatchObject([{ role: 'operator' }]);
});

test('a role is one that there is, a name one that can be, and setting it needs members:write', async () => {
  await using kit = await buildPeopleKit();
  expect(await refusalOf(kit.ada('set_member', { username: 'vic', role: 'king' }))).toBe('invalid_input /role');
  expect(await refusalOf(kit.ada('set_member', { username: 'b b', role: 'viewer' }))).toBe('invalid_input /username');
  expect(await refusalOf(kit.vic('set_member', { username: 'vic', role: 'admin' }))).toBe('forbidden members:write');
});
