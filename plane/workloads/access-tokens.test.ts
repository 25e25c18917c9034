import { createPublicKey } from 'node:crypto';
import { generateKeyPair, UnsecuredJWT } from 'jose';
import { expect, test } from 'vitest';
import type { FetchDocument } from '../../core/base/ports.ts';
import { Secret } from '../../core/base/secret.ts';
import { type Issued, workloadIssuer } from '../../test/kits/plane/workloads.ts';
import { buildAccessTokenVerifier } from './access-tokens.ts';

const ISSUER = 'https://id.example.com';
const RESOURCE = 'https://mesh.example.com/mcp';
const CLAIMS = { sub: 'u-1', client_id: 'planner', scope: 'mesh read' };

/** The verifier beside an issuer that can be away, or not answer at all. */
async function withIssuer() {
  const clock = { time: Date.UTC(2026, 0, 5), now: () => clock.time };
  const issuer = await workloadIssuer(ISSUER, { now: clock.now, audience: RESOURCE });
  const state = { isAway: false, isSilent: false, keys: await issuer.keys() };
  const fetchDocument: FetchDocument = async (url) => {
    if (state.isSilent) return new Promise(() => undefined);
    if (state.isAway) return 'There was no answer within 5 s.';
    return { json: url.endsWith('/keys') ? { keys: state.keys } : { issuer: ISSUER, jwks_uri: `${ISSUER}/keys` } };
  };
  const keys = { controlPrivateKey: new Secret('a key of the installation') };
  const settings = {
    publicUrls: ['https://mesh.example.com/', 'https://mesh.example.net'],
    authorizationServer: { issuer: ISSUER, grants: [], allow: [], takesAssertions: false },
  };
  const verifier = buildAccessTokenVerifier({ settings, keys, clock, fetchDocument });
  if (!verifier) throw new Error('There is no verifier.');
  const verify = async (claims = {}, given: Issued = {}) =>
    verifier.verify(await issuer.token({ ...CLAIMS, ...claims }, given));
  return { clock, issuer, state, verifier, verify };
}

test('an access token tells its person, its client, its address and its end, with the skew of clocks', async () => {
  const { verify, clock } = await withIssuer();
  expect(await verify({ auth_time: 1_000 })).toMatchObject({
    subject: 'u-1',
    clientId: 'planner',
    resource: RESOURCE,
    issuedAt: clock.time,
    expiresAt: clock.time + 360_000,
    signedInAt: 1_000_000,
    claims: { scope: ['mesh', 'read'] },
  });
});

test('a token counts no longer than it tells, where its issuer tells a fraction of a second', async () => {
  const { verifier, issuer, clock } = await withIssuer();
  const token = await issuer.token(CLAIMS, { lasts: 300.5 });
  const { expiresAt } = await verifier.verify(token);
  clock.time = expiresAt - 1;
  await verifier.verify(token);
  clock.time = expiresAt;
  await expect(verifier.verify(token)).rejects.toThrow('it has expired');
});

test.each([
  ['at+jwt', {}],
  ['application/at+jwt', {}],
  ['JWT', { client_id: undefined, azp: 'planner' }],
  [undefined, { client_id: undefined, cid: 'planner' }],
])('a token of the type %s counts as its issuer makes it', async (typ, claims) => {
  const { verify } = await withIssuer();
  expect(await verify(claims, typ === undefined ? {} : { typ })).toMatchObject({ clientId: 'planner' });
});

test.each<[what: string, claims: object, given: Issued, told: string]>([
  ['for another resource', {}, { audience: 'https://other.example.com/mcp' }, 'its audience is not this control plane'],
  ['for this control plane, but not for /mcp', {}, { audience: 'https://mesh.example.com' }, 'its audience is not'],
  ['for a program of the loopback', {}, { audience: 'http://127.0.0.1:8080/mcp' }, 'its audience is not'],
  ['for two addresses', {}, { audience: [RESOURCE, 'https://mesh.example.net/mcp'] }, 'ask for one of them'],
  [
    'of another issuer with the same key id',
    { iss: 'https://evil.example' },
    {},
    'it is not of https://id.example.com',
  ],
  ['that has expired', {}, { lasts: -61 }, 'it has expired'],
  [
    'that is not valid yet',
    { nbf: Date.UTC(2026, 0, 5) / 1_000 + 61 },
    {},
    'its claim nbf is missing, or not yet valid',
  ],
  ['that never ends', {}, { lasts: 'for ever' }, 'its claim exp is missing'],
  ['of the future', { iat: Date.UTC(2026, 0, 5) / 1_000 + 61 }, { lasts: 3_600 }, 'it was issued in the future'],
  ['that lasts for days', {}, { lasts: 86_461 }, 'it lasts longer than a day'],
  ['of the type of a logout', {}, { typ: 'logout+jwt' }, 'of the type logout+jwt'],
  ['that is bound to a key', { cnf: { jkt: 'x' } }, {}, 'it is bound to a key'],
  ['without a subject', { sub: undefined }, {}, 'its claim sub is missing'],
  ['with a subject without end', { sub: 'u'.repeat(300) }, {}, 'its claim sub is missing, or too long'],
  ['without a client', { client_id: undefined }, {}, 'no claim names its client'],
  ['with a list in place of a client', { client_id: ['planner'] }, {}, 'no claim names its client'],
  ['with a key id that the issuer has not', {}, { kid: 'other' }, 'it is signed by no key of https://id.example.com'],
])('a token %s is refused with the reason', async (_what, claims, given, told) => {
  const { verify } = await withIssuer();
  await expect(verify(claims, given)).rejects.toMatchObject({
    code: 'unauthenticated',
    message: expect.stringContaining(told),
  });
});

