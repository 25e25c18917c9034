import { expect, test } from 'vitest';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { agent } from '../../test/kits/plane/kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('an API token does what it was given, and no more', async () => {
  await using kit = await buildPeopleKit();
  const { token, scopes, workspaceId } = await kit.ada('create_api_token', { name: 'ci', scopes: ['network:read'] });
  expect({ scopes, workspaceId }).toEqual({ scopes: ['network:read'], workspaceId: kit.prod });
  const ci = kit.askWith(token);
  expect((await ci('list_networks')).items).toHaveLength(1);
  expect(await refusalOf(ci('take_snapshot'))).toBe('forbidden snapshots:write');
});

test('a token holds no more than its maker, never approves, and only a signed-in person makes one', async () => {
  await using kit = await buildPeopleKit();
  expect(await refusalOf(kit.vic('create_api_token', { name: 'ci', scopes: ['network:write'] }))).toBe(
    'forbidden network:write',
  );
  expect(await refusalOf(kit.ada('create_api_token', { name: 'ci', scopes: ['workflows:approve'] }))).toBe(
    'invalid_input /scopes',
  );
  expect(await refusalOf(kit.ada('create_api_token', { name: 'ci', expiry: '400d' }))).toBe('invalid_input /expiry');
  expect(
    await refusalOf(
      kit.call(
        { name: 'create_api_token' },
        { name: 'ci' },
        { as: agent(['network:read'], kit.prod), workspace: kit.prod },
      ),
    ),
  ).toBe('forbidden person');
});
