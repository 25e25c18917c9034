import { once } from 'node:events';
import { get } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { startHarness } from '../kits/http/harness.ts';
import { oauthClient, REDIRECT } from '../kits/http/oauth-client.ts';

test('a request that is not to be trusted is refused before anybody is asked, and leads nowhere else', async () => {
  await using harness = await startHarness();
  const client = oauthClient(harness);
  const id = await client.register();
  const shown = async (clientId: string, over: Record<string, string>) => {
    const response = await client.browse(client.request(clientId, over).address);
    const location = response.headers.get('location');
    // The error of a response type whose answers are fragments is one too.
    return location === null ? response.status : new URL(location.replace('#', '?')).searchParams.get('error');
  };
  const [body = ''] = id.split('.').slice(1);
  const forged = id.replace(body, Buffer.from('["Mesh",["https://evil.example/"]]').toString('base64url'));
  // Who is not known, or does not get codes there, is told nothing at that address.
  expect(await shown(id, { redirect_uri: 'https://evil.example/callback' })).toBe(400);
  expect(await shown(id, { redirect_uri: `${REDIRECT}/other` })).toBe(400);
  expect(await shown(forged, {})).toBe(400);
  expect(await shown('https://evil.example/client.json', {})).toBe(400);
  expect(await shown(id, { code_challenge_method: 'plain' })).toBe('invalid_request');
  expect(await shown(id, { code_challenge: '' })).toBe('invalid_request');
  expect(await shown(id, { resource: 'https://other.example/mcp' })).toBe('invalid_target');
  expect(await shown(id, { resource: `${harness.url}/api/v1` })).toBe('invalid_target');
  expect(await shown(id, { response_type: 'token' })).toBe('unsupported_response_type');
  expect(await shown(id, { prompt: 'none' })).toBe('interaction_required');
});

test('before a person decided nobody is led to another machine, by an error either', async () => {
  await using harness = await startHarness();
  const client = oauthClient(harness);
  const away = 'https://app.example/callback';
  const id = await client.register({ client_name: 'Planner', redirect_uris: [away] });
  for (const over of [
    { prompt: 'none' },
    { prompt: 'none', response_mode: 'form_post' },
    { resource: 'https://b.example/mcp', response_mode: 'form_post' },
    { code_challenge: '' },
    { response_type: 'token' },
    { resource: 'https://b.example/mcp' },
  ]) {
    const response = await client.browse(client.request(id, { redirect_uri: away, ...over }).address);
    expect([response.status, response.headers.get('location')]).toEqual([400, null]);
    expect(await response.text()).toMatch(/^This client cannot be let in: .+\(\w+\)\.\n/);
  }
});

test('a request that another browser began goes on with no form of its path, and with no key of another request', async () => {
  await using harness = await startHarness();
  const person = await harness.workspace();
  const { url, api } = harness;
  const attacker = oauthClient(harness);
  const clientId = await attacker.register();
  const own = await attacker.open(attacker.request(clientId).address);
  const denied = await api('POST', `/api/v1/oauth/requests/${own}/deny`, person);
  const ownKey = new URL(denied.body.url).searchParams.get('key');
  // The cookies of the attacker are those of the second request from here on.
  const id = await attacker.open(attacker.request(clientId, { scope: 'network:read' }).address);
  const allowed = await api('POST', `/api/v1/oauth/requests/${id}/allow`, { ...person, body: {} });
  expect(allowed.status).toBe(200);
  const first = `%${id.charCodeAt(0).toString(16)}`;
  const paths = [
    ...[id, `${id}/`, `${first}${id.slice(1)}`, `${id}%2f`, 'x%41', 'x', '', '/', `./${id}`, `../authorize/${id}`],
    ...[`${own}?key=${ownKey}`, `${own}/?key=${ownKey}`, `${id}?key=${ownKey}`, `${id}?key=`],
  ];
  for (const path of [
    ...paths.map((one) => `/oauth/authorize/${one}`),
    `/oauth/AUTHORIZE/${id}`,
    `/oauth//authorize/${id}`,
  ]) {
    const response = await attacker.browse(`${url}${path}`);
    expect([path, response.headers.get('location') ?? '']).toEqual([path, expect.not.stringContaining('code=')]);
    expect([path, response.status]).toEqual([path, expect.toSatisfy((status: number) => status >= 400)]);
  }
});

