import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { testCertificate } from '../../net/nats/test-certificate.ts';
import { startReceiver } from '../../test/kits/http/receiver.ts';
import {
  FORBIDDEN_REVIEW,
  SERVICE_ACCOUNT,
  tokenReviewOf,
  UNKNOWN_TOKEN,
  workloadIssuer,
} from '../../test/kits/plane/workloads.ts';
import type { RequestLimits } from '../outgoing/request.ts';
import { buildTokenReview, type ClusterSettings, MAX_REVIEWS } from './token-review.ts';
import { buildWorkloadVerifier } from './verifier.ts';

const ISSUER = 'https://kubernetes.default.svc.cluster.local';
const OWN = 'https://mesh.example.com';
const settings = { apiUrl: 'http://127.0.0.1:18090', publicUrls: [OWN], webhookAllow: [] };
const REVIEWER = 'reviewer-secret';

type Answer = (response: ServerResponse) => void;
const json =
  (status: number, body: object): Answer =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

/** A control plane beside the API server of a cluster, which answers as the test says. */
async function withCluster(answer: Answer, given: Partial<ClusterSettings> = {}, limits: Partial<RequestLimits> = {}) {
  const server = await startReceiver((response) => answer(response), testCertificate);
  const clock = { time: Date.UTC(2026, 0, 5), now: () => clock.time };
  const issuer = await workloadIssuer(ISSUER, { now: clock.now, audience: OWN });
  const cluster = {
    name: 'prod',
    server: `https://127.0.0.1:${server.port}`,
    ca: testCertificate.cert,
    readToken: () => REVIEWER,
    ...given,
  };
  const reviewToken = buildTokenReview({ clusters: [cluster], limits });
  const verifier = buildWorkloadVerifier({ settings, clock, reviewToken });
  const verify = (jwt: string, tokenReview = 'prod') => verifier.verify(jwt, { issuer: ISSUER, tokenReview });
  const token = (claims = {}, more = {}) => issuer.token({ sub: SERVICE_ACCOUNT, ...claims }, more);
  return {
    server,
    token,
    verify,
    refusal: async (jwt?: string) =>
      verify(jwt ?? (await token())).then(
        () => 'answered',
        ({ code, message }: { code: string; message: string }) => `${code}: ${message}`,
      ),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

test('the API server of a cluster judges a token of it, by the credential of its reviewer, and says whose it is', async () => {
  await using plane = await withCluster(json(201, tokenReviewOf()));
  const jwt = await plane.token({ sub: 'what the token says itself' });
  expect(await plane.verify(jwt)).toMatchObject({
    iss: ISSUER,
    aud: OWN,
    jti: 'id-1',
    sub: SERVICE_ACCOUNT,
    uid: 'c2a7a9a4-64ad-4f0f-8d5c-1d1d63f4b9ad',
    'authentication.kubernetes.io/pod-name': 'build-7c9d',
  });
  const [{ headers, body, url } = { headers: {}, body: '', url: '' }] = plane.server.received;
  expect([url, headers['authorization']]).toEqual([
    '/apis/authentication.k8s.io/v1/tokenreviews',
    `Bearer ${REVIEWER}`,
  ]);
  expect(JSON.parse(body)).toMatchObject({ kind: 'TokenReview', spec: { token: jwt } });
  expect(JSON.parse(body).spec.audiences).toContain(OWN);
});

test('nothing that a cluster says of a user stands for what the token says of itself', async () => {
  const review = tokenReviewOf();
  const extra = { exp: ['9999999999'], jti: ['another'], aud: ['x'], iss: ['y'], many: ['a', 'b'] };
  await using plane = await withCluster(
    json(200, { ...review, status: { ...review.status, user: { ...review.status.user, extra } } }),
  );
  const claims = await plane.verify(await plane.token());
  expect(claims).toMatchObject({ iss: ISSUER, aud: OWN, jti: 'id-1', exp: Date.UTC(2026, 0, 5) / 1_000 + 300 });
  expect(claims).not.toHaveProperty('many');
});

test.each<[string, Answer, RegExp]>([
  ['that it does not know', json(201, UNKNOWN_TOKEN), /^unauthenticated: .*project one with the audience/],
  ['of no audience', json(201, tokenReviewOf({ audiences: [] })), /^unauthenticated: .*its audience/],
  [
    'for others',
    json(201, tokenReviewOf({ audiences: [OWN, 'https://kubernetes.default.svc'] })),
    /^unauthenticated: .*its audience/,
  ],
  ['of nobody', json(201, tokenReviewOf({ username: '' })), /^unauthenticated: .*whose it is/],
])('a token %s is refused with what to do', async (_what, answer, told) => {
  await using plane = await withCluster(answer);
  expect(await plane.refusal()).toMatch(told);
});

test.each<[string, Answer, RegExp]>([
  ['refuses the reviewer', json(403, FORBIDDEN_REVIEW), /status 403\)\. Renew the tokenFile .* system:auth-delegator/],
  ['does not know the reviewer', json(401, FORBIDDEN_REVIEW), /status 401\)\. Renew the tokenFile/],
  ['leads elsewhere', (response) => response.writeHead(307, { location: 'https://127.0.0.1:1/' }).end(), /status 307/],
  ['answers 10 MB', (response) => response.writeHead(201).end(`{"a":"${'x'.repeat(10_000_000)}"}`), /too long/],
  ['answers slowly', (response) => response.write('{'), /no answer within 0.5 s/],
  ['answers no review', json(200, { kind: 'Status' }), /no TokenReview/],
  ['answers no JSON', (response) => response.writeHead(200).end('<html>'), /no TokenReview/],
])(
  'a cluster that %s is unavailable after one request, and its answer and the secret are not told',
  async (_what, answer, told) => {
    await using plane = await withCluster(answer, {}, { totalMs: 500 });
    const refusal = await plane.refusal();
    expect(refusal).toMatch(told);
    expect(refusal).toMatch(/^unavailable: The cluster prod cannot judge the token: /);
    expect(refusal).not.toMatch(/reviewer-secret|system:serviceaccount/);
    expect(plane.server.received).toHaveLength(1);
  },
);

