import { expect, test } from 'vitest';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { agent } from '../../test/kits/plane/kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a session that is logged out is refused from then on, and others go on', async () => {
  await using kit = await buildPeopleKit();
  const other = kit.askWith(await kit.sessionOf('ada'));
  expect(await kit.ada('log_out')).toEqual({ ended: true });
  expect(await refusalOf(kit.ada('get_me'))).toBe('unauthenticated');
  expect(await other('get_me')).toMatchObject({ username: 'ada' });
});

test('only a session is logged out: an API token and an agent are refused', async () => {
  await using kit = await buildPeopleKit();
  const { token } = await kit.ada('create_api_token', { name: 'ci', scopes: ['network:read'] });
  expect(await refusalOf(kit.askWith(token)('log_out'))).toBe('forbidden');
  expect(
    await refusalOf(kit.call({ name: 'log_out' }, {}, { as: agent(['network:read'], kit.prod), workspace: kit.prod })),
  ).toBe('forbidden person');
});
