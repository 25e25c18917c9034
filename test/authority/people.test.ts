import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import { isPending } from '../../core/base/operation.ts';
import { draftOf } from '../../core/base/record.ts';
import { findAccount } from '../../core/identity/accounts.ts';
import { findWorkflow } from '../../core/model/workflow-records.ts';
import { executeWorkflow } from '../../core/workflow/execute.ts';
import { chooseFirstPassword } from '../kits/plane/first-password.ts';
import { CONTEXT } from '../kits/plane/identity-kit.ts';
import { approve, buildScene, INTENT, only, planned, reachOf, rename, type Scene } from './scene.ts';

const PENDING = {
  status: 'pending_approval',
  workflow_id: expect.stringMatching(/^wf_/),
  another_person: true,
  message: expect.any(String),
};
/** Of an account, which is in no workspace: it is told where that is decided. */
const PENDING_IN_PROD = { ...PENDING, workflows: [{ workflow_id: PENDING.workflow_id, workspace: 'prod' }] };
const OTHER_PERSON = { code: 'forbidden', message: expect.stringContaining('another person') };

describe('four eyes', () => {
  it.each(['agent', 'API token'])('see the person behind an %s', async (kind) => {
    await using scene = await buildScene();
    const { token } =
      kind === 'agent'
        ? await scene.agent('boss', ['network:read', 'intents:plan', 'intents:apply'])
        : await scene.call(scene.ada, 'create_api_token', { name: 'ci' });
    const id = await planned(scene, token);
    await expect(approve(scene, scene.ada, id)).rejects.toMatchObject(OTHER_PERSON);
    expect(await approve(scene, scene.grace, id)).toMatchObject({ status: 'executed', selfApproved: false });
  });

  it('see the person behind a sub-agent too', async () => {
    await using scene = await buildScene();
    const scopes = ['network:read', 'intents:plan', 'intents:apply', 'agents:delegate'] as const;
    const boss = await scene.agent('boss', scopes, { reach: reachOf('db', 5432) });
    const child = await scene.child(boss.token, 'child', scopes, { policyPreset: 'inherit' });
    const id = await planned(scene, child.token);
    await expect(approve(scene, scene.ada, id)).rejects.toMatchObject(OTHER_PERSON);
    expect(await approve(scene, scene.grace, id)).toMatchObject({ status: 'executed' });
  });
});