test('a cluster whose certificate others vouch for, or whose reviewer has no credential, is not asked', async () => {
  await using publicOnes = await withCluster(json(201, tokenReviewOf()), { ca: undefined as never });
  expect(await publicOnes.refusal()).toMatch(/^unavailable: .*SELF_SIGNED|^unavailable: .*UNABLE_TO_VERIFY/);
  for (const readToken of [() => '', () => 'two\nlines', () => JSON.parse('no')]) {
    await using plane = await withCluster(json(201, tokenReviewOf()), { readToken });
    expect(await plane.refusal()).toMatch(/^unavailable: .*tokenFile in app.kubernetes/);
    expect(plane.server.received).toHaveLength(0);
  }
});

test('a token of another issuer, without an end or that is none is not sent to the cluster', async () => {
  await using plane = await withCluster(json(201, tokenReviewOf()));
  expect(await plane.refusal(await plane.token({ iss: 'https://other.example' }))).toMatch(/it is not of/);
  const [header, , signature] = (await plane.token()).split('.');
  const endless = Buffer.from(JSON.stringify({ iss: ISSUER, sub: SERVICE_ACCOUNT })).toString('base64url');
  expect(await plane.refusal(`${header}.${endless}.${signature}`)).toMatch(/it never expires/);
  expect(await plane.refusal('a.b.c')).toMatch(/no signed token/);
  await expect(plane.verify(await plane.token(), 'staging')).rejects.toThrow('does not name it');
  expect(plane.server.received).toHaveLength(0);
});

test('a cluster judges so many tokens at once, and another one once it has answered', async () => {
  const waiting: ServerResponse[] = [];
  const arrived = Promise.withResolvers<void>();
  await using plane = await withCluster((response) => {
    waiting.push(response);
    if (waiting.length === MAX_REVIEWS) arrived.resolve();
    if (waiting.length > MAX_REVIEWS) json(201, tokenReviewOf())(response);
  });
  const jwt = await plane.token();
  const pending = Array.from({ length: MAX_REVIEWS }, () => plane.verify(jwt));
  await arrived.promise;
  expect(await plane.refusal(jwt)).toMatch(/^unavailable: .*16 tokens already/);
  for (const response of waiting) json(201, tokenReviewOf())(response);
  await Promise.all(pending);
  expect(await plane.verify(jwt)).toMatchObject({ sub: SERVICE_ACCOUNT });
});
