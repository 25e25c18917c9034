import { describe, expect, it } from 'vitest';
import { buildIdentityKit, CONTEXT, type IdentityKit, LOOPBACK } from '../../test/kits/plane/identity-kit.ts';
import { peer as peerRecord } from '../../test/kits/records/records.ts';
import { createApiToken } from '../../tools/tokens/create-api-token.ts';
import { generateJoinToken } from '../../tools/tokens/generate-join-token.ts';
import { revokeApiToken } from '../../tools/tokens/revoke-api-token.ts';
import { revokeJoinToken } from '../../tools/tokens/revoke-join-token.ts';
import { updateUser } from '../../tools/users/update-user.ts';
import { setMember } from '../../tools/workspaces/set-member.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { RecordDraft } from '../base/record.ts';
import { draftOf } from '../base/record.ts';
import { PERSON_ONLY_SCOPES, SCOPES, type Scope } from '../base/scope.ts';
import { formatInstant } from '../base/time.ts';
import type { AgentStatus } from '../model/resources.ts';
import { newToken, type TokenKind } from '../model/token.ts';
import { tokenDraft } from '../model/token-record.ts';

const UNKNOWN = { code: 'unauthenticated', message: 'This token is unknown or removed: ask for a new one.' };
const EXPIRED = { code: 'unauthenticated', message: 'This token has expired: ask for a new one.' };

const verify = (kit: IdentityKit, bearer: string) => kit.gate.authenticate(bearer, LOOPBACK);

/** Everything a caller is, with its scopes in a workspace written out. */
async function callerOf(kit: IdentityKit, bearer: string, workspace: string) {
  const { scopesIn, again: _, ...caller } = await verify(kit, bearer);
  return { ...caller, scopes: [...scopesIn(workspace)] };
}

async function agent(
  kit: IdentityKit,
  workspace: string,
  name: string,
  { scopes, parent, ttlMs = 3_600_000 }: { scopes: readonly string[]; parent?: string; ttlMs?: number },
) {
  const expiresAt = kit.clock.time + ttlMs;
  const record: RecordDraft<'AgentIdentity'> = {
    kind: 'AgentIdentity',
    name,
    uid: `agt_${name}`,
    labels: {},
    annotations: {},
    spec: {
      ...(parent && { parentRef: { name: parent, namespace: 'prod' } }),
      ttl: '1h',
      policyPreset: 'sandboxed',
      scopes,
      expiresAt: formatInstant(expiresAt),
    },
    status: { phase: 'Active', depth: parent ? 1 : 0 },
    unique: [],
  };
  const token = newToken('agt');
  const draft = tokenDraft(token, { kind: 'agt', name, owner: record.uid, expiresAt, createdBy: 'user:admin' });
  const ops = [record, draft].map((created) => ({ op: 'create', record: created }) as const);
  await kit.services.store.commit(workspace, ops, CONTEXT);
  return token;
}

/** Puts an agent in another phase. */
async function end(kit: IdentityKit, workspace: string, name: string, phase: AgentStatus['phase']): Promise<void> {
  const found = await kit.services.store.get(workspace, { kind: 'AgentIdentity', name });
  if (!found) throw new Error(`no agent ${name}`);
  const record = { ...found, status: { ...(found.status as AgentStatus), phase } };
  await kit.services.store.commit(workspace, [{ op: 'update', record, revision: found.revision }], CONTEXT);
}

