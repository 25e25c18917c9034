import { expect, test } from 'vitest';
import { findGrant } from '../../core/identity/oauth-grants.ts';
import { askToBeLetIn } from '../../test/kits/plane/client-request.ts';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('every session and grant of the person ends, while API tokens, agents and other people go on', async () => {
  await using kit = await buildPeopleKit();
  const other = kit.askWith(await kit.sessionOf('ada'));
  const request = await askToBeLetIn(kit);
  const { agent } = await kit.ada('allow_client_request', { id: request, scopes: ['network:read'] });
  const { grantId = '' } = (await kit.services.oauthRequests.find(request))?.decision ?? {};
  const { token } = await kit.ada('create_api_token', { name: 'ci' });
  expect(await kit.ada('log_out_everywhere')).toEqual({ sessions: 2, grants: 1 });
  expect(await refusalOf(kit.ada('get_me'))).toBe('unauthenticated');
  expect(await refusalOf(other('get_me'))).toBe('unauthenticated');
  expect(await findGrant(kit.services, grantId)).toBeUndefined();
  expect(await kit.askWith(token)('get_me')).toMatchObject({ username: 'ada' });
  expect(await kit.root('get_agent', { id: agent })).toMatchObject({ phase: 'Active' });
  expect((await kit.events()).at(-1)).toMatchObject({
    type: 'logout',
    actor: 'user:ada',
    detail: { sessions: 2, grants: 1 },
  });
});

test('an API token signs nobody out', async () => {
  await using kit = await buildPeopleKit();
  const { token } = await kit.ada('create_api_token', { name: 'ci' });
  expect(await refusalOf(kit.askWith(token)('log_out_everywhere'))).toMatch(/^forbidden/);
  expect(await kit.ada('get_me')).toMatchObject({ username: 'ada' });
});
