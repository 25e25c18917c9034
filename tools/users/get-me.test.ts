import { expect, test } from 'vitest';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { agent } from '../../test/kits/plane/kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a person is shown their account, and where they are a member with what role and scopes', async () => {
  await using kit = await buildPeopleKit();
  const me = await kit.vic('get_me');
  expect(me).toMatchObject({ username: 'vic', interactive: true, omitted_workspaces: 0 });
  expect(me.workspaces).toMatchObject([{ id: kit.prod, slug: 'prod', role: 'viewer' }]);
  expect(me.workspaces[0].scopes).toContain('network:read');
});

test('an API token shows what it may do itself, and an agent has no account', async () => {
  await using kit = await buildPeopleKit();
  const { token } = await kit.ada('create_api_token', { name: 'ci', scopes: ['network:read'] });
  const { interactive, workspaces } = await kit.askWith(token)('get_me');
  expect([interactive, workspaces[0].scopes]).toEqual([false, ['network:read']]);
  expect(await refusalOf(kit.ada('get_me', { of: 'vic' }))).toBe('invalid_input /of');
  expect(
    await refusalOf(kit.call({ name: 'get_me' }, {}, { as: agent(['network:read'], kit.prod), workspace: kit.prod })),
  ).toBe('forbidden person');
});
