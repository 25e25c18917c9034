import { generateKeyPair } from 'jose';
import { expect, test } from 'vitest';
import { freshKey, proofOf } from '../../test/kits/plane/devices.ts';
import { GITHUB, GITHUB_CLAIMS, testCertificate, workloadIssuer } from '../../test/kits/plane/workloads.ts';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const CLAIMS = { repository_id: '74', ref: 'refs/heads/*' };

async function buildWorkloadKit(fields: Record<string, unknown> = {}) {
  const kit = await buildWorkspaceKit();
  const issuer = await workloadIssuer(GITHUB, kit.clock);
  const identity = { issuer: GITHUB, claims: CLAIMS, keys: await issuer.keys() };
  const make = (given: Record<string, unknown> = {}) =>
    kit.ask('generate_join_token', { name: 'ci', labels: { role: 'ci' }, identity, ...fields, ...given });
  const made = await make();
  let count = 0;
  return {
    kit,
    issuer,
    identity,
    make,
    made,
    async join(jwt: string | undefined, given: Record<string, unknown> = {}) {
      const key = freshKey();
      count += 1;
      const { controlKey } = kit.services.keys;
      const device = { name: `job-${count}`, publicKey: key.publicKey, proof: proofOf(key, made.token, controlKey) };
      const identity = jwt === undefined ? {} : { identity: jwt };
      return kit.call('register_device', { ...device, ...identity, ...given }, { bearer: made.token });
    },
    [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose](),
  };
}

test('a workload joins by its own OIDC token, with the labels of the join token, and ends with its time', async () => {
  await using plane = await buildWorkloadKit({ deviceTtl: '2h' });
  expect(plane.made).toMatchObject({
    identity: { issuer: GITHUB, claims: CLAIMS },
    deviceTtl: '2h',
    ephemeral: true,
    usageLimit: 0,
  });
  const { name, expiresAt } = await plane.join(await plane.issuer.token(GITHUB_CLAIMS));
  expect(Date.parse(expiresAt)).toBe(plane.kit.clock.now() + 2 * 3_600_000);
  expect(await plane.kit.ask('get_peer', { id: name })).toMatchObject({ labels: { role: 'ci' } });
  const { joined } = await plane.kit.ask('get_peer_access', { id: name });
  expect(joined.workload).toEqual({ issuer: GITHUB, subject: GITHUB_CLAIMS.sub });
  const { items } = await plane.kit.ask('list_audit', {});
  expect(JSON.stringify(items)).toContain(GITHUB_CLAIMS.sub);
});

test('a join token of workloads alone lets nobody in', async () => {
  await using plane = await buildWorkloadKit();
  expect(await refusalOf(plane.join(undefined))).toBe('invalid_input /identity');
  const jwt = await plane.issuer.token(GITHUB_CLAIMS);
  expect(await refusalOf(plane.join(jwt, { proof: undefined }))).toBe('invalid_input /proof');
  const { token } = await plane.kit.ask('generate_join_token', { name: 'people' });
  const named = { name: 'laptop', publicKey: freshKey().publicKey, identity: jwt };
  expect(await refusalOf(plane.kit.call('register_device', named, { bearer: token }))).toBe('invalid_input /identity');
});

test('an OIDC token counts once, and a device that lost its answer registers again with its key', async () => {
  await using plane = await buildWorkloadKit();
  const jwt = await plane.issuer.token(GITHUB_CLAIMS);
  const key = freshKey();
  const proof = proofOf(key, plane.made.token, plane.kit.services.keys.controlKey);
  const same = { name: 'job', publicKey: key.publicKey, proof };
  const [first, again] = [await plane.join(jwt, same), await plane.join(jwt, same)];
  expect([first.id, again.existing]).toEqual([again.id, true]);
  expect(await refusalOf(plane.join(jwt))).toBe('unauthenticated');
});

