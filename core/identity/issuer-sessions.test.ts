import { expect, onTestFinished, test, vi } from 'vitest';
import { CONTEXT } from '../../test/kits/plane/identity-kit.ts';
import { buildIssuerKit, CORP, identity } from '../../test/kits/plane/issuer-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';
import { MeshError } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { StoreError } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { askIssuers, issuerSignOut } from './issuer-sessions.ts';

const ASK_MS = 10 * 60_000;
const ADA = identity('ada@example.com', ['operators']);

test('a session goes on while the issuer says so, with the refresh token that it gave last', async () => {
  await using kit = await buildIssuerKit();
  const { token } = await kit.signIn(ADA);
  kit.answers.refresh = { ...ADA, refreshToken: 'refresh-2' };
  await askIssuers(kit.services);
  expect(kit.refreshedWith).toEqual([]);
  for (const _round of [1, 2]) {
    kit.clock.time += ASK_MS;
    await askIssuers(kit.services);
  }
  expect(kit.refreshedWith).toEqual(['refresh-1', 'refresh-2']);
  expect(await kit.call('get_me', {}, { bearer: token })).toMatchObject({ username: 'ada@example.com' });
});

test('a refresh token is kept though the session is written while the issuer is asked', async () => {
  await using kit = await buildIssuerKit();
  await kit.signIn(ADA);
  const { store } = kit.services;
  kit.answers.refresh = { ...ADA, refreshToken: 'refresh-2' };
  kit.answers.meanwhile = async () => {
    const [session] = (await store.list(SYSTEM_WORKSPACE, 'Session')).items;
    if (!session) return;
    const record = { ...draftOf(session), spec: { ...session.spec, usedAt: 1 } };
    await store.commit(SYSTEM_WORKSPACE, [{ op: 'update', record, revision: session.revision }], CONTEXT);
  };
  for (const _round of [1, 2]) {
    kit.clock.time += ASK_MS;
    await askIssuers(kit.services);
  }
  expect(kit.refreshedWith).toEqual(['refresh-1', 'refresh-2']);
});

test('a session whose person signs out while the issuer is asked stays ended', async () => {
  await using kit = await buildIssuerKit();
  for (const answer of ['refused', ADA] as const) {
    const { token } = await kit.signIn(ADA);
    kit.answers.meanwhile = () => kit.call('log_out', {}, { bearer: token });
    kit.answers.refresh = answer;
    kit.clock.time += ASK_MS;
    await askIssuers(kit.services);
    expect((await kit.services.store.list(SYSTEM_WORKSPACE, 'Session')).items).toEqual([]);
  }
});

test('a session ends when the issuer refuses its refresh token', async () => {
  await using kit = await buildIssuerKit();
  const { token } = await kit.signIn(ADA);
  kit.clock.time += ASK_MS;
  await askIssuers(kit.services);
  expect(await refusalOf(kit.call('get_me', {}, { bearer: token }))).toBe('unauthenticated');
  expect(await kit.events()).toContainEqual(
    expect.objectContaining({ type: 'logout', detail: { issuer: 'corp', reason: 'refused by the issuer' } }),
  );
});

test('a session ends, and the membership with it, when a claim goes', async () => {
  await using kit = await buildIssuerKit();
  const { token } = await kit.signIn(ADA);
  kit.answers.refresh = identity('ada@example.com', []);
  kit.clock.time += ASK_MS;
  await askIssuers(kit.services);
  expect(await refusalOf(kit.call('get_me', {}, { bearer: token }))).toBe('unauthenticated');
  expect(await kit.role('ada@example.com')).toBeUndefined();
});

test('a session and its membership go on where the issuer confirms them without claims', async () => {
  await using kit = await buildIssuerKit();
  const { token } = await kit.signIn(ADA);
  kit.answers.refresh = { ...ADA, claims: {} };
  kit.clock.time += ASK_MS;
  await askIssuers(kit.services);
  expect(await kit.call('get_me', {}, { bearer: token })).toMatchObject({ username: 'ada@example.com' });
  expect(await kit.role('ada@example.com')).toBe('operator');
});

test('a session goes on while its issuer is away, which is asked once for all of them', async () => {
  await using kit = await buildIssuerKit();
  const [one, other] = [await kit.signIn(ADA), await kit.signIn(ADA)];
  kit.answers.refresh = 'away';
  kit.clock.time += ASK_MS;
  await askIssuers(kit.services);
  expect(kit.refreshedWith).toHaveLength(1);
  for (const { token } of [one, other]) {
    expect(await kit.call('get_me', {}, { bearer: token })).toMatchObject({ username: 'ada@example.com' });
  }
});

const BOB = { ...identity('bob@example.com', ['operators']), refreshToken: 'refresh-bob' };

