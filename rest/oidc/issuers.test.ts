import { createHmac } from 'node:crypto';
import { exportSPKI } from 'jose';
import { expect, test, vi } from 'vitest';
import type { Log } from '../../core/base/ports.ts';
import { Secret } from '../../core/base/secret.ts';
import { silentLog } from '../../core/base/silent-log.ts';
import { CLIENT, signed, startTestIssuer, type TestIssuer } from '../../test/kits/http/test-issuer.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { buildIssuerClient } from './issuers.ts';

const REDIRECT = 'https://mesh.example.com/sign-in/corp';
const SECRETS = { state: 'a state', nonce: 'a nonce', verifier: 'v'.repeat(43) };
const ADA = { sub: 's1', email: 'ada@example.com', groups: ['operators'] };

/** @param ms in which an issuer has to answer */
function clientOf(url: string, ms?: number, { log = silentLog, clientSecret = CLIENT.clientSecret } = {}) {
  const { clientId } = CLIENT;
  const issuer = { name: 'corp', title: 'Example Corp', issuer: url, clientId, clientSecret: new Secret(clientSecret) };
  return buildIssuerClient({
    issuers: [{ ...issuer, scopes: ['openid', 'email'] }],
    clock: { now: Date.now },
    log,
    fetch: (address, init) => boundedFetch(address, init, ms),
  });
}

async function finished(issuer: TestIssuer, client = clientOf(issuer.url)) {
  const query = issuer.signIn(await client.begin('corp', REDIRECT, SECRETS), ADA);
  return client.finish('corp', REDIRECT, query, SECRETS);
}

test('a sign-in asks for a code with PKCE, and exchanges it once', async () => {
  await using issuer = await startTestIssuer();
  const client = clientOf(issuer.url);
  const address = await client.begin('corp', REDIRECT, SECRETS);
  const query = issuer.signIn(address, ADA);
  const asked = Object.fromEntries(new URL(address).searchParams);
  expect(asked).toMatchObject({ response_type: 'code', code_challenge_method: 'S256', scope: 'openid email' });
  expect(asked).toMatchObject({ redirect_uri: REDIRECT, state: SECRETS.state, nonce: SECRETS.nonce });
  const identity = await client.finish('corp', REDIRECT, query, SECRETS);
  expect(identity).toMatchObject({ subject: 's1', claims: { ...ADA, email_verified: true } });
  expect(await refusalOf(client.finish('corp', REDIRECT, query, SECRETS))).toBe('unauthenticated');
});

test.each<[what: string, changed: (query: URLSearchParams) => void]>([
  ['of another issuer', (query) => query.set('iss', 'https://evil.example')],
  ['that does not say which issuer it is of', (query) => query.delete('iss')],
  ['with another state', (query) => query.set('state', 'another')],
  ['with a code that nobody gave', (query) => query.set('code', 'made up')],
  ['without a code', (query) => query.delete('code')],
  ['with two codes', (query) => query.append('code', 'another')],
  [
    'that refuses',
    (query) => {
      query.delete('code');
      query.set('error', 'access_denied');
    },
  ],
])('an answer %s signs nobody in', async (_what, changed) => {
  await using issuer = await startTestIssuer();
  const client = clientOf(issuer.url);
  const query = new URLSearchParams(issuer.signIn(await client.begin('corp', REDIRECT, SECRETS), ADA));
  changed(query);
  expect(await refusalOf(client.finish('corp', REDIRECT, `?${query}`, SECRETS))).toBe('unauthenticated');
});

const unsigned = (header: object, claims: object) =>
  [header, { ...claims, iat: now(), exp: now() + 300 }]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
const now = () => Math.floor(Date.now() / 1_000);

test.each<[what: string, misbehavior: Partial<TestIssuer['misbehavior']>]>([
  ['no signature', { idToken: (claims) => `${unsigned({ alg: 'none' }, claims)}.` }],
  [
    'the public key as the secret of HS256',
    { idToken: async (claims, { publicKey, kid }) => hmac(claims, kid, await exportSPKI(publicKey)) },
  ],
  ['the secret of the client for HS256', { idToken: (claims, { kid }) => hmac(claims, kid, CLIENT.clientSecret) }],
  [
    'a signature by a key that the issuer does not have',
    { idToken: (claims, keys) => signed(claims, { ...keys, kid: 'other' }) },
  ],
  [
    'claims that were changed after it was signed',
    { idToken: async (claims, keys) => tampered(await signed(claims, keys)) },
  ],
  ['another nonce', { claims: { nonce: 'another' } }],
  ['no nonce', { claims: { nonce: undefined } }],
  ['another audience', { claims: { aud: 'another' } }],
  ['another issuer', { claims: { iss: 'https://evil.example' } }],
  ['no subject', { claims: { sub: undefined } }],
  ['a subject that is too long', { claims: { sub: 's'.repeat(256) } }],
])('an ID token with %s signs nobody in', async (_what, misbehavior) => {
  await using issuer = await startTestIssuer();
  Object.assign(issuer.misbehavior, misbehavior);
  expect(await refusalOf(finished(issuer))).toBe('unauthenticated');
});

function hmac(claims: object, kid: string, secret: string): string {
  const text = unsigned({ alg: 'HS256', kid }, claims);
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

function tampered(token: string): string {
  const [header, payload = '', signature] = token.split('.');
  const claims = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), groups: ['admins'] };
  return [header, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.');
}

test('an ID token holds that an issuer signed with a key that it made since the last sign-in', async () => {
  await using issuer = await startTestIssuer();
  const client = clientOf(issuer.url);
  await finished(issuer, client);
  await issuer.rotateKeys();
  expect(await finished(issuer, client)).toMatchObject({ subject: 's1' });
});

