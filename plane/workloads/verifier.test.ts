import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { FetchDocument } from '../../core/base/ports.ts';
import { testCertificate } from '../../net/nats/test-certificate.ts';
import { startReceiver } from '../../test/kits/http/receiver.ts';
import { GITHUB_CLAIMS, workloadIssuer } from '../../test/kits/plane/workloads.ts';
import { buildFetchDocument } from '../outgoing/document.ts';
import { buildWorkloadVerifier } from './verifier.ts';

const ISSUER = 'https://issuer.example';
const HOUR = 3_600_000;
const settings = { apiUrl: 'http://127.0.0.1:18090', publicUrls: ['https://mesh.example.com/'], webhookAllow: [] };

/** A control plane beside an issuer whose documents are what the test says. */
async function withIssuer() {
  const clock = { time: Date.UTC(2026, 0, 5), now: () => clock.time };
  const issuer = await workloadIssuer(ISSUER, { now: clock.now, audience: 'https://mesh.example.com' });
  const asked: string[] = [];
  const documents: {
    discovery: object;
    keys: object;
    isAway: boolean;
    /** What its answers wait for. */
    answer?: PromiseWithResolvers<void>;
  } = {
    discovery: { issuer: ISSUER, jwks_uri: `${ISSUER}/keys` },
    keys: { keys: await issuer.keys() },
    isAway: false,
  };
  const fetchDocument: FetchDocument = async (url) => {
    asked.push(url);
    await documents.answer?.promise;
    if (documents.isAway) return 'There was no answer within 5 s.';
    return { json: url.endsWith('/keys') ? documents.keys : documents.discovery };
  };
  const verifier = buildWorkloadVerifier({ settings, clock, fetchDocument });
  const verify = async (jwt?: string) =>
    verifier.verify(jwt ?? (await issuer.token(GITHUB_CLAIMS)), { issuer: ISSUER });
  return { clock, issuer, documents, asked, verify };
}

test('the keys of an issuer are found by discovery and asked for once', async () => {
  const { verify, asked } = await withIssuer();
  expect(await verify()).toMatchObject({ sub: GITHUB_CLAIMS.sub });
  await verify();
  expect(asked).toEqual([`${ISSUER}/.well-known/openid-configuration`, `${ISSUER}/keys`]);
});

test('a key that the issuer has since is found, and an invented one has it asked once a minute', async () => {
  const { verify, issuer, documents, asked, clock } = await withIssuer();
  await verify();
  await issuer.rotate();
  documents.keys = { keys: await issuer.keys() };
  clock.time += 61_000;
  await verify();
  expect(asked).toHaveLength(4);
  const invented = await issuer.token(GITHUB_CLAIMS, { kid: 'invented' });
  for (let time = 0; time < 5; time += 1) await expect(verify(invented)).rejects.toThrow('signed by no key');
  expect(asked).toHaveLength(4);
});

test('a known key does not wait while an invented one has a slow issuer asked', async () => {
  const { verify, issuer, documents, clock } = await withIssuer();
  await verify();
  clock.time += 61_000;
  const invented = await issuer.token(GITHUB_CLAIMS, { kid: 'invented' });
  documents.answer = Promise.withResolvers<void>();
  const waiting = verify(invented);
  expect(await verify()).toMatchObject({ iss: ISSUER });
  documents.answer.resolve();
  await expect(waiting).rejects.toThrow('signed by no key');
});

test('keys that are known count while the issuer is away, and without any it is said', async () => {
  const { verify, documents, clock } = await withIssuer();
  documents.isAway = true;
  await expect(verify()).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('no answer') });
  documents.isAway = false;
  await verify();
  documents.isAway = true;
  clock.time += HOUR;
  expect(await verify()).toMatchObject({ iss: ISSUER });
});

test.each([
  ['calls itself otherwise', { discovery: { issuer: 'https://evil.example', jwks_uri: `${ISSUER}/keys` } }],
  ['has no document', { discovery: {} }],
  ['has no keys', { keys: { keys: 'none' } }],
])('an issuer that %s is unavailable', async (_what, given) => {
  const { verify, documents } = await withIssuer();
  Object.assign(documents, given);
  await expect(verify()).rejects.toMatchObject({ code: 'unavailable' });
});

test('an issuer inside of the own network is not asked unless it is allowed', async () => {
  const server = createServer((request, response) => {
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const body = request.url === '/keys' ? { keys } : { issuer: origin, jwks_uri: `${origin}/keys` };
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clock = { now: () => Date.now() };
  const issuer = await workloadIssuer(origin, { now: clock.now });
  const keys = await issuer.keys();
  const jwt = await issuer.token(GITHUB_CLAIMS);
  const by = (allow: string[]) =>
    buildWorkloadVerifier({ settings, clock, fetchDocument: buildFetchDocument({ allow }) });
  await expect(by([]).verify(jwt, { issuer: origin })).rejects.toMatchObject({ code: 'unavailable' });
  expect(await by(['127.0.0.0/8']).verify(jwt, { issuer: origin })).toMatchObject({ iss: origin });
});

test('keys come from a server of the authorities of a rule, and are no keys of the issuer for another rule', async () => {
  const clock = { now: () => Date.now() };
  const place: { origin?: string; keys?: object[] } = {};
  await using server = await startReceiver((response, request) => {
    const { origin, keys } = place;
    response.end(JSON.stringify(request.url === '/keys' ? { keys } : { issuer: origin, jwks_uri: `${origin}/keys` }));
  }, testCertificate);
  const origin = `https://127.0.0.1:${server.port}`;
  const issuer = await workloadIssuer(origin, { now: clock.now });
  Object.assign(place, { origin, keys: await issuer.keys() });
  const jwt = await issuer.token(GITHUB_CLAIMS);
  const by = (allow: string[]) =>
    buildWorkloadVerifier({ settings, clock, fetchDocument: buildFetchDocument({ allow }) });
  const verifier = by(['127.0.0.1']);
  const ca = testCertificate.cert;
  expect(await verifier.verify(jwt, { issuer: origin, ca })).toMatchObject({ iss: origin });
  await expect(verifier.verify(jwt, { issuer: origin })).rejects.toMatchObject({ code: 'unavailable' });
  await expect(by([]).verify(jwt, { issuer: origin, ca })).rejects.toThrow('not on the internet');
});
