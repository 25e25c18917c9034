import { describe, expect, it } from 'vitest';
import { buildIdentityKit, CONTEXT, type IdentityKit } from '../../test/kits/plane/identity-kit.ts';
import { listPeers } from '../../tools/peers/list-peers.ts';
import { listPolicies } from '../../tools/policies/list-policies.ts';
import { createApiToken } from '../../tools/tokens/create-api-token.ts';
import { createUser } from '../../tools/users/create-user.ts';
import { deleteUser } from '../../tools/users/delete-user.ts';
import { listMembers } from '../../tools/workspaces/list-members.ts';
import { removeMember } from '../../tools/workspaces/remove-member.ts';
import { setMember } from '../../tools/workspaces/set-member.ts';
import { findAccount } from './accounts.ts';

/** Ada, an operator of two workspaces with a session and an API token in each; the second has an administrator. */
async function prepared(kit: IdentityKit) {
  const [own, other] = [await kit.workspace('own'), await kit.workspace('other')];
  const ada = await kit.person('ada', 'operator', own);
  const boss = { bearer: await kit.person('boss', 'admin', other), workspace: other };
  await kit.call(setMember, { username: 'ada', role: 'operator' }, boss);
  const tokenIn = async (workspace: string) =>
    String(
      (
        await kit.call<{ token: string }>(
          createApiToken,
          { name: 'ci', scopes: ['network:read'] },
          { bearer: ada, workspace },
        )
      ).token,
    );
  return { own, other, ada, boss, tokens: { own: await tokenIn(own), other: await tokenIn(other) } };
}

const reads = (kit: IdentityKit, bearer: string, workspace: string) =>
  kit.call(listPeers, {}, { bearer, workspace }).then(
    () => 'reads',
    (error: { code: string }) => error.code,
  );

describe('a role in one workspace', () => {
  it('changes there at once, for sessions and API tokens, and ends none anywhere', async () => {
    await using kit = await buildIdentityKit();
    const { own, other, ada, boss, tokens } = await prepared(kit);
    const scopes = async (bearer: string, workspace: string) =>
      (await kit.gate.authenticate(bearer, '')).scopesIn(workspace);
    expect((await scopes(ada, other)).has('network:write')).toBe(true);
    await kit.call(setMember, { username: 'ada', role: 'viewer' }, boss);
    expect((await scopes(ada, other)).has('network:write')).toBe(false);
    expect((await scopes(ada, own)).has('network:write')).toBe(true);
    for (const bearer of [ada, tokens.own]) expect(await reads(kit, bearer, own)).toBe('reads');
    for (const bearer of [ada, tokens.other]) expect(await reads(kit, bearer, other)).toBe('reads');
  });

  it('ends with the API tokens made there, for good, and leaves those elsewhere', async () => {
    await using kit = await buildIdentityKit();
    const { own, other, ada, boss, tokens } = await prepared(kit);
    await kit.call(removeMember, { username: 'ada' }, boss);
    expect([await reads(kit, ada, other), await reads(kit, tokens.other, other)]).toEqual([
      'not_found',
      'unauthenticated',
    ]);
    expect([await reads(kit, ada, own), await reads(kit, tokens.own, own)]).toEqual(['reads', 'reads']);
    await kit.call(setMember, { username: 'ada', role: 'operator' }, boss);
    expect([await reads(kit, ada, other), await reads(kit, tokens.other, other)]).toEqual(['reads', 'unauthenticated']);
  });
});

describe('who sets a member', () => {
  it('is told the same whether or not there is such an account, then and in the list', async () => {
    await using kit = await buildIdentityKit();
    const { other, boss } = await prepared(kit);
    await kit.person('eve');
    const reads: string[] = [];
    const { store } = kit.services;
    kit.services.store.onCommit(({ workspace, changes }) => {
      for (const { type, record } of changes) reads.push(`${workspace} ${type} ${record.kind} ${record.uid.length}`);
    });
    const before = await store.revision(other);
    const shapes: string[] = [];
    for (const username of ['eve', 'zed']) {
      for (const role of ['viewer', 'viewer', 'auditor']) {
        const answer = await kit.call(setMember, { username, role }, boss);
        shapes.push(JSON.stringify(answer).replaceAll(username, 'NAME'));
      }
      shapes.push(JSON.stringify(await kit.call(listMembers, {}, boss)));
      await kit.call(removeMember, { username }, boss);
      shapes.push(JSON.stringify(await kit.call(listMembers, {}, boss)));
    }
    expect(await store.revision(other)).toBe(before + 6);
    expect(reads.slice(0, 3)).toEqual(reads.slice(3));
    expect(shapes.slice(5).map((shape) => shape.replaceAll('zed', 'eve'))).toEqual(
      shapes.slice(0, 5).map((shape) => shape.replaceAll('zed', 'eve')),
    );
  });

  it('makes a member of an account that is created later, from its first login', async () => {
    await using kit = await buildIdentityKit();
    const { other, boss } = await prepared(kit);
    await kit.call(setMember, { username: 'New', role: 'viewer' }, boss);
    const account = { username: 'new', password: 'loves-Engines-1843', displayName: 'New' };
    await kit.call(createUser, account, { bearer: await kit.admin() });
    const session = await kit.loginWithOwn('new', account.password);
    expect(await reads(kit, session, other)).toBe('reads');
    expect((await kit.call<{ items: object[] }>(listPolicies, {}, { bearer: session })).items).toEqual([]);
  });
});

it('an account that gets the name of a deleted one is a member of nothing', async () => {
  await using kit = await buildIdentityKit();
  const { own, other } = await prepared(kit);
  await kit.call(deleteUser, { username: 'ada' }, { bearer: await kit.admin() });
  const heir = await kit.person('ada');
  expect([await reads(kit, heir, own), await reads(kit, heir, other)]).toEqual(['not_found', 'not_found']);
});

it('a membership stored with the uid of its account is of that account alone', async () => {
  await using kit = await buildIdentityKit();
  const workspace = await kit.workspace('old');
  const boss = { bearer: await kit.person('boss', 'admin', workspace), workspace };
  const bearer = await kit.person('ada');
  const account = await findAccount(kit.services, 'ada');
  const blank = { kind: 'Member', name: 'ada', labels: {}, annotations: {}, status: {}, unique: [] } as const;
  const stored = (uid: string) => [{ op: 'create', record: { ...blank, uid, spec: { role: 'viewer' } } } as const];
  await kit.services.store.commit(workspace, stored(account?.uid ?? ''), CONTEXT);
  expect(await reads(kit, bearer, workspace)).toBe('reads');
  await kit.call(removeMember, { username: 'ada' }, boss);
  await kit.services.store.commit(workspace, stored('u_of-an-account-that-is-gone'), CONTEXT);
  expect(await reads(kit, bearer, workspace)).toBe('not_found');
  await kit.call(setMember, { username: 'ada', role: 'viewer' }, boss);
  expect(await reads(kit, bearer, workspace)).toBe('reads');
});