describe('where a workspace asks for approval, a second person decides', () => {
  it.each([
    ['that self-approval is allowed', 'update_workspace', { settings: { selfApproval: true } }],
    ['that nothing needs approval any more', 'update_workspace', { settings: { requireApproval: false } }],
    ['that plans approve themselves', 'update_workspace', { settings: { autoApprove: { maxRisk: 'critical' } } }],
    ['who approves', 'set_member', { username: 'friend', role: 'operator' }],
    ['who approves no more', 'remove_member', { username: 'grace' }],
    ['that a peer is revoked', 'revoke_peer', { id: 'db-1' }],
    ['that a peer is deleted', 'delete_peer', { id: 'db-1' }],
    ['an assertion', 'create_assertion', { src: 'web-1', dst: 'db-1', expect: 'unreachable' }],
    ['a policy', 'delete_policy', { id: 'base' }],
  ])('%s', async (_what, name, raw) => {
    await using scene = await buildScene({ requireApproval: true });
    await scene.kit.person('linus', 'admin', scene.workspace);
    const before = await scene.call(scene.ada, 'get_workspace');
    const { revision } = await scene.state();
    const pending = await scene.call(scene.ada, name, raw);
    expect(pending).toEqual(PENDING);
    expect(await scene.call(scene.ada, 'get_workspace')).toEqual(before);
    await expect(approve(scene, scene.ada, pending.workflow_id)).rejects.toMatchObject(OTHER_PERSON);
    expect(await approve(scene, scene.grace, pending.workflow_id)).toMatchObject({
      status: 'executed',
      error: null,
      requestedBy: 'user:ada',
      reviewedBy: 'user:grace',
    });
    expect((await scene.state()).revision).toBeGreaterThan(revision + 2);
  });

  it.each([
    ['a root agent', 'create_agent', { name: 'boss' }],
    ['a join token that gives labels', 'generate_join_token', { name: 'web', labels: { role: 'web' } }],
  ])('%s, whose secret only the one who asked is told', async (_what, name, raw) => {
    await using scene = await buildScene({ requireApproval: true });
    const pending = await scene.call(scene.ada, name, raw);
    expect(pending).toEqual(PENDING);
    expect(await scene.call(scene.ada, name, raw)).toEqual(pending);
    expect(await scene.call(scene.grace, 'get_workflow', { id: pending.workflow_id })).toMatchObject({
      call: { operation: name, input: raw },
      warnings: [expect.stringContaining('repeats the call')],
    });
    expect(await approve(scene, scene.grace, pending.workflow_id)).toMatchObject({ status: 'approved' });
    // Somebody else's call is another request.
    expect(await scene.call(scene.grace, name, raw)).not.toEqual(pending);
    const done = await scene.call(scene.ada, name, raw);
    expect(done.token).toMatch(/^mesh-(agt|join)-/);
    expect(await scene.call(scene.ada, 'get_workflow', { id: pending.workflow_id })).toMatchObject({
      status: 'executed',
      reviewedBy: 'user:grace',
    });
    const whole = JSON.stringify(await scene.kit.services.store.list(scene.workspace, 'Workflow'));
    expect(whole).not.toContain(done.token);
  });

  it('a call with a secret, which no other credential of the person repeats, and none once the token has ended', async () => {
    await using scene = await buildScene({ requireApproval: true });
    const scopes = ['network:read', 'network:write', 'agents:write'];
    const { token, id } = await scene.call(scene.ada, 'create_api_token', { name: 'ci', scopes });
    const { token: other } = await scene.call(scene.ada, 'create_api_token', { name: 'cd', scopes });
    const boss = { name: 'boss', scopes: ['network:read'] };
    const pending = await scene.call(token, 'create_agent', boss);
    await approve(scene, scene.grace, pending.workflow_id);
    for (const credential of [scene.ada, other]) {
      const again = await scene.call(credential, 'create_agent', boss);
      expect(again).toEqual(PENDING);
      expect(again.workflow_id).not.toBe(pending.workflow_id);
    }
    expect((await scene.call(token, 'create_agent', boss)).token).toMatch(/^mesh-agt-/);
    const late = await scene.call(token, 'create_agent', { ...boss, name: 'late' });
    await scene.call(scene.ada, 'revoke_api_token', { id });
    expect(await approve(scene, scene.grace, late.workflow_id)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('has ended'),
    });
  });

  it.each([
    ['the password of who approves', 'update_user', { username: 'grace', password: 'Another-pass-1' }],
    ['that an account administers all', 'update_user', { username: 'viewer', role: 'platform_admin' }],
    [
      'that there is another administrator',
      'create_user',
      { username: 'eve', password: 'Another-pass-1', role: 'platform_admin' },
    ],
    ['that who approves is disabled', 'update_user', { username: 'grace', disabled: true }],
    ['that who approves is deleted', 'delete_user', { username: 'grace' }],
  ])('%s', async (_what, name, raw) => {
    await using scene = await buildScene({ requireApproval: true });
    await scene.kit.person('viewer', 'viewer', scene.workspace);
    const pending = await scene.call(scene.admin, name, raw);
    expect(pending).toEqual(PENDING_IN_PROD);
    await approve(scene, scene.grace, pending.workflow_id);
    await scene.call(scene.admin, name, raw).catch(() => undefined);
    const workflow = await scene.call(scene.ada, 'get_workflow', { id: pending.workflow_id });
    expect(workflow).toMatchObject({ status: 'executed', error: null });
    const whole = JSON.stringify(await scene.kit.services.store.list(scene.workspace, 'Workflow'));
    expect(whole).not.toContain('Another-pass-1');
  });

  it.each([
    [
      'the labels of a peer',
      'update_peer',
      { id: 'web-1', labels: { role: 'db', tier: 'one' } },
      'updated peer web-1: role=db is set (was web), tier=one is set',
    ],
    [
      'the labels of a peer that it loses',
      'update_peer',
      { id: 'web-1', labels: {} },
      'updated peer web-1: role=web is taken away',
    ],
    [
      'the labels that a join token gives',
      'generate_join_token',
      { name: 'web', labels: { role: 'web' } },
      'makes the join token web with labels: role=web is set',
    ],
  ])('and reads %s in one line', async (_what, name, raw, said) => {
    await using scene = await buildScene({ requireApproval: true });
    const pending = await scene.call(scene.ada, name, raw);
    const { summary } = await scene.call(scene.grace, 'get_workflow', { id: pending.workflow_id });
    expect(summary).toContain(said);
  });

  it('not of peers that register, of delegation, of the own password, or of the end of an agent', async () => {
    await using scene = await buildScene({ requireApproval: true, requirePeerApproval: true });
    const asked = { name: 'boss', scopes: ['network:read', 'agents:delegate'] };
    const { workflow_id } = await scene.call(scene.ada, 'create_agent', asked);
    await approve(scene, scene.grace, workflow_id);
    const boss = await scene.call(scene.ada, 'create_agent', asked);
    const child = await scene.child(boss.token, 'child', ['network:read']);
    expect(await scene.call(scene.ada, 'approve_peer', { id: 'child' })).toMatchObject({ name: 'child' });
    expect(child.id).toMatch(/^agt_/);
    const { token } = await scene.call(scene.ada, 'generate_join_token', { name: 'plain' });
    await scene.enrol(token, 'stranger');
    expect(await scene.call(scene.ada, 'delete_peer', { id: 'stranger' })).toEqual({ deleted: 'stranger' });
    expect(await scene.call(scene.ada, 'revoke_agent', { id: 'boss' })).toMatchObject({ revoked: ['boss', 'child'] });
  });

  it('that agents pass to a successor, where their person decides nothing either, and is not asked again about the rest', async () => {
    await using scene = await buildScene();
    const linus = await scene.kit.person('linus', 'admin', scene.workspace);
    await scene.call(linus, 'create_agent', { name: 'scout', scopes: ['network:read'] });
    await scene.call(scene.ada, 'set_member', { username: 'linus', role: 'viewer' });
    await scene.call(scene.ada, 'update_workspace', { settings: { requireApproval: true } });
    const person = async () => (await scene.state()).agents.get('scout')?.spec.person;
    const pending = await scene.call(scene.admin, 'delete_user', { username: 'linus', successor: 'grace' });
    expect(pending).toEqual(PENDING_IN_PROD);
    expect(await person()).toMatchObject({ name: 'linus' });
    expect(await approve(scene, scene.ada, pending.workflow_id)).toMatchObject({ status: 'executed' });
    expect(await person()).toMatchObject({ name: 'grace' });
    expect(await scene.call(scene.admin, 'list_users')).not.toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ username: 'linus' })]),
    });
  });

  it('that somebody is removed, which is asked once, whoever takes their agents over', async () => {
    await using scene = await buildScene({ requireApproval: true });
    const linus = await scene.kit.person('linus', 'admin', scene.workspace);
    const { workflow_id: id } = await scene.call(scene.ada, 'remove_member', { username: 'grace' });
    await expect(scene.call(linus, 'remove_member', { username: 'grace', successor: 'linus' })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(`waits as ${id}. Have`),
    });
    expect(await approve(scene, linus, id)).toMatchObject({ status: 'executed' });
  });

  it('that they themselves leave, which is then done', async () => {
    await using scene = await buildScene({ requireApproval: true });
    await scene.kit.person('linus', 'admin', scene.workspace);
    const { workflow_id: id } = await scene.call(scene.ada, 'remove_member', { username: 'ada' });
    expect(await approve(scene, scene.grace, id)).toMatchObject({ status: 'executed', error: null });
    const { items } = await scene.call(scene.grace, 'list_members');
    expect(items.map(({ username }: { username: string }) => username)).toEqual(['grace', 'linus']);
  });

  it('that an administrator disables their own account, which is then done', async () => {
    await using scene = await buildScene();
    const user = { username: 'eve', password: 'Another-pass-1', displayName: '', role: 'platform_admin' };
    await scene.call(scene.admin, 'create_user', user);
    await scene.call(scene.ada, 'update_workspace', { settings: { requireApproval: true } });
    const asked = { username: 'eve', disabled: true };
    await chooseFirstPassword(scene.kit.services, 'Another-pass-2', 'eve');
    const { workflow_id: id } = await scene.call(await scene.kit.sessionOf('eve'), 'update_user', asked);
    expect(await approve(scene, scene.ada, id)).toMatchObject({ status: 'executed', error: null });
    const { items } = await scene.call(scene.admin, 'list_users');
    expect(items).toContainEqual(expect.objectContaining(asked));
  });

  it('nobody where those who are deleted have no agents that would pass to another', async () => {
    await using scene = await buildScene({ requireApproval: true });
    await scene.kit.person('linus', 'viewer', scene.workspace);
    const asked = { username: 'linus', successor: 'grace' };
    expect(await scene.call(scene.admin, 'delete_user', asked)).toEqual({ deleted: true });
  });

  it('or the only one there is', async () => {
    await using scene = await buildScene();
    const alone = await scene.kit.workspace('alone');
    const as = { bearer: scene.admin, workspace: alone };
    await scene.kit.call({ name: 'update_workspace' }, { settings: { requireApproval: true } }, as);
    const peer = { settings: { requireApproval: false } };
    const { workflow_id } = await scene.kit.call({ name: 'update_workspace' }, peer, as);
    const done = await scene.kit.call({ name: 'approve_workflow' }, { id: workflow_id }, as);
    expect(done).toMatchObject({ status: 'executed', selfApproved: true });
  });

  it('and what was approved fails when it cannot be done any more', async () => {
    await using scene = await buildScene({ requireApproval: true });
    const first = await scene.call(scene.ada, 'delete_peer', { id: 'db-1' });
    const second = await scene.call(scene.grace, 'delete_peer', { id: 'db-1' });
    await approve(scene, scene.grace, first.workflow_id);
    expect(await approve(scene, scene.ada, second.workflow_id)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('not_found'),
    });
  });
});

