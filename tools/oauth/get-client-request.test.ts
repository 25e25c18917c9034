import { expect, test } from 'vitest';
import { askToBeLetIn, LIFE_MS } from '../../test/kits/plane/client-request.ts';
import { agent, buildKit, person } from '../../test/kits/plane/kit.ts';

test('a person sees who asks and where the codes of that client go, and nothing that lets it in', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  const id = await askToBeLetIn(kit, ['network:read']);
  expect(await kit.call('get_client_request', { id }, { as: person('viewer', workspace) })).toEqual({
    client: {
      key: expect.any(String),
      name: 'Planner',
      host: 'planner.example',
      redirectUri: 'https://planner.example/callback',
    },
    resource: 'http://127.0.0.1:18090/mcp',
    scopes: ['network:read'],
    isDecided: false,
  });
});

test('a request that is over, or was never made, is not found, and no token reads one', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  const id = await askToBeLetIn(kit);
  const as = person('admin', workspace);
  await expect(kit.call('get_client_request', { id }, { as: { ...as, interactive: false } })).rejects.toMatchObject({
    code: 'forbidden',
  });
  await expect(
    kit.call('get_client_request', { id }, { as: agent(['network:read'], workspace) }),
  ).rejects.toMatchObject({ code: 'forbidden' });
  kit.clock.time += LIFE_MS;
  for (const given of [id, 'none']) {
    await expect(kit.call('get_client_request', { id: given }, { as })).rejects.toMatchObject({ code: 'not_found' });
  }
});
