import { decodeJwt, decodeProtectedHeader, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ASSISTANT_SECRET,
  type AssertionPlane,
  assertionForm,
  basic,
  JWT_BEARER,
  startAssertionPlane,
  TOKEN_PATH,
} from '../kits/http/assertion-plane.ts';
import { ASSISTANT } from '../kits/http/test-issuer.ts';

describe('a control plane to which clients bring identity assertions', () => {
  let plane: AssertionPlane;
  beforeAll(async () => {
    plane = await startAssertionPlane();
  });
  afterAll(() => plane[Symbol.asyncDispose]());

  const inSeconds = (seconds: number) => Math.floor(Date.now() / 1_000) + seconds;

  test.each<[what: string, assertion: () => Promise<string>, told: string]>([
    ['for another control plane', () => plane.assertionOf({ aud: 'https://other.example' }), 'its audience is not'],
    ['for the address of /mcp', () => plane.assertionOf({ aud: `${plane.mesh}/mcp` }), 'its audience is not'],
    ['for the second address', () => plane.assertionOf({ aud: plane.other }), 'its audience is not'],
    ['for others too', () => plane.assertionOf({ aud: [plane.mesh, 'https://other.example'] }), 'it is for others too'],
    ['of another issuer', () => plane.assertionOf({ iss: 'https://other.example' }), 'it is not of'],
    ['for another client', () => plane.assertionOf({ client_id: 'another' }), 'for another client'],
    ['for no client', () => plane.assertionOf({ client_id: undefined }), 'no claim names its client'],
    [
      'that names its client elsewhere',
      () => plane.assertionOf({ client_id: undefined, azp: ASSISTANT }),
      'client_id is missing',
    ],
    ['for another resource', () => plane.assertionOf({ resource: 'https://other.example/mcp' }), 'its resource is not'],
    ['for no resource of a list', () => plane.assertionOf({ resource: [] }), 'its resource is not'],
    ['that has ended', () => plane.assertionOf({}, {}, '-2m'), 'it has expired'],
    ['that ends late', () => plane.assertionOf({}, {}, '32m'), 'it ends more than 30 minutes from now'],
    ['of later', () => plane.assertionOf({ nbf: inSeconds(120) }), 'nbf is missing, or not yet valid'],
    [
      'issued before this control plane began to remember',
      () => plane.assertionOf({ iat: inSeconds(-600) }),
      'or may have been',
    ],
    ['issued in the future', () => plane.assertionOf({ iat: inSeconds(120) }), 'it was issued in the future'],
    ['without an id', () => plane.assertionOf({ jti: undefined }), 'its claim jti is missing'],
    [
      'with an id without end',
      () => plane.assertionOf({ jti: 'j'.repeat(300) }),
      'its claim jti is missing, or too long',
    ],
    ['without a subject', () => plane.assertionOf({ sub: undefined }), 'its claim sub is missing'],
    ['bound to a key', () => plane.assertionOf({ cnf: { jkt: 'x' } }), 'it is bound to a key'],
    ['by an unknown key', () => plane.assertionOf({}, { kid: 'unknown' }), 'it is signed by no key'],
    ['of the type of an access token', () => plane.assertionOf({}, { typ: 'at+jwt' }), 'it is no identity assertion'],
    ['of the type of an ID token', () => plane.assertionOf({}, { typ: 'JWT' }), 'it is no identity assertion'],
    ['whose type is no text', () => plane.assertionOf({}, { typ: 5 }), 'it is no identity assertion'],
    ['without a type', () => plane.assertionOf({}, { typ: undefined }), 'it is no identity assertion'],
    [
      'that is an access token of the issuer',
      () => plane.issuer.accessToken({ sub: 's1', aud: plane.mesh }),
      'no identity assertion',
    ],
    ['that is an access token of here', () => plane.tokenOf(), 'its algorithm is not accepted'],
    ['that is no token', async () => 'mesh', 'it is no signed token'],
    [
      'that nobody signed',
      async () => new UnsecuredJWT(decodeJwt(await plane.assertionOf())).encode(),
      'its algorithm is not accepted',
    ],
    [
      'signed by the secret of the client',
      async () =>
        new SignJWT(decodeJwt(await plane.assertionOf()))
          .setProtectedHeader({ ...decodeProtectedHeader(await plane.assertionOf()), alg: 'HS256' })
          .sign(new TextEncoder().encode(ASSISTANT_SECRET)),
      'its algorithm is not accepted',
    ],
  ])('refuses an assertion %s', async (_what, assertion, told) => {
    const { status, body, headers } = await plane.send(assertionForm(await assertion()));
    expect([status, body.error, headers.get('cache-control')]).toEqual([400, 'invalid_grant', 'no-store']);
    expect(body.error_description).toContain(told);
  });

  test('a refusal is in the log with the client, the code and the reason, and neither secret nor assertion', async () => {
    const assertion = await plane.assertionOf({}, {}, '-2m');
    const before = plane.harness.log.length;
    await plane.send(assertionForm(assertion));
    await plane.send(assertionForm(assertion), basic(ASSISTANT, 'not-the-secret-of-the-assistant'));
    const lines = plane.harness.log.slice(before).filter((line) => line.includes('got no access token'));
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({
        ...{ level: 'warn', client: ASSISTANT, code: 'invalid_grant' },
        reason: expect.stringContaining('it has expired'),
      }),
      expect.objectContaining({ client: ASSISTANT, code: 'invalid_client' }),
    ]);
    for (const told of [assertion, ASSISTANT_SECRET, 'not-the-secret']) expect(lines.join()).not.toContain(told);
  });

  const form = async (more: Record<string, string> = {}) => assertionForm(await plane.assertionOf(), more);

  test.each<[what: string, answer: () => ReturnType<AssertionPlane['send']>, status: number, error: string]>([
    [
      'a wrong secret',
      async () => plane.send(await form(), basic(ASSISTANT, `${ASSISTANT_SECRET}x`)),
      401,
      'invalid_client',
    ],
    ['another client', async () => plane.send(await form(), basic('another')), 401, 'invalid_client'],
    ['no client', async () => plane.send(await form(), {}), 401, 'invalid_client'],
    ['no secret', async () => plane.send(await form({ client_id: ASSISTANT }), {}), 401, 'invalid_client'],
    [
      'an empty secret',
      async () => plane.send(await form({ client_id: ASSISTANT, client_secret: '' }), {}),
      401,
      'invalid_client',
    ],
    [
      'a bearer token',
      async () => plane.send(await form(), { authorization: `Bearer ${ASSISTANT_SECRET}` }),
      401,
      'invalid_client',
    ],
    ['two clients', async () => plane.send(await form({ client_id: 'another' })), 401, 'invalid_client'],
    [
      'two ways',
      async () => plane.send(await form({ client_id: ASSISTANT, client_secret: ASSISTANT_SECRET })),
      400,
      'invalid_request',
    ],
    [
      'a secret in the address',
      async () =>
        plane.send(await form(), {}, `${TOKEN_PATH}?client_id=${ASSISTANT}&client_secret=${ASSISTANT_SECRET}`),
      400,
      'invalid_request',
    ],
    [
      'an assertion in the address',
      async () => plane.send('', undefined, `${TOKEN_PATH}?${await form()}`),
      400,
      'invalid_request',
    ],
    ['a parameter twice', async () => plane.send(`${await form()}&assertion=x`), 400, 'invalid_request'],
    [
      'the same parameter twice',
      async () => plane.send(`${await form()}&grant_type=${JWT_BEARER}`),
      400,
      'invalid_request',
    ],
    ['JSON', () => plane.send('{}', { ...basic(), 'content-type': 'application/json' }), 400, 'invalid_request'],
    ['no grant type', () => plane.send('assertion=x'), 400, 'invalid_request'],
    ['no assertion', () => plane.send(`grant_type=${JWT_BEARER}`), 400, 'invalid_request'],
    ['another grant type', () => plane.send('grant_type=client_credentials'), 400, 'unsupported_grant_type'],
    ['a refresh', () => plane.send('grant_type=refresh_token&refresh_token=x'), 400, 'unsupported_grant_type'],
    [
      'another resource',
      async () => plane.send(await form({ resource: 'https://other.example/mcp' })),
      400,
      'invalid_target',
    ],
    [
      'a resource that is not asserted',
      async () => plane.send(await form({ resource: `${plane.other}/mcp` })),
      400,
      'invalid_target',
    ],
    ['a scope that is not asserted', async () => plane.send(await form({ scope: 'write' })), 400, 'invalid_scope'],
    [
      'more than a request may have',
      () => plane.send(`assertion=${'x'.repeat(20_000)}`),
      413,
      'urn:mesh:problem:payload_too_large',
    ],
  ])('refuses a request with %s', async (_what, answer, status, error) => {
    const { body, ...answered } = await answer();
    expect([answered.status, body.error ?? body.type]).toEqual([status, error]);
    expect(answered.headers.get('www-authenticate')).toBe(status === 401 ? 'Basic realm="mesh"' : null);
  });

  test('a request that was refused spends no assertion, and one that was answered does', async () => {
    const assertion = await plane.assertionOf();
    expect((await plane.send(assertionForm(assertion), basic('another'))).status).toBe(401);
    expect((await plane.send(assertionForm(assertion, { scope: 'write' }))).status).toBe(400);
    const both = await Promise.all([plane.send(assertionForm(assertion)), plane.send(assertionForm(assertion))]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 400]);
    expect((await plane.send(assertionForm(assertion))).body.error_description).toContain('was used before');
    // The id counts, and not how it was signed.
    const id = decodeJwt(assertion).jti;
    expect((await plane.exchange({ jti: id })).body.error_description).toContain('was used before');
  });

  test('a token of it counts at /mcp alone, and neither an assertion nor a token that was changed counts there', async () => {
    const token = await plane.tokenOf();
    const rest = await plane.harness.api('GET', '/api/v1/users/me', { token });
    expect([rest.status, rest.body.detail]).toEqual([401, expect.stringContaining('alone: send it there')]);
    const told = async (bearer: string) => (await plane.listTools(bearer)).headers.get('www-authenticate');
    expect(await told(await plane.assertionOf())).toContain('its audience is not this control plane');
    const forged = (claims: object, alg: string) =>
      new SignJWT({ ...decodeJwt(token), ...claims })
        .setProtectedHeader({ alg, typ: 'at+jwt' })
        .sign(new TextEncoder().encode(ASSISTANT_SECRET));
    expect(await told(await forged({}, 'HS256'))).toContain('its signature is wrong');
    expect(await told(await forged({}, 'HS512'))).toContain('its algorithm is not accepted');
    expect(await told(new UnsecuredJWT(decodeJwt(token)).encode())).toContain('its algorithm is not accepted');
    const [header, , signature] = token.split('.');
    const claims = Buffer.from(JSON.stringify({ ...decodeJwt(token), sub: 's2' })).toString('base64url');
    expect(await told([header, claims, signature].join('.'))).toContain('its signature is wrong');
  });

  test('an address from which somebody asks again and again is told to wait', async () => {
    const headers = { ...basic(), 'x-forwarded-for': '203.0.113.9' };
    let answer = await plane.send('', headers);
    for (let count = 1; count <= 60; count += 1) answer = await plane.send('', headers);
    expect([answer.status, Number(answer.headers.get('retry-after')) > 0]).toEqual([429, true]);
  });

  test('has no assertion, token or secret in its log', async () => {
    const assertion = await plane.assertionOf();
    const { body } = await plane.send(assertionForm(assertion));
    await plane.listTools(body.access_token);
    await plane.send(assertionForm(assertion), basic(), `${TOKEN_PATH}?client_secret=${ASSISTANT_SECRET}`);
    const log = plane.harness.log.join('\n');
    for (const secret of [assertion, body.access_token]) expect(log).not.toContain(secret.split('.')[2]);
    expect(log).not.toContain(ASSISTANT_SECRET);
  });
});