test('any port of the loopback is the redirect of a client that named one', async () => {
  await using harness = await startHarness();
  const client = oauthClient(harness);
  const named = (port: number) => ({ client_name: 'Planner', redirect_uris: [`http://127.0.0.1:${port}/callback`] });
  const [one, other] = [await client.register(named(1_234)), await client.register(named(4_321))];
  expect(one).toBe(other);
  expect(await client.open(client.request(one, { redirect_uri: 'http://127.0.0.1:9/callback' }).address)).toBeTruthy();
});

test.each([
  ['no redirect', { client_name: 'x', redirect_uris: [] }, 'invalid_redirect_uri'],
  ['a redirect that runs a script', { redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
  ['a redirect over http to another machine', { redirect_uris: ['http://evil.example/'] }, 'invalid_redirect_uri'],
  ['a redirect with a fragment', { redirect_uris: ['https://a.example/#b'] }, 'invalid_redirect_uri'],
  ['a redirect with a user', { redirect_uris: ['https://mesh.example@a.example/'] }, 'invalid_redirect_uri'],
  ['too many redirects', { redirect_uris: Array(9).fill(REDIRECT) }, 'invalid_redirect_uri'],
  [
    "a scheme that is no application's own",
    { redirect_uris: ['view-source:https://a.example/'] },
    'invalid_redirect_uri',
  ],
  ['a scheme of the system', { redirect_uris: ['ms-msdt:x'] }, 'invalid_redirect_uri'],
  ['an address without its slashes', { redirect_uris: ['https:a.example'] }, 'invalid_redirect_uri'],
  ['an address of any host', { redirect_uris: ['https://*.a.example/'] }, 'invalid_redirect_uri'],
  ['an address of two lines', { redirect_uris: ['https://a.example/\n\rX: y'] }, 'invalid_redirect_uri'],
  ['a name that nobody sees', { client_name: '\u3164', redirect_uris: [REDIRECT] }, 'invalid_client_metadata'],
  ['a redirect that is too long', { redirect_uris: [`https://a.example/${'x'.repeat(600)}`] }, 'invalid_redirect_uri'],
  ['a name that hides its end', { client_name: 'Mesh\u202e', redirect_uris: [REDIRECT] }, 'invalid_client_metadata'],
  ['a name of two lines', { client_name: 'Mesh\n', redirect_uris: [REDIRECT] }, 'invalid_client_metadata'],
  ['a list', [], 'invalid_client_metadata'],
])('a registration with %s is refused as the standard says', async (_what, body, error) => {
  await using harness = await startHarness();
  const answer = await harness.api('POST', '/oauth/register', { body });
  expect([answer.status, answer.body.error]).toEqual([400, error]);
  expect(answer.body.error_description).toEqual(expect.any(String));
});

test('many registrations leave nothing in the store', async () => {
  await using harness = await startHarness();
  const client = oauthClient(harness);
  const { store } = harness.plane.services;
  const before = await store.revision('w_system');
  const ids = await Promise.all(
    Array.from({ length: 100 }, (_, nth) => client.register({ client_name: `c${nth}`, redirect_uris: [REDIRECT] })),
  );
  expect(new Set(ids).size).toBe(100);
  expect(await store.revision('w_system')).toBe(before);
});

test.each([
  ['nobody', REDIRECT, 403],
  ['local', 'https://claude.ai/api/mcp/auth_callback', 400],
  ['local', REDIRECT, 201],
  ['anyone', 'https://claude.ai/api/mcp/auth_callback', 201],
])('where %s may register, a client at %s is answered %i', async (registration, redirect, status) => {
  const config = {
    app: { oauth: { registration }, initAdmins: [{ username: 'admin', password: 'to be changed at once' }] },
  };
  await using harness = await startHarness({ config });
  const body = { client_name: 'Planner', redirect_uris: [redirect] };
  expect((await harness.api('POST', '/oauth/register', { body })).status).toBe(status);
});

test('a code counts once, for the client, redirect, verifier and resource that it was asked with', async () => {
  await using harness = await startHarness();
  const { api } = harness;
  const person = await harness.workspace();
  const client = oauthClient(harness);
  const id = await client.register();
  const other = await client.register({ client_name: 'Other', redirect_uris: [REDIRECT] });
  const code = async () => {
    const { address, verifier } = client.request(id);
    const request = await client.open(address);
    const { body } = await api('POST', `/api/v1/oauth/requests/${request}/allow`, { ...person, body: {} });
    return { verifier, code: (await client.goOn(body.url)).get('code') ?? '' };
  };
  const wrong = async (change: (given: { code: string; verifier: string }) => Promise<{ body: { error: string } }>) =>
    (await change(await code())).body.error;
  expect(await wrong(({ code: given }) => client.exchange(id, given, 'x'.repeat(43)))).toBe('invalid_grant');
  expect(await wrong((given) => client.exchange(other, given.code, given.verifier))).toBe('invalid_grant');
  expect(
    await wrong((given) => client.exchange(id, given.code, given.verifier, { redirect_uri: `${REDIRECT}2` })),
  ).toBe('invalid_grant');
  expect(
    await wrong((given) => client.exchange(id, given.code, given.verifier, { resource: 'https://other.example/mcp' })),
  ).toBe('invalid_target');
  const good = await code();
  const { body: tokens } = await client.exchange(id, good.code, good.verifier);
  expect((await client.exchange(id, good.code, good.verifier)).body.error).toBe('invalid_grant');
  // A code that is used again was stolen: what came of it ends.
  expect((await client.refresh(id, tokens.refresh_token)).body.error).toBe('invalid_grant');
  expect((await api('POST', '/mcp', { token: tokens.access_token, body: {} })).status).toBe(401);
});

test('a request that somebody else began does not go on with the decision of a person, nor without it', async () => {
  await using harness = await startHarness();
  const { api } = harness;
  const person = await harness.workspace();
  const [attacker, victim] = [oauthClient(harness), oauthClient(harness)];
  const id = await attacker.register();
  const request = await attacker.open(attacker.request(id).address);
  const early = await attacker.browse(`${harness.url}/oauth/authorize/${request}`);
  expect([early.status, early.headers.get('location')]).toEqual([400, null]);
  const { body } = await api('POST', `/api/v1/oauth/requests/${request}/allow`, { ...person, body: {} });
  // The attacker has the cookie and not the key; the victim has the key and not the cookie.
  const guessed = await attacker.browse(`${harness.url}/oauth/authorize/${request}?key=${'A'.repeat(22)}`);
  expect([guessed.status, guessed.headers.get('location')]).toEqual([400, null]);
  const led = await victim.browse(body.url);
  expect([led.status, led.headers.get('location')]).toEqual([400, null]);
});

test('an access token of a client counts at /mcp of an own address alone', async () => {
  await using harness = await startHarness();
  const { api, url } = harness;
  const person = await harness.workspace();
  const { tokens } = await oauthClient(harness).letIn(person);
  const token = tokens.access_token;
  const rest = await api('GET', '/api/v1/peers', { token, workspace: person.workspace });
  expect([rest.status, rest.body.detail]).toEqual([401, `This token is for ${url}/mcp alone: send it there.`]);
  expect((await api('GET', '/api/v1/events', { token, workspace: person.workspace })).status).toBe(401);
});

test('a tool whose scope was not given is refused with the scope to ask for', async () => {
  await using harness = await startHarness();
  const person = await harness.workspace();
  const { tokens } = await oauthClient(harness).letIn(person);
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'apply_network_change', arguments: {} } };
  const headers = { accept: 'application/json, text/event-stream' };
  const refused = await harness.api('POST', '/mcp', { token: tokens.access_token, body, headers });
  expect(refused.status).toBe(403);
  expect(refused.headers.get('www-authenticate')).toMatch(
    /resource_metadata="[^"]+", scope="network:read intents:plan intents:apply", error="insufficient_scope"/,
  );
  expect(refused.body).toMatchObject({ error: 'insufficient_scope', scope: 'intents:apply' });
});

