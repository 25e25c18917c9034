import { expect, test } from 'vitest';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { agent } from '../../test/kits/plane/kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a revoked API token is refused from then on', async () => {
  await using kit = await buildPeopleKit();
  const { id, token } = await kit.ada('create_api_token', { name: 'ci', scopes: ['network:read'] });
  expect(await kit.ada('revoke_api_token', { id })).toEqual({ revoked: true });
  expect(await refusalOf(kit.askWith(token)('list_networks'))).toBe('unauthenticated');
});

test('nobody revokes the API token of another, and no agent one at all', async () => {
  await using kit = await buildPeopleKit();
  const { id } = await kit.ada('create_api_token', { name: 'ci', scopes: ['network:read'] });
  expect(await refusalOf(kit.vic('revoke_api_token', { id }))).toBe('not_found');
  expect(await refusalOf(kit.ada('revoke_api_token', { id: 'tok_none' }))).toBe('not_found');
  expect(
    await refusalOf(
      kit.call({ name: 'revoke_api_token' }, { id }, { as: agent(['network:read'], kit.prod), workspace: kit.prod }),
    ),
  ).toBe('forbidden person');
});
