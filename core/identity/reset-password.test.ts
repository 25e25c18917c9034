import { expect, test } from 'vitest';
import { ADMIN_PASSWORD, buildIdentityKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { draftOf } from '../base/record.ts';
import { findAccount } from './accounts.ts';
import { BUILT_IN_PASSWORD } from './first-accounts.ts';
import { newPassword, resetPassword } from './reset-password.ts';

const RESET = 'reset by the host 7';

test('the host gives an account a password that can only choose another, ends its sessions and keeps its second factor', async () => {
  await using kit = await buildIdentityKit();
  const { store, settings } = kit.services;
  const bearer = await kit.admin();
  const before = await findAccount(kit.services, 'admin');
  if (!before) throw new Error('there is no admin');
  const secondFactor = { secret: 'sealed', since: 1, lastStep: 0, recovery: [] };
  const spec = { ...before.spec, secondFactor };
  const op = { op: 'update', record: { ...draftOf(before), spec }, revision: before.revision } as const;
  await store.commit(SYSTEM_WORKSPACE, [op], { actor: 'system:test', reason: 'test', requestId: 'r' });

  await resetPassword(kit.services, await newPassword('admin', RESET, settings.signIn), settings.signIn);
  expect(await refusalOf(kit.call('list_users', {}, { bearer }))).toBe('unauthenticated');
  expect((await findAccount(kit.services, 'admin'))?.spec).toMatchObject({ secondFactor, passwordState: 'initial' });
  expect(await kit.events()).toContainEqual(
    expect.objectContaining({ type: 'password_reset', actor: 'system:operator', detail: { account: 'admin' } }),
  );
  expect(JSON.stringify(await store.audit(SYSTEM_WORKSPACE, { limit: 100 }))).not.toContain(RESET);
});

test('with the password that the host gave a session may choose another, and nothing else', async () => {
  await using kit = await buildIdentityKit();
  const { settings } = kit.services;
  await resetPassword(kit.services, await newPassword('admin', RESET, settings.signIn), settings.signIn);
  expect(await refusalOf(kit.login('admin', ADMIN_PASSWORD))).toBe('unauthenticated');
  const bearer = await kit.login('admin', RESET);
  expect(await refusalOf(kit.call('list_users', {}, { bearer }))).toBe('password_change_required');
  await kit.call('change_password', { oldPassword: RESET, newPassword: 'my own choice 8' }, { bearer });
  const own = await kit.login('admin', 'my own choice 8');
  expect(await kit.call('list_users', {}, { bearer: own })).toMatchObject({ items: [{ username: 'admin' }] });
});

test('a weak password, an unknown account and a disabled one are refused', async () => {
  await using kit = await buildIdentityKit();
  const { settings } = kit.services;
  const weak = await Promise.all(
    ['short', BUILT_IN_PASSWORD].map((password) => refusalOf(newPassword('admin', password, settings.signIn))),
  );
  expect(weak).toEqual(['invalid_input /password', 'invalid_input /password']);
  const reset = await newPassword('nobody', RESET, settings.signIn);
  expect(await refusalOf(resetPassword(kit.services, reset, settings.signIn))).toBe('not_found');
  const bearer = await kit.admin();
  await kit.call('create_user', { username: 'bob', password: RESET, role: 'user' }, { bearer });
  await kit.call('update_user', { username: 'bob', disabled: true }, { bearer });
  expect(await refusalOf(resetPassword(kit.services, { ...reset, username: 'bob' }, settings.signIn))).toBe('conflict');
});

test('the audit log says which administrator reset the password of whom', async () => {
  await using kit = await buildIdentityKit();
  const bearer = await kit.admin();
  await kit.call('create_user', { username: 'bob', password: RESET, role: 'user' }, { bearer });
  await kit.call('update_user', { username: 'bob', displayName: 'Bob' }, { bearer });
  const resets = async () => (await kit.events()).filter(({ type }) => type === 'password_reset');
  expect(await resets()).toEqual([]);
  await kit.call('update_user', { username: 'bob', password: 'another initial 9' }, { bearer });
  expect(await resets()).toMatchObject([{ actor: 'user:admin', result: 'ok', detail: { account: 'bob' } }]);
});
