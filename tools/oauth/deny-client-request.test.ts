import { expect, test } from 'vitest';
import { askToBeLetIn } from '../../test/kits/plane/client-request.ts';
import { buildKit, person } from '../../test/kits/plane/kit.ts';

test('a refused client is sent back without a grant, and its request is decided', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  const as = person('admin', workspace);
  const id = await askToBeLetIn(kit);
  const { url } = await kit.call('deny_client_request', { id }, { as });
  expect(url).toMatch(new RegExp(`/oauth/authorize/${id}\\?key=[\\w-]{22}$`));
  expect((await kit.services.oauthRequests.find(id))?.decision).toEqual({ account: as.id, key: expect.any(String) });
  await expect(kit.call('deny_client_request', { id }, { as })).rejects.toMatchObject({ code: 'conflict' });
  await expect(kit.call('allow_client_request', { id }, { as, workspace })).rejects.toMatchObject({ code: 'conflict' });
  expect((await kit.call('list_agents', {}, { as, workspace })).items).toEqual([]);
});
