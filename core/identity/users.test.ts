import { describe, expect, it } from 'vitest';
import { buildIdentityKit, START } from '../../test/kits/plane/identity-kit.ts';
import { createUser } from '../../tools/users/create-user.ts';
import { deleteUser } from '../../tools/users/delete-user.ts';
import { getMe } from '../../tools/users/get-me.ts';
import { listUsers } from '../../tools/users/list-users.ts';
import { logIn } from '../../tools/users/log-in.ts';
import { updateUser } from '../../tools/users/update-user.ts';
import { listMembers } from '../../tools/workspaces/list-members.ts';
import { removeMember } from '../../tools/workspaces/remove-member.ts';
import { setMember } from '../../tools/workspaces/set-member.ts';

const ADA = { username: 'ada', password: 'loves-Engines-1843', displayName: 'Ada L.' };

describe('accounts', () => {
  it('are created with a password to be changed, and log in with it', async () => {
    await using kit = await buildIdentityKit();
    const bearer = await kit.admin();
    expect(await kit.call(createUser, ADA, { bearer })).toEqual({
      id: expect.stringMatching(/^u_/),
      username: 'ada',
      displayName: 'Ada L.',
      role: 'user',
      disabled: false,
      passwordChangeRequired: true,
      secondFactor: false,
      createdAt: new Date(START).toISOString(),
    });
    const { username, password } = ADA;
    expect(await kit.call(logIn, { username, password })).toMatchObject({ passwordChangeRequired: true });
    expect(await kit.call(listUsers, {}, { bearer })).toMatchObject({
      items: [{ username: 'ada' }, { username: 'admin' }],
    });
  });

  it.each([
    ['a name in use', { username: 'admin' }, 'conflict'],
    ['a reserved name', { username: 'me' }, 'invalid_input'],
    ['upper case', { username: 'Ada' }, 'invalid_input'],
    ['a weak password', { password: 'password1' }, 'invalid_input'],
    ['an unknown role', { role: 'root' }, 'invalid_input'],
  ])('are refused with %s', async (_what, fields, code) => {
    await using kit = await buildIdentityKit();
    await expect(kit.call(createUser, { ...ADA, ...fields }, { bearer: await kit.admin() })).rejects.toMatchObject({
      code,
    });
  });

  it('do not get another password of their own by a session alone', async () => {
    await using kit = await buildIdentityKit();
    const bearer = await kit.admin();
    const taken = kit.call(updateUser, { username: 'admin', password: 'another-Initial-1' }, { bearer });
    await expect(taken).rejects.toMatchObject({ code: 'forbidden' });
    await kit.call(updateUser, { username: 'admin', displayName: 'The admin' }, { bearer });
  });

  it('log in no more with the old password after a reset, nor while disabled', async () => {
    await using kit = await buildIdentityKit();
    const bearer = await kit.admin();
    await kit.call(createUser, ADA, { bearer });
    const password = 'another-Initial-1';
    await kit.call(updateUser, { username: 'ada', password }, { bearer });
    await expect(kit.login('ada', ADA.password)).rejects.toMatchObject({ code: 'unauthenticated' });
    await kit.login('ada', password);
    await kit.call(updateUser, { username: 'ada', disabled: true }, { bearer });
    await expect(kit.login('ada', password)).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  it('keep one platform administrator, also when two are removed at once', async () => {
    await using kit = await buildIdentityKit();
    const bearer = await kit.admin();
    const demote = (username: string) => kit.call(updateUser, { username, role: 'user' }, { bearer });
    await expect(demote('admin')).rejects.toMatchObject({ code: 'conflict' });
    await kit.call(createUser, { ...ADA, role: 'platform_admin' }, { bearer });
    const outcomes = await Promise.allSettled([demote('admin'), demote('ada')]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('leave with their memberships and sessions when they are deleted', async () => {
    await using kit = await buildIdentityKit();
    const bearer = await kit.admin();
    const workspace = await kit.workspace('prod');
    const ada = await kit.person('ada', 'operator', workspace);
    await kit.gate.authenticate(ada, '');
    expect(await kit.call(deleteUser, { username: 'ada' }, { bearer })).toEqual({ deleted: true });
    await expect(kit.gate.authenticate(ada, '')).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(await kit.call(listMembers, {}, { bearer, workspace })).toEqual({ items: [] });
    await expect(kit.call(deleteUser, { username: 'ada' }, { bearer })).rejects.toMatchObject({ code: 'not_found' });
    await expect(kit.call(deleteUser, { username: 'admin' }, { bearer })).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('members', () => {
  it('are set, changed and removed', async () => {
    await using kit = await buildIdentityKit();
    const workspace = await kit.workspace('prod');
    const bearer = await kit.person('boss', 'admin', workspace);
    await kit.person('ada');
    const as = { bearer, workspace };
    await kit.call(setMember, { username: 'ada', role: 'viewer' }, as);
    expect(await kit.call(setMember, { username: 'Ada', role: 'auditor' }, as)).toMatchObject({ role: 'auditor' });
    await kit.call(removeMember, { username: 'ada' }, as);
    expect(await kit.call(listMembers, {}, as)).toMatchObject({ items: [{ username: 'boss' }] });
    await expect(kit.call(removeMember, { username: 'ada' }, as)).rejects.toMatchObject({ code: 'not_found' });
    await expect(kit.call(setMember, { username: 'a b', role: 'viewer' }, as)).rejects.toMatchObject({
      code: 'invalid_input',
    });
  });

  it('see themselves and where they belong', async () => {
    await using kit = await buildIdentityKit();
    const workspace = await kit.workspace('prod');
    await kit.workspace('dev');
    const bearer = await kit.person('ada', 'viewer', workspace);
    expect(await kit.call(getMe, {}, { bearer })).toMatchObject({
      username: 'ada',
      role: 'user',
      interactive: true,
      expiresAt: new Date(START + 12 * 3_600_000).toISOString(),
      workspaces: [{ id: workspace, slug: 'prod', role: 'viewer', scopes: ['network:read', 'snapshots:read'] }],
    });
  });
});
