import { expect, test } from 'vitest';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('everybody sees what was called with an API token of their own, and nobody else does', async () => {
  await using kit = await buildPeopleKit();
  const { id, token } = await kit.ada('create_api_token', { name: 'ci', scopes: ['network:read'] });
  expect(await kit.ada('list_api_token_calls', { id })).toEqual({ items: [] });
  await kit.call({ name: 'list_policies' }, {}, { bearer: token, workspace: kit.prod });
  const { items } = await kit.ada('list_api_token_calls', { id });
  expect(items).toMatchObject([{ operation: 'list_policies', outcome: 'ok', input: '{}', result: '{"items":[]}' }]);
  expect(await refusalOf(kit.vic('list_api_token_calls', { id }))).toBe('not_found');
});
