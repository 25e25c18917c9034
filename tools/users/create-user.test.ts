import { expect, test } from 'vitest';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a new account logs in with its password, which it is asked to change', async () => {
  await using kit = await buildPeopleKit();
  const made = await kit.root('create_user', { username: 'bob', password: 'long-Enough-1' });
  expect(made).toMatchObject({ username: 'bob', role: 'user', disabled: false, passwordChangeRequired: true });
  const session = await kit.call({ name: 'log_in' }, { username: 'bob', password: 'long-Enough-1' });
  expect(session).toMatchObject({ token: expect.any(String), passwordChangeRequired: true });
});

test('an account needs a name that is free, a password of 8 characters, and a maker with users:write', async () => {
  await using kit = await buildPeopleKit();
  expect(await refusalOf(kit.root('create_user', { username: 'ada', password: 'long-Enough-1' }))).toBe('conflict');
  expect(await refusalOf(kit.root('create_user', { username: 'b b', password: 'long-Enough-1' }))).toBe(
    'invalid_input /username',
  );
  expect(await refusalOf(kit.root('create_user', { username: 'bob', password: 'short' }))).toBe(
    'invalid_input /password',
  );
  expect(await refusalOf(kit.ada('create_user', { username: 'bob', password: 'long-Enough-1' }))).toBe(
    'forbidden users:write',
  );
});
