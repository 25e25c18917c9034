import { expect, test } from 'vitest';
import { findGrant } from '../../core/identity/oauth-grants.ts';
import { askToBeLetIn } from '../../test/kits/plane/client-request.ts';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a person ends a grant of theirs: its agent goes on, and says that its client is signed out', async () => {
  await using kit = await buildPeopleKit();
  const request = await askToBeLetIn(kit);
  const { agent } = await kit.ada('allow_client_request', { id: request, scopes: ['network:read'] });
  const client = async () => [
    (await kit.ada('get_agent', { id: agent })).client,
    (await kit.ada('list_agents')).items.find(({ name }: { name: string }) => name === agent).client,
  ];
  for (const shown of await client()) expect(shown).not.toHaveProperty('signedOut');
  const { grantId = '' } = (await kit.services.oauthRequests.find(request))?.decision ?? {};
  const [{ id }] = (await kit.ada('list_client_grants')).items;
  expect(await kit.ada('end_client_grant', { id })).toEqual({ ended: true });
  expect(await findGrant(kit.services, grantId)).toBeUndefined();
  expect(await kit.ada('get_agent', { id: agent })).toMatchObject({ phase: 'Active' });
  expect(await client()).toMatchObject([{ signedOut: true }, { signedOut: true }]);
  expect(await refusalOf(kit.ada('end_client_grant', { id }))).toBe('not_found');
});

test('a grant of somebody else, and one that there is not, are refused alike', async () => {
  await using kit = await buildPeopleKit();
  await kit.ada('allow_client_request', { id: await askToBeLetIn(kit), scopes: ['network:read'] });
  const [{ id }] = (await kit.ada('list_client_grants')).items;
  expect(await refusalOf(kit.root('end_client_grant', { id }))).toBe('not_found');
  expect(await refusalOf(kit.ada('end_client_grant', { id: 'tok_nobody' }))).toBe('not_found');
  expect((await kit.ada('list_client_grants')).items).toHaveLength(1);
});
