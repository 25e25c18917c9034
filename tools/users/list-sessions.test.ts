import { expect, test } from 'vitest';
import { ADMIN_PASSWORD, buildPeopleKit, START } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const HOURS_12 = 12 * 3_600_000;

test('a person sees their own sessions that go on, and which one it is that asks', async () => {
  await using kit = await buildPeopleKit();
  const other = kit.askWith(await kit.sessionOf('ada'));
  const { items } = await other('list_sessions');
  expect(items).toHaveLength(2);
  expect(items.filter(({ current }: { current: boolean }) => current)).toHaveLength(1);
  for (const item of items) {
    expect(item).toEqual({
      id: expect.stringMatching(/^ses_/),
      current: expect.any(Boolean),
      createdAt: new Date(START).toISOString(),
      expiresAt: new Date(START + HOURS_12).toISOString(),
    });
  }
  await kit.ada('log_out');
  expect((await other('list_sessions')).items).toMatchObject([{ current: true }]);
});

test('a session says what signed in, as far as that said it of itself', async () => {
  await using kit = await buildPeopleKit();
  const login = { username: 'admin', password: ADMIN_PASSWORD, client: 'Firefox on Linux' };
  const { token } = await kit.call<{ token: string }>('log_in', login, { origin: '198.51.100.7' });
  const { items } = await kit.askWith(token)('list_sessions');
  const own = items.find(({ current }: { current: boolean }) => current);
  expect(own).toMatchObject({ client: 'Firefox on Linux', origin: '198.51.100.7' });
});

test('an API token is not told where its person is signed in', async () => {
  await using kit = await buildPeopleKit();
  const { token } = await kit.ada('create_api_token', { name: 'ci' });
  expect(await refusalOf(kit.askWith(token)('list_sessions'))).toMatch(/^forbidden/);
});
