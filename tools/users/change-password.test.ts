import { expect, test } from 'vitest';
import { ADMIN_PASSWORD, buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a person logs in with the new password alone, and the sessions there were have ended', async () => {
  await using kit = await buildPeopleKit();
  const passwords = { oldPassword: ADMIN_PASSWORD, newPassword: 'second-Admin-pass' };
  expect(await kit.root('change_password', passwords)).toEqual({ changed: true });
  expect(await refusalOf(kit.root('get_me'))).toBe('unauthenticated');
  expect(await refusalOf(kit.login('admin', ADMIN_PASSWORD))).toBe('unauthenticated');
  expect(await kit.login('admin', passwords.newPassword)).toEqual(expect.any(String));
});

test('the old password has to be right, the new one long enough, and both are there', async () => {
  await using kit = await buildPeopleKit();
  expect(await refusalOf(kit.root('change_password', { oldPassword: 'wrong', newPassword: 'second-Admin-pass' }))).toBe(
    'invalid_input /oldPassword',
  );
  expect(await refusalOf(kit.root('change_password', { oldPassword: ADMIN_PASSWORD, newPassword: 'short' }))).toBe(
    'invalid_input /newPassword',
  );
  expect(await refusalOf(kit.root('change_password', { newPassword: 'second-Admin-pass' }))).toBe(
    'invalid_input /oldPassword',
  );
});