describe('what was asked for', () => {
  it('by an agent that ended is not carried out, even when somebody approved it in the same moment', async () => {
    await using scene = await buildScene();
    const boss = await scene.agent('boss', ['network:read', 'intents:plan', 'intents:apply']);
    const id = await planned(scene, boss.token);
    expect(await scene.call(scene.ada, 'revoke_agent', { id: 'boss' })).toMatchObject({ workflows: [id] });
    await expect(approve(scene, scene.grace, id)).rejects.toMatchObject({ code: 'conflict' });
    expect(await scene.call(scene.ada, 'get_workflow', { id })).toMatchObject({
      status: 'expired',
      error: 'who asked for it has ended',
    });
    const { store } = scene.kit.services;
    const record = await store.get(scene.workspace, { kind: 'Workflow', name: id });
    if (!record) throw new Error('no workflow');
    const approved = { ...draftOf(record), status: { state: 'approved', reviewedBy: 'user:grace' } } as const;
    const context = { actor: 'user:grace', reason: 'approved', requestId: 'r_test' };
    await store.commit(scene.workspace, [{ op: 'update', record: approved, revision: record.revision }], context);
    expect((await executeWorkflow(scene.kit.services, scene.workspace, id, 'r_test')).status).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('boss'),
    });
    expect((await scene.state()).policies.size).toBe(1);
  });
});

