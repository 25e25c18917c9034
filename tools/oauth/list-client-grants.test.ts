import { expect, test } from 'vitest';
import { askToBeLetIn } from '../../test/kits/plane/client-request.ts';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a person sees the clients that act for them with their agents, and those of nobody else', async () => {
  await using kit = await buildPeopleKit();
  const consent = { scopes: ['network:read'], ttl: '2h' };
  const { agent } = await kit.ada('allow_client_request', { id: await askToBeLetIn(kit), ...consent });
  await kit.root('allow_client_request', { id: await askToBeLetIn(kit), ...consent });
  const { items } = await kit.ada('list_client_grants');
  expect(items).toEqual([
    {
      id: expect.stringMatching(/^tok_/),
      client: { name: 'Planner', host: 'planner.example' },
      resource: 'http://127.0.0.1:18090/mcp',
      workspace: expect.any(String),
      agent,
      scopes: ['network:read'],
      grantedAt: expect.any(String),
      expiresAt: (await kit.ada('get_agent', { id: agent })).expiresAt,
    },
  ]);
  expect((await kit.vic('list_client_grants')).items).toEqual([]);
});

test('a grant whose agent ended is not listed, and no token learns of any', async () => {
  await using kit = await buildPeopleKit();
  const { agent } = await kit.ada('allow_client_request', { id: await askToBeLetIn(kit), scopes: ['network:read'] });
  await kit.ada('revoke_agent', { id: agent });
  expect((await kit.ada('list_client_grants')).items).toEqual([]);
  const { token } = await kit.ada('create_api_token', { name: 'ci' });
  expect(await refusalOf(kit.askWith(token)('list_client_grants'))).toMatch(/^forbidden/);
});