test.each<[what: string, path: string, instead: (response: import('node:http').ServerResponse) => void]>([
  ['hangs before it says what it is', '/.well-known/openid-configuration', () => undefined],
  ['hangs before it gives tokens', '/token', () => undefined],
  ['stops in the middle of its keys', '/jwks', (response) => void response.writeHead(200).write('{')],
  [
    'sends megabytes of keys',
    '/jwks',
    (response) => void response.writeHead(200, JSON_TYPE).end(`"${'x'.repeat(2_000_000)}"`),
  ],
  ['leads elsewhere', '/token', (response) => void response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end()],
  ['sends no JSON', '/token', (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>')],
  ['fails', '/token', (response) => void response.writeHead(503).end()],
])('an issuer that %s is unavailable', async (_what, path, instead) => {
  await using issuer = await startTestIssuer();
  issuer.misbehavior.instead = { [path]: instead };
  expect(await refusalOf(finished(issuer, clientOf(issuer.url, 500)))).toBe('unavailable');
});

const JSON_TYPE = { 'content-type': 'application/json' };

test('an issuer that is away is unavailable, and asked again by whoever comes next', async () => {
  await using issuer = await startTestIssuer();
  const client = clientOf(issuer.url);
  issuer.misbehavior.instead = { '/.well-known/openid-configuration': (response) => response.destroy() };
  expect(await refusalOf(client.begin('corp', REDIRECT, SECRETS))).toBe('unavailable');
  issuer.misbehavior.instead = {};
  expect(await client.begin('corp', REDIRECT, SECRETS)).toContain('/authorize?');
});

test.each([
  ['calls itself another', { issuer: 'https://evil.example' }],
  ['has people run a script', { authorization_endpoint: 'javascript:alert(1)' }],
])('an issuer that %s is not used', async (_what, metadata) => {
  await using issuer = await startTestIssuer();
  issuer.misbehavior.metadata = metadata;
  expect(await refusalOf(clientOf(issuer.url).begin('corp', REDIRECT, SECRETS))).toBe('unavailable');
});

test('a refresh token counts until the issuer refuses it, and for its subject alone', async () => {
  await using issuer = await startTestIssuer();
  const client = clientOf(issuer.url);
  const { refreshToken = '' } = await finished(issuer, client);
  const refreshed = await client.refresh('corp', refreshToken, 's1');
  expect(refreshed).toMatchObject({ subject: 's1', claims: { groups: ['operators'] } });
  expect(await client.refresh('corp', refreshToken, 's1')).toBeUndefined();
  expect(await client.refresh('corp', refreshed?.refreshToken ?? '', 's2')).toBeUndefined();
});

test('to sign out leads to the issuer that has a place for it', async () => {
  await using issuer = await startTestIssuer();
  const out = (client = clientOf(issuer.url)) => client.signOut('corp', 'https://mesh.example.com/', 'token');
  const params = Object.fromEntries(new URL((await out()) ?? '').searchParams);
  expect(params).toEqual({
    client_id: 'mesh',
    id_token_hint: 'token',
    post_logout_redirect_uri: 'https://mesh.example.com/',
  });
  issuer.misbehavior.metadata = { end_session_endpoint: undefined };
  expect(await out(clientOf(issuer.url))).toBeUndefined();
});

test.each<[what: string, answer: Respond | undefined]>([
  ['says that in JSON', undefined],
  [
    'asks for credentials anew',
    (response) => void response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end(),
  ],
])('a log says that an issuer refuses the secret of the client, where it %s', async (_what, answer) => {
  await using issuer = await startTestIssuer();
  if (answer) issuer.misbehavior.instead = { '/token': answer };
  const warn = vi.fn<Log['warn']>();
  const client = clientOf(issuer.url, undefined, { log: { ...silentLog, warn }, clientSecret: 'a wrong secret' });
  expect(await refusalOf(finished(issuer, client))).toBe('unavailable');
  const reason = expect.stringContaining('it refuses the client: check clientId and the client secret');
  expect(warn).toHaveBeenCalledWith({ issuer: 'corp', reason }, expect.any(String));
});

type Respond = (response: import('node:http').ServerResponse) => void;

test.each<[what: string, answer: Respond, outcome: string]>([
  [
    'is too long',
    (response) => void response.writeHead(200, JSON_TYPE).end(`"${'x'.repeat(300_000)}"`),
    'unauthenticated',
  ],
  [
    'is refused',
    (response) => void response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end(),
    'unauthenticated',
  ],
  ['cannot be had', (response) => void response.writeHead(503).end(), 'unavailable'],
])('user info that %s signs nobody in', async (_what, answer, outcome) => {
  await using issuer = await startTestIssuer();
  issuer.misbehavior.metadata = { userinfo_endpoint: `${issuer.url}/userinfo` };
  issuer.misbehavior.instead = { '/userinfo': answer };
  expect(await refusalOf(finished(issuer))).toBe(outcome);
});

test('a session is confirmed, with its next refresh token and without claims, while user info cannot be had', async () => {
  await using issuer = await startTestIssuer();
  const { refreshToken = '' } = await finished(issuer);
  issuer.misbehavior.metadata = { userinfo_endpoint: `${issuer.url}/userinfo` };
  issuer.misbehavior.instead = { '/userinfo': (response) => response.destroy() };
  const client = clientOf(issuer.url);
  const confirmed = await client.refresh('corp', refreshToken, 's1');
  expect(confirmed).toMatchObject({ subject: 's1', claims: {} });
  issuer.misbehavior.instead = {};
  expect(await client.refresh('corp', confirmed?.refreshToken ?? '', 's1')).toBeDefined();
});
