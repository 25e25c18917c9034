import { expect, test } from 'vitest';
import { startHarness } from '../kits/http/harness.ts';
import { oauthClient } from '../kits/http/oauth-client.ts';

test('a client that borrows a name is shown with where its codes go, and gets an agent of its own', async () => {
  await using harness = await startHarness();
  const person = await harness.workspace();
  const client = oauthClient(harness);
  const agents = [];
  for (const redirect of ['https://claude.ai/api/mcp/auth_callback', 'https://claude.ai.evil.example/callback']) {
    const id = await client.register({ client_name: 'Claude', redirect_uris: [redirect] });
    const request = await client.open(client.request(id, { redirect_uri: redirect }).address);
    const shown = await harness.api('GET', `/api/v1/oauth/requests/${request}`, person);
    expect(shown.body.client).toMatchObject({ name: 'Claude', host: new URL(redirect).host });
    const { body } = await harness.api('POST', `/api/v1/oauth/requests/${request}/allow`, { ...person, body: {} });
    agents.push(body.agent);
  }
  expect(agents).toEqual(['claude-admin', 'claude-admin-2']);
});

test.each([
  ['registers', '/oauth/register', { body: { redirect_uris: ['https://a.example/'] } }],
  ['asks for devices', '/oauth/device_authorization', { body: {} }],
])('an address from which somebody %s again and again is told to wait', async (_what, path, options) => {
  await using harness = await startHarness();
  // As through a proxy: what runs on the machine itself is not held back.
  const headers = { 'x-forwarded-for': '203.0.113.7' };
  const ask = () => harness.api('POST', path, { ...options, headers });
  let count = 1;
  let answer = await ask();
  for (; answer.status !== 429; count += 1) answer = await ask();
  // Later where the minute ends meanwhile.
  expect(count).toBeGreaterThan(60);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await harness.api('POST', path, options)).status).not.toBe(429);
});

test('a token that somebody signed, or did not sign, themselves is worth nothing', async () => {
  await using harness = await startHarness();
  const { token: session } = await harness.workspace();
  const [, claims = '', signature = ''] = session.split('.');
  const { body } = await harness.api('GET', '/oauth/jwks');
  for (const header of [
    { alg: 'none' },
    { alg: 'HS256' },
    { alg: 'HS256', jwk: body.keys[0] },
    { alg: 'EdDSA', jku: harness.url },
  ]) {
    const first = Buffer.from(JSON.stringify(header)).toString('base64url');
    for (const forged of [`${first}.${claims}.`, `${first}.${claims}.${signature}`]) {
      const refused = await harness.api('POST', '/mcp', { token: forged, body: {} });
      expect([header, refused.status, refused.body.error]).toEqual([header, 401, 'invalid_token']);
    }
  }
});
