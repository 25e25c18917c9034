import { expect, test } from 'vitest';
import { startHarness } from '../kits/http/harness.ts';
import { oauthClient, REDIRECT } from '../kits/http/oauth-client.ts';

test('a client asks what its own tokens are worth, and learns nothing of others', async () => {
  await using harness = await startHarness();
  const person = await harness.workspace();
  const client = oauthClient(harness);
  const { clientId, agent, tokens } = await client.letIn(person);
  const other = await client.register({ client_name: 'Other', redirect_uris: [REDIRECT] });
  const ask = async (id: string, token: string) =>
    (await client.post('/oauth/introspect', { client_id: id, token })).body;
  expect(await ask(clientId, tokens.access_token)).toMatchObject({
    active: true,
    client_id: clientId,
    scope: 'network:read intents:plan',
    aud: `${harness.url}/mcp`,
    exp: expect.any(Number),
  });
  expect(await ask(clientId, tokens.refresh_token)).toMatchObject({ active: true });
  expect(await ask(other, tokens.access_token)).toEqual({ active: false });
  expect(await ask(clientId, `mesh-oat-${'A'.repeat(43)}`)).toEqual({ active: false });
  // Asking counts as no use.
  const { body: renewed } = await client.refresh(clientId, tokens.refresh_token);
  expect(await ask(clientId, tokens.access_token)).toEqual({ active: false });
  await harness.api('DELETE', `/api/v1/agents/${agent}`, person);
  expect(await ask(clientId, renewed.access_token)).toEqual({ active: false });
});