describe('a call that a person approved', () => {
  it('opens what was shown and nothing else, though the network has changed since', async () => {
    await using scene = await buildScene();
    await scene.call(scene.ada, 'create_policy', {
      name: 'open',
      spec: { action: 'ALLOW', peerSelector: {}, ingress: [{ from: [{ peerSelector: {} }] }], egress: [{}] },
    });
    await scene.call(scene.ada, 'revoke_peer', { id: 'db-1' });
    const boss = await scene.agent('boss', ['network:read', 'peers:approve']);
    const ask = () => scene.call(boss.token, 'approve_peer', { id: 'db-1' });
    const first = await ask();
    const { token } = await scene.call(scene.ada, 'generate_join_token', { name: 'plain' });
    await scene.enrol(token, 'newcomer');
    expect(await approve(scene, scene.grace, first.workflow_id)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('conflict'),
    });
    expect(await approve(scene, scene.grace, (await ask()).workflow_id)).toMatchObject({ status: 'executed' });
    expect(await scene.allowed('newcomer', 'db-1')).toBe('ALL');
  });
});

it.each([
  ['revoked', 'grace', 'revoke_agent', { id: 'boss' }],
  ['ended with its person', 'grace', 'remove_member', { username: 'ada' }],
] as const)('an agent is %s though what it asked for is as large as a record may be', async (_how, by, name, raw) => {
  await using scene = await buildScene();
  const boss = await scene.agent('boss', ['network:read', 'network:write']);
  const spec = { action: 'ALLOW', peerSelector: {}, ingress: [{}] };
  const { workflow_id: id } = await scene.call(boss.token, 'create_policy', { name: 'open', spec });
  const { store } = scene.kit.services;
  const workflow = await findWorkflow(scene.kit.services, scene.workspace, id);
  const noise = Array.from({ length: 300 }, (_, n) => createHash('sha256').update(String(n)).digest('base64')).join('');
  const enlarged = (length: number) => {
    const summary = noise.slice(0, length);
    const record = { ...draftOf(workflow), spec: { ...workflow.spec, summary } };
    return store.commit(scene.workspace, [{ op: 'update', record, revision: workflow.revision }], CONTEXT).then(
      () => true,
      () => false,
    );
  };
  let length = noise.length;
  while (!(await enlarged(length))) length -= 8;
  expect(length).toBeLessThan(noise.length);
  await scene.call(scene[by], name, raw);
  await expect(scene.call(boss.token, 'list_peers')).rejects.toMatchObject({ code: 'unauthenticated' });
  expect(await scene.call(scene.grace, 'get_workflow', { id })).toMatchObject({ status: 'expired' });
});

