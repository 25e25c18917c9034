import { createHmac, randomUUID } from 'node:crypto';
import express from 'express';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { expect, test } from 'vitest';
import type { FetchedDocument } from '../../core/base/ports.ts';
import { listen } from '../../rest/listen.ts';
import { buildOAuth } from '../../rest/oauth/oauth.ts';
import { apiOf, type Harness, startHarness } from '../kits/http/harness.ts';
import { oauthClient, REDIRECT } from '../kits/http/oauth-client.ts';

const ID = 'https://planner.example/client.json';
const DOCUMENT = { client_id: ID, client_name: 'Planner', redirect_uris: [REDIRECT] };

/** The paths of OAuth at an address of their own, on what a control plane keeps, with documents from nowhere but here. */
async function startFront(
  { plane, api }: Harness,
  documents: Readonly<Record<string, unknown>>,
  registration: 'anyone' | 'local' | 'nobody' = 'anyone',
) {
  const fetchDocument = async (url: string): Promise<FetchedDocument | string> =>
    documents[url] === undefined ? 'There is nothing.' : { json: documents[url] };
  const { services } = plane;
  const front = await listen(express().use(buildOAuth({ services, log: services.log, registration, fetchDocument })), {
    host: '127.0.0.1',
    port: 0,
  });
  const own = apiOf(front.url);
  const both: Harness['api'] = (method, path, options) =>
    (path.startsWith('/api/') || path === '/mcp' ? api : own)(method, path, options);
  return { client: oauthClient({ url: front.url, api: both }), own, [Symbol.asyncDispose]: () => front.stop() };
}

test('a client that is described by a document is let in without registering, and the page says who describes it', async () => {
  await using harness = await startHarness();
  const person = await harness.workspace();
  await using front = await startFront(harness, { [ID]: DOCUMENT });
  const { client } = front;
  const metadata = await front.own('GET', '/.well-known/oauth-authorization-server');
  expect(metadata.body).toMatchObject({
    client_id_metadata_document_supported: true,
    token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
  });
  const { address, verifier } = client.request(ID, { scope: 'network:read' });
  const id = await client.open(address);
  const asked = await harness.api('GET', `/api/v1/oauth/requests/${id}`, person);
  expect(asked.body.client).toMatchObject({
    name: 'Planner',
    host: 'this machine',
    redirectUri: REDIRECT,
    document: ID,
  });
  const { body: allowed } = await harness.api('POST', `/api/v1/oauth/requests/${id}/allow`, { ...person, body: {} });
  const answer = await client.goOn(allowed.url);
  const { body: tokens } = await client.exchange(ID, answer.get('code') ?? '', verifier);
  expect(tokens).toMatchObject({ token_type: 'Bearer', scope: 'network:read' });
  expect((await client.refresh(ID, tokens.refresh_token)).status).toBe(200);
});

test('a client that signs gets tokens for what it signed with its key, once and soon, and for nothing else', async () => {
  await using harness = await startHarness();
  const person = await harness.workspace();
  const [own, other] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')]);
  const jwk = await exportJWK(own.publicKey);
  const signs = { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [jwk] } };
  await using front = await startFront(harness, { [ID]: { ...DOCUMENT, ...signs } });
  const { client } = front;
  const { body: metadata } = await front.own('GET', '/.well-known/oauth-authorization-server');
  const claims = { iss: ID, sub: ID, aud: metadata.issuer, jti: randomUUID() };
  const signed = (over: object = {}, key = own.privateKey, expiry = '1m') =>
    new SignJWT({ ...claims, jti: randomUUID(), ...over })
      .setProtectedHeader({ alg: 'ES256' })
      .setExpirationTime(expiry)
      .sign(key);
  const asserted = (assertion: string) => ({
    client_assertion: assertion,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  });
  const { address, verifier } = client.request(ID, { scope: 'network:read' });
  const id = await client.open(address);
  const { body: allowed } = await harness.api('POST', `/api/v1/oauth/requests/${id}/allow`, { ...person, body: {} });
  const code = (await client.goOn(allowed.url)).get('code') ?? '';
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const exp = Math.floor(Date.now() / 1_000) + 60;
  const unsigned = (alg: string) => `${part({ alg })}.${part({ ...claims, exp })}`;
  // The public key, taken for a secret.
  const confused = unsigned('HS256');
  const mac = createHmac('sha256', JSON.stringify(jwk)).update(confused).digest('base64url');

  for (const [what, over] of [
    ['nothing', {}],
    ["another's key", asserted(await signed({}, other.privateKey))],
    ['another audience', asserted(await signed({ aud: 'https://elsewhere.example' }))],
    ['another issuer', asserted(await signed({ iss: 'https://elsewhere.example/client.json' }))],
    ['a day', asserted(await signed({}, own.privateKey, '1d'))],
    ['the past', asserted(await signed({}, own.privateKey, '-1m'))],
    ['no signature', asserted(`${unsigned('none')}.`)],
    ['a public key as a secret', asserted(`${confused}.${mac}`)],
  ] as const) {
    const refused = await client.exchange(ID, code, verifier, over);
    expect([what, refused.status, refused.body.error]).toEqual([what, 401, 'invalid_client']);
  }
  const assertion = await signed();
  const { body: tokens } = await client.exchange(ID, code, verifier, asserted(assertion));
  expect(tokens).toMatchObject({ token_type: 'Bearer', scope: 'network:read' });
  expect((await client.refresh(ID, tokens.refresh_token, asserted(assertion))).status).toBe(401);
  expect((await client.refresh(ID, tokens.refresh_token)).status).toBe(401);
  expect((await client.refresh(ID, tokens.refresh_token, asserted(await signed()))).status).toBe(200);
});

test.each<[string, unknown, Readonly<Record<string, string>>]>([
  ['names another client', { ...DOCUMENT, client_id: 'https://claude.ai/client.json' }, {}],
  ['names no redirect of the request', DOCUMENT, { redirect_uri: 'https://evil.example/callback' }],
  ['cannot be had', undefined, {}],
  ['is no metadata', 'a text', {}],
])('a request of a client whose document %s asks nobody and leads nowhere', async (_what, document, over) => {
  await using harness = await startHarness();
  await using front = await startFront(harness, { [ID]: document });
  const response = await front.client.browse(front.client.request(ID, over).address);
  expect([response.status, response.headers.get('location')]).toEqual([400, null]);
  expect(await response.text()).toMatch(/^This client cannot be let in: /);
});

test('where nobody may register no document is asked for, and where local programs may none of another machine counts', async () => {
  await using harness = await startHarness();
  const away = { ...DOCUMENT, redirect_uris: ['https://planner.example/callback'] };
  for (const [registration, document] of [
    ['nobody', DOCUMENT],
    ['local', away],
  ] as const) {
    await using front = await startFront(harness, { [ID]: document }, registration);
    const [redirect = ''] = document.redirect_uris;
    const response = await front.client.browse(front.client.request(ID, { redirect_uri: redirect }).address);
    expect([registration, response.status]).toEqual([registration, 400]);
    const { body } = await front.own('GET', '/.well-known/oauth-authorization-server');
    expect(body.client_id_metadata_document_supported).toBe(registration === 'nobody' ? undefined : true);
  }
});
