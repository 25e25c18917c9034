import { expect, test } from 'vitest';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { oauthClient } from '../kits/http/oauth-client.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** A client without a browser, which has asked. */
async function askingDevice(harness: Harness, over: Readonly<Record<string, string>> = {}) {
  const client = oauthClient(harness);
  const clientId = await client.register({ client_name: 'Headless', grant_types: [GRANT] });
  const asked = { client_id: clientId, scope: 'network:read intents:plan', resource: `${harness.url}/mcp`, ...over };
  const { status, body } = await client.post('/oauth/device_authorization', asked);
  const poll = (fields: Readonly<Record<string, string>> = {}) =>
    client.post('/oauth/token', { grant_type: GRANT, client_id: clientId, device_code: body.device_code, ...fields });
  return { client, clientId, status, body, poll };
}

test('a client without a browser shows a code, by which a person lets it in, and gets its tokens once', async () => {
  await using harness = await startHarness();
  const person = await harness.workspace();
  const { client, clientId, body, poll } = await askingDevice(harness);
  expect(body).toEqual({
    device_code: expect.stringMatching(/^mesh-oac-/),
    user_code: expect.stringMatching(/^[A-Z]{4}-[A-Z]{4}$/),
    verification_uri: `${harness.url}/oauth/device`,
    expires_in: 600,
    interval: 5,
  });
  expect((await client.browse(body.verification_uri)).headers.get('location')).toBe('/#/~/allow/');
  expect((await poll()).body.error).toBe('authorization_pending');
  const id = `device-${body.user_code.replace('-', '')}`;
  const asked = await harness.api('GET', `/api/v1/oauth/requests/${id}`, person);
  expect(asked.body).toMatchObject({
    client: { name: 'Headless', host: 'another device' },
    origin: '127.0.0.1',
    scopes: ['network:read', 'intents:plan'],
  });
  const allowed = await harness.api('POST', `/api/v1/oauth/requests/${id}/allow`, { ...person, body: {} });
  expect(allowed.body).toEqual({ agent: 'headless-admin' });
  const [first, second] = await Promise.all([poll(), poll()]);
  const { body: tokens } = first.status === 200 ? first : second;
  expect([first.status, second.status].toSorted()).toEqual([200, 400]);
  expect(tokens).toMatchObject({ token_type: 'Bearer', scope: 'network:read intents:plan' });
  expect((await harness.api('POST', '/mcp', { token: tokens.access_token, body: {} })).status).not.toBe(401);
  expect((await client.refresh(clientId, tokens.refresh_token)).status).toBe(200);
  expect((await poll()).body.error).toBe('invalid_grant');
});

test('a device that the person refuses is told so, and none polls faster than it may', async () => {
  await using harness = await startHarness();
  const person = await harness.workspace();
  const { body, poll } = await askingDevice(harness);
  expect((await poll()).body.error).toBe('authorization_pending');
  // Each control plane counts for itself.
  await expect.poll(async () => (await poll()).body.error, { interval: 0 }).toBe('slow_down');
  const other = await askingDevice(harness);
  const id = `device-${other.body.user_code.replace('-', '')}`;
  const denied = await harness.api('POST', `/api/v1/oauth/requests/${id}/deny`, person);
  expect(denied.body).toEqual({});
  expect((await other.poll()).body.error).toBe('access_denied');
  expect((await harness.api('GET', '/api/v1/agents', person)).body.items).toEqual([]);
  expect(body.user_code).not.toBe(other.body.user_code);
});

test('the code of a device counts for its client, and with all that the person does not see', async () => {
  await using harness = await startHarness();
  const person = await harness.workspace();
  const { client, body, poll } = await askingDevice(harness);
  const id = `device-${body.user_code.replace('-', '')}`;
  await harness.api('POST', `/api/v1/oauth/requests/${id}/allow`, { ...person, body: {} });
  const other = await client.register({ client_name: 'Other', grant_types: [GRANT] });
  expect((await poll({ client_id: other })).body.error).toBe('invalid_grant');
  // Who knows what the person types, and no more.
  const guessed = `${body.device_code.slice(0, 17)}${'A'.repeat(35)}`;
  expect((await poll({ device_code: guessed })).body.error).toBe('invalid_grant');
});

test('a device asks for a resource of this control plane alone, and its client for no code by redirect', async () => {
  await using harness = await startHarness();
  const foreign = await askingDevice(harness, { resource: 'https://other.example/mcp' });
  expect([foreign.status, foreign.body.error]).toEqual([400, 'invalid_target']);
  const { client, clientId } = await askingDevice(harness);
  expect((await client.browse(client.request(clientId).address)).status).toBe(400);
});

test('where only local programs or nobody may register, no device asks', async () => {
  for (const registration of ['local', 'nobody']) {
    const initAdmins = [{ username: 'admin', password: 'to be changed at once' }];
    await using harness = await startHarness({ config: { app: { oauth: { registration }, initAdmins } } });
    const metadata = await harness.api('GET', '/.well-known/oauth-authorization-server');
    expect(metadata.body.device_authorization_endpoint).toBeUndefined();
    expect((await harness.api('POST', '/oauth/device_authorization', { body: {} })).status).toBe(404);
  }
});