test('an OIDC token counts once with whatever join token, also in the minute by which clocks may differ', async () => {
  await using plane = await buildWorkloadKit();
  const { kit, issuer } = plane;
  const jwt = await issuer.token(GITHUB_CLAIMS);
  await plane.join(jwt);
  const other = await plane.make({ name: 'other' });
  const joinOther = () => {
    const key = freshKey();
    const proof = proofOf(key, other.token, kit.services.keys.controlKey);
    const device = { name: 'thief', publicKey: key.publicKey, proof, identity: jwt };
    return kit.call('register_device', device, { bearer: other.token });
  };
  expect(await refusalOf(joinOther())).toBe('unauthenticated');
  kit.clock.time += 330_000;
  for (const again of [joinOther, () => plane.join(jwt)]) expect(await refusalOf(again())).toBe('unauthenticated');
});

test('20 registrations at once with one OIDC token make one peer', async () => {
  await using plane = await buildWorkloadKit();
  const jwt = await plane.issuer.token(GITHUB_CLAIMS);
  const answers = await Promise.allSettled(Array.from({ length: 20 }, () => plane.join(jwt)));
  expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test('an OIDC token whose claims do not match is refused by the name of the claim', async () => {
  await using plane = await buildWorkloadKit();
  const refused = async (claims: object) =>
    (await plane.join(await plane.issuer.token({ ...GITHUB_CLAIMS, ...claims })).catch((error: Error) => error))
      .message;
  expect(await refused({ repository_id: '75' })).toContain('the claim repository_id does not match');
  expect(await refused({ ref: 'refs/heads/a/b' })).toContain('the claim ref does not match');
  expect(await refused({ ref: ['refs/heads/main'] })).toContain('the claim ref does not match');
  expect(await refused({ ref: undefined })).toContain('the claim ref does not match');
});

test('an OIDC token of another key, issuer, audience, algorithm or time is refused with the reason', async () => {
  await using plane = await buildWorkloadKit();
  const { issuer, kit } = plane;
  const refused = async (jwt: string) => (await plane.join(jwt).catch((error: Error) => error)).message;
  const { privateKey } = await generateKeyPair('RS256');
  expect(await refused(await issuer.token(GITHUB_CLAIMS, { key: privateKey }))).toContain('its signature is wrong');
  expect(await refused(await issuer.token(GITHUB_CLAIMS, { kid: 'other' }))).toContain('signed by no key');
  expect(await refused(await issuer.token({ ...GITHUB_CLAIMS, iss: 'https://evil.example' }))).toContain('is not of');
  expect(await refused(await issuer.token(GITHUB_CLAIMS, { audience: 'sts.amazonaws.com' }))).toContain('its audience');
  const both = ['http://127.0.0.1:18090', 'https://other.example'];
  expect(await refused(await issuer.token(GITHUB_CLAIMS, { audience: both }))).toContain('for others too');
  expect(await refused(await issuer.token(GITHUB_CLAIMS, { lasts: -120 }))).toContain('has expired');
  expect(await refused(await issuer.token(GITHUB_CLAIMS, { lasts: 90_000 }))).toContain('longer than a day');
  const [header = '', claims = ''] = (await issuer.token(GITHUB_CLAIMS)).split('.');
  const none = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url');
  expect(await refused(`${none}.${claims}.`)).toContain('does not count');
  expect(await refused(`${header}.${claims}.`)).toContain('its signature is wrong');
  // The public key as the secret of an HMAC.
  const secret = await crypto.subtle.importKey(
    'raw',
    Buffer.from(JSON.stringify(await issuer.keys())),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  );
  expect(await refused(await issuer.token(GITHUB_CLAIMS, { key: secret, alg: 'HS256' }))).toContain('algorithm');
  expect((await kit.ask('list_peers')).items).toEqual([]);
});

test.each([
  ['without a claim', { claims: {} }, '/identity/claims'],
  ['that matches everyone', { claims: { ...CLAIMS, ref: '*' } }, '/identity/claims/ref'],
  ['that matches each name of a segment', { claims: { ...CLAIMS, sub: '*:*/*' } }, '/identity/claims/sub'],
  [
    'by the name of a repository',
    { claims: { repository: 'octo-org/octo-repo', ref: 'refs/heads/main' } },
    '/identity/claims',
  ],
  ['by part of an id', { claims: { repository_id: '7*', ref: 'refs/heads/main' } }, '/identity/claims'],
  ['of each branch', { claims: { repository_id: '74' } }, '/identity/claims'],
  ['of each project', { issuer: 'https://gitlab.com', claims: { ref: 'main' } }, '/identity/claims'],
  [
    'of each namespace',
    { claims: { sub: 'system:serviceaccount:*:ci' }, issuer: 'https://cluster.example' },
    '/identity/claims',
  ],
  [
    'of each namespace, in other words',
    { claims: { sub: '*:*:*:job' }, issuer: 'https://cluster.example' },
    '/identity/claims',
  ],
  ['by what says nothing of the workload', { claims: { ...CLAIMS, jti: 'a*' } }, '/identity/claims/jti'],
  ['by marks alone', { claims: { ...CLAIMS, sub: '*-*' } }, '/identity/claims/sub'],
  ['over plain HTTP', { issuer: 'http://issuer.example' }, '/identity/issuer'],
  [
    'of each service account that a cluster judges',
    { claims: { sub: 'system:*:ci:job' }, issuer: 'https://c.example', keys: undefined, tokenReview: 'prod' },
    '/identity/claims',
  ],
  [
    'by keys and by a cluster',
    { issuer: 'https://c.example', claims: { sub: 'system:serviceaccount:ci:job' }, tokenReview: 'prod' },
    '/identity/tokenReview',
  ],
  [
    'of a cluster that the installation does not name',
    {
      issuer: 'https://c.example',
      claims: { sub: 'system:serviceaccount:ci:job' },
      keys: undefined,
      tokenReview: 'prod',
    },
    '/identity/tokenReview',
  ],
  ['with authorities that are no PEM', { keys: undefined, ca: 'MIIB' }, '/identity/ca'],
  [
    'with a certificate that is none',
    { keys: undefined, ca: '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----' },
    '/identity/ca',
  ],
  [
    'with a private key beside its authorities',
    { keys: undefined, ca: `${testCertificate.cert}${testCertificate.key}` },
    '/identity/ca',
  ],
  ['with a private key', { keys: [{ kty: 'RSA', n: 'AQAB', e: 'AQAB', d: 'AQAB' }] }, '/identity/keys/0/d'],
])('a join token of workloads %s is refused', async (_what, given, pointer) => {
  await using plane = await buildWorkloadKit();
  expect(await refusalOf(plane.make({ identity: { ...plane.identity, ...given } }))).toBe(`invalid_input ${pointer}`);
});

test('workloads are let in without an approval where the token says so, which takes the right to approve devices', async () => {
  await using plane = await buildWorkloadKit();
  const { kit, issuer } = plane;
  await kit.ask('update_workspace', { settings: { requirePeerApproval: true } });
  expect(await plane.join(await issuer.token(GITHUB_CLAIMS))).toMatchObject({ phase: 'pending' });
  const admitting = await plane.make({ name: 'admitting', admits: true });
  const key = freshKey();
  const proof = proofOf(key, admitting.token, kit.services.keys.controlKey);
  const device = { name: 'admitted', publicKey: key.publicKey, proof, identity: await issuer.token(GITHUB_CLAIMS) };
  expect(await kit.call('register_device', device, { bearer: admitting.token })).toMatchObject({ phase: 'ready' });
  expect(await refusalOf(plane.make({ admits: true, identity: undefined }))).toBe('invalid_input /admits');
});

test('that workloads need no approval is for a second person to decide where two decide', async () => {
  await using plane = await buildWorkloadKit({ labels: {} });
  await plane.kit.ask('update_workspace', { settings: { requireApproval: true } });
  expect(await plane.make({ name: 'plain' })).toMatchObject({ token: expect.stringMatching(/^mesh-join-/) });
  expect(await plane.make({ name: 'admitting', admits: true })).toMatchObject({ status: 'pending_approval' });
});

test('keys are taken as an issuer publishes them: as a set, with certificates beside', async () => {
  await using plane = await buildWorkloadKit();
  const keys = (await plane.issuer.keys()).map((key) => ({ ...key, x5c: ['MIIB'], key_ops: ['verify'] }));
  const made = await plane.make({ name: 'set', identity: { ...plane.identity, keys: { keys } } });
  const key = freshKey();
  const proof = proofOf(key, made.token, plane.kit.services.keys.controlKey);
  const device = { name: 'job', publicKey: key.publicKey, proof, identity: await plane.issuer.token(GITHUB_CLAIMS) };
  expect(await plane.kit.call('register_device', device, { bearer: made.token })).toMatchObject({ name: 'job' });
});