describe('what is no token', () => {
  it.each([
    ['empty', ''],
    ['words', 'let me in'],
    ['a made-up API token', newToken('api')],
    ['a made-up agent token', newToken('agt')],
    ['a made-up join token', newToken('join', 'A'.repeat(16))],
    ['an unknown kind', newToken('api').replace('api', 'xyz')],
    ['a JWT of nobody', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJ1XzEiLCJqdGkiOiJzZXNfMSIsImV4cCI6OTk5OTk5OTk5OX0.'],
    ['100 kB', 'a'.repeat(100_000)],
  ])('%s is refused', async (_what, bearer) => {
    await using kit = await buildIdentityKit();
    await expect(verify(kit, bearer)).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  it('a token whose prefix claims another kind is refused', async () => {
    await using kit = await buildIdentityKit();
    const workspace = await kit.workspace('prod');
    const token = await agent(kit, workspace, 'planner', { scopes: ['network:read'] });
    await expect(verify(kit, token.replace('mesh-agt-', 'mesh-api-'))).rejects.toMatchObject(UNKNOWN);
  });

  it('a session whose signature was touched is refused', async () => {
    await using kit = await buildIdentityKit();
    const [head, claims, signature = ''] = (await kit.admin()).split('.');
    const forged = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
    await expect(verify(kit, [head, claims, forged].join('.'))).rejects.toMatchObject({ code: 'unauthenticated' });
  });
});

describe('a session', () => {
  it('holds what its memberships say, and nothing elsewhere', async () => {
    await using kit = await buildIdentityKit();
    const [prod, dev] = [await kit.workspace('prod'), await kit.workspace('dev')];
    const bearer = await kit.person('ada', 'viewer', prod);
    const caller = await verify(kit, bearer);
    expect(caller).toMatchObject({ kind: 'user', subject: 'user:ada', workspaces: [prod], interactive: true });
    expect([...caller.scopesIn(prod)]).toEqual(['network:read', 'snapshots:read']);
    expect([...caller.scopesIn(dev), ...caller.scopesIn(SYSTEM_WORKSPACE)]).toEqual([]);
  });

  it('of a platform administrator holds everywhere', async () => {
    await using kit = await buildIdentityKit();
    const caller = await verify(kit, await kit.admin());
    expect(caller.workspaces).toBe('all');
    expect(caller.scopesIn('w_any').has('workspaces:write')).toBe(true);
  });

  it('gains a new membership and another role at once', async () => {
    await using kit = await buildIdentityKit();
    const bearer = await kit.admin();
    const workspace = await kit.workspace('prod');
    const ada = await kit.person('ada');
    expect((await verify(kit, ada)).workspaces).toEqual([]);
    await kit.call(setMember, { username: 'ada', role: 'viewer' }, { bearer, workspace });
    expect((await verify(kit, ada)).workspaces).toEqual([workspace]);
    await kit.call(setMember, { username: 'ada', role: 'operator' }, { bearer, workspace });
    expect((await verify(kit, ada)).scopesIn(workspace).has('network:write')).toBe(true);
  });

  it('ends at once when its account is disabled', async () => {
    await using kit = await buildIdentityKit();
    const ada = await kit.person('ada');
    await verify(kit, ada);
    await kit.call(updateUser, { username: 'ada', disabled: true }, { bearer: await kit.admin() });
    await expect(verify(kit, ada)).rejects.toMatchObject({ code: 'unauthenticated' });
  });
});

describe('an API token', () => {
  it('of the scope admin carries everything but what only a person may do and what overrides a proof', async () => {
    await using kit = await buildIdentityKit();
    const workspace = await kit.workspace('prod');
    const input = { name: 'ci', scopes: ['platform_admin', 'admin'] };
    const { token } = await kit.call(createApiToken, input, { bearer: await kit.admin(), workspace });
    const caller = await verify(kit, String(token));
    const expected = SCOPES.filter(
      (scope) => !PERSON_ONLY_SCOPES.has(scope) && scope !== 'agents:delegate' && scope !== 'intents:override',
    );
    expect(new Set(caller.scopesIn(workspace))).toEqual(new Set(expected));
    expect(caller).toMatchObject({ subject: 'user:admin', workspaces: [workspace], interactive: false });
    expect([...caller.scopesIn(SYSTEM_WORKSPACE)]).toEqual([]);
  });

  it.each([...PERSON_ONLY_SCOPES])('is never made with %s, nor honoured if it were stored', async (scope) => {
    await using kit = await buildIdentityKit();
    const workspace = await kit.workspace('prod');
    const bearer = await kit.admin();
    await expect(
      kit.call(createApiToken, { name: 'ci', scopes: [scope] }, { bearer, workspace }),
    ).rejects.toMatchObject({ code: 'invalid_input' });

    const { id: owner } = await verify(kit, bearer);
    const token = newToken('api');
    const expiresAt = kit.clock.time + 1_000;
    const spec = { kind: 'api', name: 'forged', owner, scopes: [scope], expiresAt, createdBy: 'x', epoch: 1 } as const;
    await kit.services.store.commit(workspace, [{ op: 'create', record: tokenDraft(token, spec) }], CONTEXT);
    expect([...(await verify(kit, token)).scopesIn(workspace)]).toEqual([]);
  });

  it('carries no more than its maker holds, at making and later', async () => {
    await using kit = await buildIdentityKit();
    const workspace = await kit.workspace('prod');
    const ada = await kit.person('ada', 'viewer', workspace);
    const wide = { name: 'ci', scopes: ['operator'] };
    await expect(kit.call(createApiToken, wide, { bearer: ada, workspace })).rejects.toMatchObject({
      code: 'forbidden',
    });
    const { token } = await kit.call(createApiToken, { name: 'ci' }, { bearer: ada, workspace });
    expect(await callerOf(kit, String(token), workspace)).toMatchObject({ scopes: ['network:read', 'snapshots:read'] });

    await kit.call(setMember, { username: 'ada', role: 'operator' }, { bearer: await kit.admin(), workspace });
    expect(await callerOf(kit, String(token), workspace)).toMatchObject({ scopes: ['network:read', 'snapshots:read'] });
  });

  it('makes no further tokens', async () => {
    await using kit = await buildIdentityKit();
    const workspace = await kit.workspace('prod');
    const { token } = await kit.call(createApiToken, { name: 'ci' }, { bearer: await kit.admin(), workspace });
    await expect(kit.call(createApiToken, { name: 'more' }, { bearer: String(token) })).rejects.toMatchObject({
      code: 'forbidden',
    });
  });

  it('ends when it is revoked and when its time is over', async () => {
    await using kit = await buildIdentityKit();
    const workspace = await kit.workspace('prod');
    const bearer = await kit.admin();
    const make = (expiry: string) => kit.call(createApiToken, { name: 'ci', expiry }, { bearer, workspace });
    const [revoked, expired] = [await make(''), await make('1h')];
    await verify(kit, String(revoked['token']));
    await kit.call(revokeApiToken, { id: revoked['id'] }, { bearer, workspace });
    await expect(verify(kit, String(revoked['token']))).rejects.toMatchObject(UNKNOWN);
    kit.clock.time += 3_600_000;
    await expect(verify(kit, String(expired['token']))).rejects.toMatchObject(EXPIRED);
  });
});

describe('an agent token', () => {
  it('holds the scopes of its identity that its ancestors hold too, and never a personal one', async () => {
    await using kit = await buildIdentityKit();
    const workspace = await kit.workspace('prod');
    await agent(kit, workspace, 'root', { scopes: ['network:read', 'intents:plan', 'agents:delegate'], ttlMs: 60_000 });
    const token = await agent(kit, workspace, 'child', {
      scopes: ['network:read', 'intents:apply', 'workflows:approve'],
      parent: 'root',
    });
    expect(await callerOf(kit, token, workspace)).toEqual({
      kind: 'agent',
      subject: 'agent:child',
      id: 'agt_child',
      name: 'child',
      line: ['agt_child', 'agt_root'],
      tokenId: expect.stringMatching(/^tok_/),
      workspaces: [workspace],
      interactive: false,
      expiresAt: kit.clock.time + 60_000,
      scopes: ['network:read'] satisfies Scope[],
    });
  });

  it.each(['root', 'child'])('is refused from the commit on in which %s is revoked', async (name) => {
    await using kit = await buildIdentityKit();
    const workspace = await kit.workspace('prod');
    await agent(kit, workspace, 'root', { scopes: ['network:read'] });
    const token = await agent(kit, workspace, 'child', { scopes: ['network:read'], parent: 'root' });
    await verify(kit, token);
    await end(kit, workspace, name, 'Revoked');
    await expect(verify(kit, token)).rejects.toMatchObject(UNKNOWN);
  });

  it('is refused at the instant an ancestor expires', async () => {
    await using kit = await buildIdentityKit();
    const workspace = await kit.workspace('prod');
    await agent(kit, workspace, 'root', { scopes: ['network:read'], ttlMs: 1_000 });
    const token = await agent(kit, workspace, 'child', { scopes: ['network:read'], parent: 'root' });
    kit.clock.time += 999;
    await verify(kit, token);
    kit.clock.time += 1;
    await expect(verify(kit, token)).rejects.toMatchObject(EXPIRED);
  });
});

describe('a join token', () => {
  it('names an enrolment without a scope until it is revoked', async () => {
    await using kit = await buildIdentityKit();
    const workspace = await kit.workspace('prod');
    const bearer = await kit.admin();
    const { token, id } = await kit.call(generateJoinToken, { name: 'web servers' }, { bearer, workspace });
    expect(await callerOf(kit, String(token), workspace)).toEqual({
      kind: 'enrolment',
      subject: 'token:web servers',
      id,
      name: 'web servers',
      tokenId: id,
      workspaces: [workspace],
      interactive: false,
      expiresAt: kit.clock.time + 168 * 3_600_000,
      scopes: [],
    });
    await kit.call(revokeJoinToken, { id }, { bearer, workspace });
    await expect(verify(kit, String(token))).rejects.toMatchObject(UNKNOWN);
  });
});

describe('a device token', () => {
  it.each([
    ['revoked', { code: 'forbidden' }],
    ['expired', UNKNOWN],
  ] as const)('is refused once its peer is %s', async (phase, refusal) => {
    await using kit = await buildIdentityKit();
    const workspace = await kit.workspace('prod');
    const peer = draftOf(peerRecord('web-1', { uid: 'p_1', phase: 'pending' }));
    const token = newToken('dev');
    const draft = tokenDraft(token, { kind: 'dev' satisfies TokenKind, name: 'web-1', owner: 'p_1', createdBy: 'x' });
    const ops = [peer, draft].map((record) => ({ op: 'create', record }) as const);
    const { revision } = await kit.services.store.commit(workspace, ops, CONTEXT);
    expect(await callerOf(kit, token, workspace)).toEqual({
      kind: 'device',
      subject: 'device:web-1',
      id: 'p_1',
      name: 'web-1',
      tokenId: draft.uid,
      workspaces: [workspace],
      interactive: false,
      scopes: [],
    });
    const ended = { ...peer, status: { ...peer.status, phase } };
    await kit.services.store.commit(workspace, [{ op: 'update', record: ended, revision }], CONTEXT);
    await expect(verify(kit, token)).rejects.toMatchObject(refusal);
  });
});