test('a client that signs out ends its grant, and another client cannot', async () => {
  await using harness = await startHarness();
  const person = await harness.workspace();
  const client = oauthClient(harness);
  const { clientId, tokens } = await client.letIn(person);
  const other = await client.register({ client_name: 'Other', redirect_uris: [REDIRECT] });
  const revoke = (id: string) => client.post('/oauth/revoke', { client_id: id, token: tokens.refresh_token });
  expect((await revoke(other)).status).toBe(200);
  const renewed = await client.refresh(clientId, tokens.refresh_token);
  expect(renewed.status).toBe(200);
  const ended = await client.post('/oauth/revoke', { client_id: clientId, token: renewed.body.access_token });
  expect(ended.status).toBe(200);
  expect((await client.refresh(clientId, renewed.body.refresh_token)).body.error).toBe('invalid_grant');
});

test('of two uses of one refresh token at the same moment at most one counts', async () => {
  await using harness = await startHarness();
  const person = await harness.workspace();
  const client = oauthClient(harness);
  const { clientId, tokens } = await client.letIn(person);
  const both = await Promise.all([1, 2].map(() => client.refresh(clientId, tokens.refresh_token)));
  expect(both.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
});

test('addresses in metadata are those of the installation, whatever the headers of a proxy or client say', async () => {
  const config = {
    app: {
      publicUrls: ['https://mesh.example.com', 'https://mesh.internal.example:8443'],
      initAdmins: [{ username: 'admin', password: 'to be changed at once' }],
    },
  };
  await using harness = await startHarness({ config });
  const at = async (host: string, path: string) => {
    // `fetch` sends no Host of its own.
    const headers = { host, 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' };
    const [answer] = await once(get(new URL(path, harness.url), { headers }), 'response');
    return json(answer);
  };
  expect(await at('mesh.internal.example:8443', '/.well-known/oauth-protected-resource/mcp')).toMatchObject({
    resource: 'https://mesh.internal.example:8443/mcp',
    authorization_servers: ['https://mesh.example.com'],
  });
  expect(await at('mesh.example.com', '/.well-known/oauth-authorization-server')).toMatchObject({
    issuer: 'https://mesh.example.com',
    token_endpoint: 'https://mesh.example.com/oauth/token',
    registration_endpoint: 'https://mesh.example.com/oauth/register',
  });
});

test('the page that asks a person cannot be framed, and only pages of this control plane read answers', async () => {
  await using harness = await startHarness();
  const page = await harness.api('GET', '/');
  expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  const foreign = await harness.api('POST', '/oauth/register', {
    body: { client_name: 'x', redirect_uris: [REDIRECT] },
    headers: { origin: 'https://evil.example' },
  });
  expect(foreign.status).toBe(403);
  const own = await harness.api('GET', '/.well-known/oauth-protected-resource', {
    headers: { origin: 'http://localhost:6274' },
  });
  expect(own.headers.get('access-control-allow-origin')).toBe('http://localhost:6274');
  expect(own.headers.get('access-control-allow-credentials')).toBeNull();
});