/** Has an account as one that was made and whose person never signed in. */
async function withoutSignIn({ kit }: Scene, name: string): Promise<void> {
  const account = await findAccount(kit.services, name);
  if (!account) throw new Error(`There is no ${name}.`);
  const record = { ...draftOf(account), spec: { ...account.spec, signedInAt: 0 } };
  const op = { op: 'update', record, revision: account.revision } as const;
  await kit.services.store.commit(SYSTEM_WORKSPACE, [op], {
    actor: 'system:test',
    reason: 'made',
    requestId: 'r_test',
  });
}

describe('one person alone', () => {
  it.each([{ compliance: { secondPerson: true } }, { selfApproval: false }])(
    'does not change who may approve where the settings name a second person: %j',
    async (settings) => {
      await using scene = await buildScene(settings);
      await scene.kit.person('pup', undefined, scene.workspace);
      const isHeld = async (name: string, raw: Record<string, unknown>, by = scene.ada) =>
        isPending(await scene.call(by, name, raw));
      expect(await isHeld('set_member', { username: 'grace', role: 'viewer' })).toBe(true);
      expect(await isHeld('remove_member', { username: 'grace' })).toBe(true);
      expect(await isHeld('set_member', { username: 'pup', role: 'operator' })).toBe(true);
      expect(await isHeld('update_user', { username: 'grace', password: 'Another-pass-1' }, scene.admin)).toBe(true);
      expect(await isHeld('update_user', { username: 'grace', disabled: true }, scene.admin)).toBe(true);
      expect(await isHeld('set_member', { username: 'pup', role: 'viewer' })).toBe(false);
    },
  );

  it('adds a second approver where there is no other yet, though the settings name one', async () => {
    await using scene = await buildScene({ selfApproval: false });
    for (const name of ['grace', 'admin']) await withoutSignIn(scene, name);
    await scene.kit.person('pup', undefined, scene.workspace);
    const { workflow_id: id } = await scene.call(scene.ada, 'set_member', { username: 'pup', role: 'operator' });
    expect(await approve(scene, scene.ada, id)).toMatchObject({ status: 'executed', error: null });
  });

  it('does not undo a revocation that two made', async () => {
    await using scene = await buildScene({ requireApproval: true });
    const { workflow_id } = await scene.call(scene.ada, 'revoke_peer', { id: 'db-1' });
    await approve(scene, scene.grace, workflow_id);
    expect(await scene.call(scene.ada, 'approve_peer', { id: 'db-1' })).toEqual(PENDING);
  });

  it('does not decide in a workspace of their own who approves in others', async () => {
    await using scene = await buildScene({ requireApproval: true });
    const own = await scene.kit.workspace('aaa');
    const settings = { requireApproval: true, selfApproval: true };
    await scene.kit.call({ name: 'update_workspace' }, { settings }, { bearer: scene.admin, workspace: own });
    await scene.kit.person('viewer', 'viewer', scene.workspace);
    const raw = { username: 'viewer', role: 'platform_admin' };
    const pending = await scene.call(scene.admin, 'update_user', raw);
    const mine = await scene.kit.call<{ items: { id: string }[] }>(
      { name: 'list_workflows' },
      {},
      { bearer: scene.admin, workspace: own },
    );
    for (const { id } of mine.items) {
      await scene.kit.call({ name: 'approve_workflow' }, { id }, { bearer: scene.admin, workspace: own });
    }
    expect(await scene.call(scene.admin, 'update_user', raw)).toEqual(PENDING_IN_PROD);
    const { items } = await scene.call(scene.ada, 'list_workflows');
    await approve(scene, scene.grace, items[0].id);
    expect(await scene.call(scene.admin, 'list_users').then(({ items: users }) => users)).toContainEqual(
      expect.objectContaining({ username: 'viewer', role: 'platform_admin' }),
    );
    expect(pending).toMatchObject(PENDING);
  });

  it('does not give agents of somebody who leaves more than they had', async () => {
    await using scene = await buildScene();
    await scene.agent('boss', ['network:read']);
    await scene.call(scene.grace, 'set_member', { username: 'ada', role: 'viewer' });
    await scene.call(scene.grace, 'update_workspace', { settings: { requireApproval: true } });
    const leave = { username: 'ada', successor: 'grace' };
    expect(await scene.call(scene.grace, 'remove_member', leave)).toEqual(PENDING);
  });

  it('is shown everything that a call changes', async () => {
    await using scene = await buildScene({ requireApproval: true });
    await scene.kit.person('viewer', 'viewer', scene.workspace);
    const raw = { username: 'viewer', role: 'platform_admin', password: 'Another-pass-1' };
    const { workflow_id } = await scene.call(scene.admin, 'update_user', raw);
    expect(await scene.call(scene.grace, 'get_workflow', { id: workflow_id })).toMatchObject({
      riskReasons: ['makes viewer a platform_admin', 'sets another password for viewer'],
      call: { operation: 'update_user', input: { username: 'viewer', role: 'platform_admin', password: '(secret)' } },
    });
  });

  it('does not have a name that was approved stand for something else by then', async () => {
    await using scene = await buildScene({ requireApproval: true });
    const { workflow_id } = await scene.call(scene.ada, 'delete_peer', { id: 'web-1' });
    await rename(scene, 'web-1', 'old-web');
    await rename(scene, 'db-1', 'web-1');
    await expect(approve(scene, scene.grace, workflow_id)).rejects.toMatchObject({ code: 'conflict' });
    expect((await scene.state()).peers.size).toBe(3);
  });

  it('and what they asked for is not carried out once they may not ask for it any more', async () => {
    await using scene = await buildScene();
    const id = await planned(scene, scene.ada);
    await scene.call(scene.grace, 'set_member', { username: 'ada', role: 'viewer' });
    expect(await approve(scene, scene.grace, id)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('ada'),
    });
  });
});