test('neither no signature nor one by a secret counts, be the secret the public key', async () => {
  const { verifier, verify, issuer } = await withIssuer();
  const none = new UnsecuredJWT({ ...CLAIMS, iss: ISSUER, aud: RESOURCE })
    .setIssuedAt()
    .setExpirationTime('5m')
    .encode();
  await expect(verifier.verify(none)).rejects.toMatchObject({ code: 'unauthenticated' });
  const [jwk] = await issuer.keys();
  const pem = createPublicKey({ key: { ...jwk }, format: 'jwk' }).export({ format: 'pem', type: 'spki' });
  const secret = new TextEncoder().encode(String(pem));
  await expect(verify({}, { key: secret, alg: 'HS256' })).rejects.toThrow('its algorithm is not accepted');
  const { privateKey } = await generateKeyPair('RS256');
  await expect(verify({}, { key: privateKey })).rejects.toThrow('its signature is wrong');
});

test('a key that was rotated meanwhile is found, and the old one counts no more after its time', async () => {
  const { verify, issuer, state, clock, verifier } = await withIssuer();
  const old = await issuer.token(CLAIMS, { lasts: 3_600 });
  await verifier.verify(old);
  await issuer.rotate();
  state.keys = await issuer.keys();
  clock.time += 61_000;
  expect(await verify()).toMatchObject({ subject: 'u-1' });
  await expect(verifier.verify(old)).rejects.toThrow('it is signed by no key');
});

test('while the issuer is away its known keys count, and a token of an unknown key is told so', async () => {
  const { verify, state, clock } = await withIssuer();
  state.isAway = true;
  await expect(verify()).rejects.toMatchObject({ code: 'unavailable' });
  state.isAway = false;
  await verify();
  state.isAway = true;
  clock.time += 86_400_000;
  expect(await verify()).toMatchObject({ subject: 'u-1' });
  await expect(verify({}, { kid: 'new' })).rejects.toMatchObject({ code: 'unavailable' });
});

test('nobody whose key is known waits for an issuer that was away and now hangs', async () => {
  const { verify, state, clock } = await withIssuer();
  await verify();
  state.isAway = true;
  clock.time += 3_600_000;
  await verify();
  state.isSilent = true;
  clock.time += 61_000;
  expect(await verify()).toMatchObject({ subject: 'u-1' });
  expect(await verify()).toMatchObject({ subject: 'u-1' });
});

test('a token that was issued for an assertion tells what that said, for an hour, wherever the keys are the same', async () => {
  const { clock } = await withIssuer();
  const planeWith = (key: string, issuer = ISSUER) => {
    const authorizationServer = { issuer, grants: [], allow: [], takesAssertions: true };
    const settings = { publicUrls: ['https://mesh.example.com/', 'https://mesh.example.net'], authorizationServer };
    return buildAccessTokenVerifier({ settings, keys: { controlPrivateKey: new Secret(key) }, clock });
  };
  const resource = 'https://mesh.example.net/mcp';
  const facts = { subject: 'u-1', clientId: 'planner', resource, issuedAt: 5_000, claims: { groups: ['ops'] } };
  const token = (await planeWith('one key')?.assertions?.issue({ ...facts, signedInAt: 4_000 })) ?? '';
  const same = planeWith('one key');
  expect(same?.isOf(token)).toBe(true);
  const expiresAt = clock.time + 3_600_000;
  expect(await same?.verify(token)).toEqual({ ...facts, signedInAt: 4_000, expiresAt });
  await expect(planeWith('another key')?.verify(token)).rejects.toThrow('its signature is wrong');
  const migrated = planeWith('one key', 'https://another.example');
  await expect(migrated?.verify(token)).rejects.toThrow('its signature is wrong');
  clock.time = expiresAt;
  await expect(same?.verify(token)).rejects.toThrow('it has expired');
});
