import { expect, test } from 'vitest';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a disabled account has no session any more, and logs in to none', async () => {
  await using kit = await buildPeopleKit();
  expect(await kit.root('update_user', { username: 'vic', disabled: true })).toMatchObject({ disabled: true });
  expect(await refusalOf(kit.vic('get_me'))).toBe('unauthenticated');
});

test('an account has the name to be shown by that it is given', async () => {
  await using kit = await buildPeopleKit();
  const updated = await kit.root('update_user', { username: 'vic', displayName: ' Victoria ' });
  expect(updated).toMatchObject({ username: 'vic', displayName: 'Victoria' });
});

test('an account is changed where there is one, to a role that there is, by who has users:write', async () => {
  await using kit = await buildPeopleKit();
  expect(await refusalOf(kit.root('update_user', { username: 'nobody', disabled: true }))).toBe('not_found');
  expect(await refusalOf(kit.root('update_user', { username: 'vic', role: 'king' }))).toBe('invalid_input /role');
  expect(await refusalOf(kit.ada('update_user', { username: 'vic', disabled: true }))).toBe('forbidden users:write');
});