it('a plan that the settings approve is executed at once, and nothing of it is left for later', async () => {
  await using scene = await buildScene({ requireApproval: true, autoApprove: { maxRisk: 'high' } });
  const { plan_id } = await scene.call(scene.ada, 'plan_network_change', { intent: INTENT });
  const applied = await scene.call(scene.ada, 'apply_network_change', { plan_id, approved_by: 'grace' });
  expect(applied).toMatchObject({ status: 'executed', auto_approve: true });
  const { items } = await scene.call(scene.ada, 'list_workflows');
  expect(items.map(({ status }: { status: string }) => status)).toEqual(['executed']);
});

it('who approves is told what opens once that which covers it today has ended', async () => {
  await using scene = await buildScene({ requireApproval: true });
  const shut = {
    action: 'DENY',
    peerSelector: only('db'),
    ingress: [{}],
    expiresAt: new Date(scene.kit.clock.time + 3_600_000).toISOString(),
  };
  const { workflow_id } = await scene.call(scene.ada, 'create_policy', { name: 'shut', spec: shut });
  await approve(scene, scene.grace, workflow_id);
  const spec = { action: 'ALLOW', peerSelector: {}, ingress: [{ from: [{ peerSelector: {} }] }], egress: [{}] };
  const waiting = await scene.call(scene.ada, 'create_policy', { name: 'wide', spec });
  expect(await scene.call(scene.grace, 'get_workflow', { id: waiting.workflow_id })).toMatchObject({
    effect: { opened_pairs: 4 },
    riskLevel: 'high',
    warnings: expect.arrayContaining([expect.stringContaining('it would open secret-1 to db-1 on everything')]),
  });
});

it('what an API token asked for is not carried out once the token is revoked', async () => {
  await using scene = await buildScene({ requireApproval: true });
  const { id, token } = await scene.call(scene.ada, 'create_api_token', {
    name: 'ci',
    scopes: ['network:read', 'network:write'],
  });
  const { workflow_id } = await scene.call(token, 'delete_peer', { id: 'db-1' });
  await scene.call(scene.ada, 'revoke_api_token', { id });
  expect(await approve(scene, scene.grace, workflow_id)).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('A token of ada'),
  });
});
