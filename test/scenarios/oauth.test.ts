import { expect, test } from 'vitest';
import { startHarness } from '../kits/http/harness.ts';
import { oauthClient, REDIRECT } from '../kits/http/oauth-client.ts';

const LIST = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const MCP = { accept: 'application/json, text/event-stream' };

test('a client that a person lets in calls tools as an agent of that person, and no longer than it lives', async () => {
  await using harness = await startHarness();
  const { api, url } = harness;
  const person = await harness.workspace();
  const client = oauthClient(harness);

  const refused = await api('POST', '/mcp', { body: LIST, headers: MCP });
  expect(refused.status).toBe(401);
  expect(refused.headers.get('www-authenticate')).toContain(
    `resource_metadata="${url}/.well-known/oauth-protected-resource/mcp", scope="network:read snapshots:read intents:plan intents:apply"`,
  );
  const metadata = await api('GET', '/.well-known/oauth-protected-resource/mcp');
  expect(metadata.body).toMatchObject({ resource: `${url}/mcp`, authorization_servers: [url] });
  expect((await api('GET', '/.well-known/oauth-authorization-server')).body).toMatchObject({
    issuer: url,
    authorization_endpoint: `${url}/oauth/authorize`,
    token_endpoint: `${url}/oauth/token`,
    registration_endpoint: `${url}/oauth/register`,
    revocation_endpoint: `${url}/oauth/revoke`,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
  });

  const { agent, answer, tokens } = await client.letIn(person);
  expect([answer.get('iss'), answer.get('state')]).toEqual([url, 'of the client']);
  expect(tokens).toMatchObject({ token_type: 'Bearer', scope: 'network:read intents:plan', expires_in: 3_600 });
  const call = (token: string) => api('POST', '/mcp', { token, body: LIST, headers: MCP });
  expect((await call(tokens.access_token)).status).toBe(200);
  const shown = await api('GET', `/api/v1/agents/${agent}`, person);
  expect(shown.body).toMatchObject({
    name: 'planner-admin',
    person: 'admin',
    scopes: ['network:read', 'intents:plan'],
    reach: [],
    client: { name: 'Planner', host: 'this machine', resource: `${url}/mcp` },
  });

  await api('DELETE', `/api/v1/agents/${agent}`, person);
  const ended = await call(tokens.access_token);
  expect(ended.status).toBe(401);
  expect(ended.headers.get('www-authenticate')).toContain('error="invalid_token", error_description="This token is');
  expect(ended.body).toMatchObject({ code: 'unauthenticated', error: 'invalid_token' });
  expect(
    harness.log.filter((line) => line.includes(tokens.access_token) || line.includes(tokens.refresh_token)),
  ).toEqual([]);
});

test('a refresh token counts once: used again, it ends the grant', async () => {
  await using harness = await startHarness();
  const person = await harness.workspace();
  const client = oauthClient(harness);
  const { clientId, tokens } = await client.letIn(person);
  const second = await client.refresh(clientId, tokens.refresh_token);
  expect(second.body).toMatchObject({
    access_token: expect.stringMatching(/^mesh-oat-/),
    scope: 'network:read intents:plan',
  });
  const call = (token: string) => harness.api('POST', '/mcp', { token, body: LIST, headers: MCP });
  expect((await call(tokens.access_token)).status).toBe(401);
  expect((await call(second.body.access_token)).status).toBe(200);
  const again = await client.refresh(clientId, tokens.refresh_token);
  expect([again.status, again.body.error]).toEqual([400, 'invalid_grant']);
  expect((await call(second.body.access_token)).status).toBe(401);
  expect((await client.refresh(clientId, second.body.refresh_token)).body.error).toBe('invalid_grant');
});

test('to let the same client in again changes its agent, and makes no other', async () => {
  await using harness = await startHarness();
  const person = await harness.workspace();
  const client = oauthClient(harness);
  const first = await client.letIn(person);
  const again = await client.letIn(person, { scopes: ['network:read'], ttl: '1h' });
  expect([again.clientId, again.agent]).toEqual([first.clientId, first.agent]);
  const { body } = await harness.api('GET', '/api/v1/agents', person);
  expect(body.items.map(({ scopes, ttl }: { scopes: string[]; ttl: string }) => [scopes, ttl])).toEqual([
    [['network:read'], '1h'],
  ]);
});

test('a person who refuses sends the client back with access_denied, and makes nothing', async () => {
  await using harness = await startHarness();
  const person = await harness.workspace();
  const client = oauthClient(harness);
  const id = await client.open(client.request(await client.register()).address);
  const asked = await harness.api('GET', `/api/v1/oauth/requests/${id}`, person);
  expect(asked.body).toMatchObject({
    client: { name: 'Planner', host: 'this machine', redirectUri: REDIRECT },
    scopes: ['network:read', 'snapshots:read', 'intents:plan'],
    isDecided: false,
  });
  const { body } = await harness.api('POST', `/api/v1/oauth/requests/${id}/deny`, person);
  expect((await client.goOn(body.url)).get('error')).toBe('access_denied');
  expect((await harness.api('GET', '/api/v1/agents', person)).body.items).toEqual([]);
});