test.each([
  ['the issuer wants to be asked another way', new MeshError('unauthenticated', 'interaction_required')],
  ['the store has another record of that name', new StoreError('already_exists', 'Account ada')],
  ['a fault is of nobody', new TypeError('fault')],
])('a session of which %s keeps no other waiting, and is asked about again', async (_what, fault) => {
  await using kit = await buildIssuerKit();
  const [ada, bob] = [await kit.signIn(ADA), await kit.signIn(BOB)];
  kit.answers.refresh = (token) => (token === 'refresh-1' ? fault : { ...BOB, ...identity('bob@example.com', []) });
  kit.clock.time += ASK_MS;
  await askIssuers(kit.services);
  expect(await refusalOf(kit.call('get_me', {}, { bearer: bob.token }))).toBe('unauthenticated');
  expect(await kit.call('get_me', {}, { bearer: ada.token })).toMatchObject({ username: 'ada@example.com' });
  await askIssuers(kit.services);
  expect(kit.refreshedWith.toSorted()).toEqual(['refresh-1', 'refresh-bob']);
  kit.clock.time += ASK_MS;
  await askIssuers(kit.services);
  expect(kit.refreshedWith.slice(2)).toEqual(['refresh-1']);
});

test('a session for which its issuer never answers lets others be asked about the next time', async () => {
  await using kit = await buildIssuerKit();
  await kit.signIn(ADA);
  kit.clock.time += 1;
  const bob = await kit.signIn(BOB);
  kit.answers.refresh = (token) => (token === 'refresh-1' ? new MeshError('unavailable', 'It hangs.') : 'refused');
  kit.clock.time += ASK_MS;
  await askIssuers(kit.services);
  expect(kit.refreshedWith).toEqual(['refresh-1']);
  expect(await askIssuers(kit.services)).toBeGreaterThan(kit.clock.time);
  expect(kit.refreshedWith).toEqual(['refresh-1', 'refresh-bob']);
  expect(await refusalOf(kit.call('get_me', {}, { bearer: bob.token }))).toBe('unauthenticated');
});

test('the refresh token that an issuer gave is kept though the claims beside it fail', async () => {
  await using kit = await buildIssuerKit();
  await kit.signIn(ADA);
  kit.answers.refresh = { ...ADA, refreshToken: 'refresh-2' };
  const { store } = kit.services;
  const list = vi.spyOn(store, 'lookup').mockRejectedValueOnce(new StoreError('conflict', 'Account ada'));
  onTestFinished(() => list.mockRestore());
  for (const _round of [1, 2]) {
    kit.clock.time += ASK_MS;
    await askIssuers(kit.services);
  }
  expect(kit.refreshedWith).toEqual(['refresh-1', 'refresh-2']);
});

test('a session ends, and its tokens go nowhere, where its issuer is another one under the same name', async () => {
  await using kit = await buildIssuerKit();
  const { token } = await kit.signIn(ADA);
  const settings = { ...kit.services.settings, issuers: [{ ...CORP, issuer: 'https://evil.example.com' }] };
  Object.assign(kit.services.settings, settings);
  expect(await refusalOf(kit.call('get_me', {}, { bearer: token }))).toBe('unauthenticated');
  const [session] = (await kit.services.store.list(SYSTEM_WORKSPACE, 'Session')).items;
  expect(session && (await issuerSignOut(kit.services, session))).toBeUndefined();
  kit.clock.time += ASK_MS;
  await askIssuers(kit.services);
  expect(kit.refreshedWith).toEqual([]);
  expect((await kit.services.store.list(SYSTEM_WORKSPACE, 'Session')).items).toEqual([]);
});

test('the store has no token of an issuer in clear', async () => {
  await using kit = await buildIssuerKit();
  await kit.signIn({ ...ADA, refreshToken: 'a refresh token', idToken: 'an id token' });
  const { items } = await kit.services.store.list(SYSTEM_WORKSPACE, 'Session');
  expect(items).toHaveLength(1);
  expect(JSON.stringify(items)).not.toMatch(/a refresh token|an id token/);
});

test.each(['log_out', 'log_out_everywhere'])(
  'to sign out by %s leads to the issuer, which is told whom',
  async (name) => {
    await using kit = await buildIssuerKit();
    const { token } = await kit.signIn(ADA);
    const { signOutUrl } = await kit.call<{ signOutUrl: string }>(name, {}, { bearer: token });
    expect(Object.fromEntries(new URL(signOutUrl).searchParams)).toEqual({
      returnTo: 'https://mesh.example.com/',
      idToken: 'id-1',
    });
    expect(await refusalOf(kit.call('get_me', {}, { bearer: token }))).toBe('unauthenticated');
  },
);
