import { expect, test } from 'vitest';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { agent } from '../../test/kits/plane/kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('everybody sees the API tokens of their own, without secrets', async () => {
  await using kit = await buildPeopleKit();
  const { token, ...made } = await kit.ada('create_api_token', { name: 'ci', scopes: ['network:read'] });
  expect(await kit.ada('list_api_tokens')).toEqual({ items: [made] });
  expect(await kit.vic('list_api_tokens')).toEqual({ items: [] });
  expect(JSON.stringify(await kit.ada('list_api_tokens'))).not.toContain(token);
});

test('a list of API tokens takes no limit above 200, and needs an account', async () => {
  await using kit = await buildPeopleKit();
  expect(await refusalOf(kit.ada('list_api_tokens', { limit: 201 }))).toBe('invalid_input /limit');
  expect(
    await refusalOf(
      kit.call({ name: 'list_api_tokens' }, {}, { as: agent(['network:read'], kit.prod), workspace: kit.prod }),
    ),
  ).toBe('forbidden person');
});
