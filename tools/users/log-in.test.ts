import { expect, test } from 'vitest';
import { ADMIN_PASSWORD, buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a name and its password are exchanged for a session of 12 hours', async () => {
  await using kit = await buildPeopleKit();
  const session = await kit.call({ name: 'log_in' }, { username: 'admin', password: ADMIN_PASSWORD });
  expect(session).toMatchObject({ expiresAt: '2026-01-16T00:00:00.000Z' });
  expect(await kit.askWith(String(session['token']))('get_me')).toMatchObject({ username: 'admin' });
});

test('a wrong password and an unknown name are refused alike, and a missing one by its field', async () => {
  await using kit = await buildPeopleKit();
  const logIn = (raw: Record<string, unknown>) => kit.call({ name: 'log_in' }, raw);
  expect(await refusalOf(logIn({ username: 'admin', password: 'wrong' }))).toBe('unauthenticated');
  expect(await refusalOf(logIn({ username: 'nobody', password: 'wrong' }))).toBe('unauthenticated');
  expect(await refusalOf(logIn({ username: 'admin' }))).toBe('invalid_input /password');
});
