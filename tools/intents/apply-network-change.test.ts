import { describe, expect, it } from 'vitest';
import { SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import { draftOf } from '../../core/base/record.ts';
import { ROLE_SCOPES, type Role } from '../../core/base/scope.ts';
import { accountDraft } from '../../core/identity/accounts.ts';
import { memberDraft } from '../../core/identity/members.ts';
import type { WorkspaceSettings } from '../../core/model/workspaces.ts';
import { agent, buildKit, type Kit, person } from '../../test/kits/plane/kit.ts';
import { seedPeers } from '../../test/kits/records/seed-peers.ts';

/** Closes other ports of the databases too. */
const INTENT = 'limit access to the database to the web servers on port 5432';

async function scene(kit: Kit) {
  const workspace = await kit.workspace();
  const members = [memberDraft('ada', 'admin'), memberDraft('bob', 'operator'), memberDraft('eve', 'viewer')];
  const ops = members.map((record) => ({ op: 'create', record }) as const);
  await kit.services.store.commit(workspace, ops, { actor: 'system:test', reason: 'members', requestId: 'r' });
  await seedPeers(kit.services, workspace, {
    'web-1': { role: 'web' },
    'web-2': { role: 'web' },
    'db-1': { role: 'db' },
    'api-1': { role: 'api' },
  });
  const planner = agent(['network:read', 'intents:plan', 'intents:apply'], workspace);
  const ada = person('admin', workspace, 'ada');
  const as = (caller = planner, face: 'rest' | 'mcp' = 'mcp') => ({ as: caller, workspace, face });
  const plan = (intent = INTENT) => kit.call('plan_network_change', { intent }, as());
  const apply = (planId: string) => kit.call('apply_network_change', { plan_id: planId }, as());
  const approve = (id: string, caller = ada) =>
    kit.call('approve_workflow', { id }, { as: caller, workspace, face: 'rest' });
  const settings = async (change: Partial<WorkspaceSettings>) => {
    const record = await kit.services.store.getById('w_system', 'Workspace', workspace);
    if (!record) throw new Error('no workspace');
    const spec = { ...record.spec, settings: { ...record.spec.settings, ...change } };
    await kit.services.store.commit(
      'w_system',
      [{ op: 'update', record: { ...draftOf(record), spec }, revision: record.revision }],
      { actor: 'system:test', reason: 'settings', requestId: 'r' },
    );
  };
  const reaches = async (src: string, dst: string, port: number) => {
    const state = await kit.services.states.current(workspace);
    return kit.services.states.reachability(state, kit.clock.now()).verdict(src, dst, 'TCP', port);
  };
  return { workspace, planner, ada, as, plan, apply, approve, settings, reaches };
}

describe('the life of a change', () => {
  it('goes from plan to approval to force, and says who approved it', async () => {
    await using kit = await buildKit();
    const { workspace, as, plan, apply, approve, reaches } = await scene(kit);
    const planned = await plan();
    expect(planned).toMatchObject({
      summary:
        'Deny anyone except role=web to role=db; deny role=web to role=db on !tcp/5432: opens nothing; closes everything but TCP 5432 from role=web (2 peers) to db-1, and everything from api-1 to db-1, and 1 more.',
      read_by: 'language',
      reading: 'deny anyone except role=web to role=db; deny role=web to role=db on !tcp/5432.',
      risk_level: 'low',
      verified: true,
      unmet: [],
      changes: [{ action: 'create', resource: 'MeshPolicy', name: 'deny-to-db', before: '' }],
      effect: { opened: [], opened_pairs: 0, closed_pairs: 3, unchanged_count: 9 },
    });
    const applied = await apply(planned.plan_id);
    expect(applied).toMatchObject({ status: 'pending_approval', auto_approve: false });
    expect(await reaches('api-1', 'db-1', 5432)).toBe(true);
    const approved = await approve(applied.workflow_id);
    expect(approved).toMatchObject({
      status: 'executed',
      requestedBy: 'agent:agent',
      reviewedBy: 'user:ada',
      selfApproved: false,
      auto_approve: false,
      error: null,
    });
    expect([
      await reaches('web-1', 'db-1', 5432),
      await reaches('web-1', 'db-1', 22),
      await reaches('api-1', 'db-1', 5432),
    ]).toEqual([true, false, false]);
    const [commit] = (await kit.services.store.commits(workspace, approved.resultRevision - 1, 1)) ?? [];
    expect(commit).toMatchObject({
      actor: 'agent:agent',
      approval: { workflowId: applied.workflow_id, reviewedBy: 'user:ada' },
    });
    expect(await kit.call('get_workflow', { id: applied.workflow_id }, as())).toEqual(approved);
    expect((await kit.call('list_workflows', {}, as())).items.map(({ id }: { id: string }) => id)).toEqual([
      applied.workflow_id,
    ]);
  });

  it('refuses approval to an agent, a token, and to everybody over MCP', async () => {
    await using kit = await buildKit();
    const { workspace, ada, plan, apply, planner } = await scene(kit);
    const { workflow_id: id } = await apply((await plan()).plan_id);
    const approve = (as: typeof ada, face: 'rest' | 'mcp') =>
      kit.call('approve_workflow', { id }, { as, workspace, face });
    const greedy = agent(['network:read', 'workflows:approve'], workspace);
    for (const [as, face] of [
      [planner, 'rest'],
      [greedy, 'rest'],
      [ada, 'mcp'],
      [{ ...ada, interactive: false }, 'rest'],
    ] as const) {
      await expect(approve(as, face)).rejects.toMatchObject({ code: 'forbidden' });
      await expect(kit.call('reject_workflow', { id }, { as, workspace, face })).rejects.toMatchObject({
        code: 'forbidden',
      });
    }
    expect((await kit.call('get_workflow', { id }, { as: ada, workspace })).status).toBe('pending');
  });

  it('lets a plan be used once, also by two at the same time', async () => {
    await using kit = await buildKit();
    const { plan, apply } = await scene(kit);
    const { plan_id: id } = await plan();
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => apply(id)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []));
    expect(new Set(refused)).toEqual(new Set(['conflict']));
    await expect(apply(id)).rejects.toMatchObject({ code: 'conflict' });
  });

  it('answers 410 to a plan that has expired, 404 to one of another workspace, and to a dry run what to do', async () => {
    await using kit = await buildKit();
    const { plan, apply, as } = await scene(kit);
    const other = await scene(kit);
    const mine = await plan();
    await expect(other.apply(mine.plan_id)).rejects.toMatchObject({ code: 'not_found' });
    const dry = await kit.call('plan_network_change', { intent: INTENT, dry_run: true }, as());
    await expect(apply(dry.plan_id)).rejects.toMatchObject({
      code: 'dry_run',
      message: expect.stringContaining('plan the same change again without dry_run'),
    });
    kit.clock.time += 600_000;
    await expect(apply(mine.plan_id)).rejects.toMatchObject({ code: 'plan_expired' });
  });

  it('refuses a plan whose effect is not what was shown, and fails a workflow that became so', async () => {
    await using kit = await buildKit();
    const { workspace, as, plan, apply, approve } = await scene(kit);
    const early = await plan();
    const { workflow_id: id } = await apply((await plan()).plan_id);
    await seedPeers(kit.services, workspace, { 'web-9': { role: 'web' } });
    await expect(apply(early.plan_id)).rejects.toMatchObject({ code: 'plan_stale' });
    await expect(approve(id)).rejects.toMatchObject({ code: 'plan_stale' });
    expect(await kit.call('get_workflow', { workflow_id: id }, as())).toMatchObject({
      status: 'failed',
      resultRevision: null,
    });
    expect((await kit.services.states.current(workspace)).policies.size).toBe(0);
  });

  it('does not mind changes elsewhere that leave the effect as it was', async () => {
    await using kit = await buildKit();
    const { workspace, ada, plan, apply, approve } = await scene(kit);
    const { workflow_id: id } = await apply((await plan()).plan_id);
    await kit.call('plan_network_change', { intent: 'isolate api-1' }, { as: ada, workspace });
    expect((await approve(id)).status).toBe('executed');
  });

  it('lets any person of the workspace apply, and no other agent', async () => {
    await using kit = await buildKit();
    const { workspace, ada, plan } = await scene(kit);
    const { plan_id: planId } = await plan();
    const stranger = agent(['intents:apply'], workspace, { id: 'agt_other', name: 'other' });
    const apply = (as: typeof ada, raw: object = {}) =>
      kit.call('apply_network_change', { plan_id: planId, ...raw }, { as, workspace });
    await expect(apply(stranger, { approved_by: 'ada' })).rejects.toMatchObject({ code: 'forbidden' });
    await expect(apply(ada)).rejects.toMatchObject({
      code: 'invalid_input',
      details: { errors: [{ pointer: '/approved_by' }] },
    });
    expect((await apply(ada, { approved_by: 'bob' })).status).toBe('pending_approval');
  });

  it('lets a person approve an own request only where the workspace says so', async () => {
    await using kit = await buildKit();
    const { workspace, ada, approve, settings } = await scene(kit);
    await settings({ selfApproval: false });
    const { plan_id } = await kit.call('plan_network_change', { intent: INTENT }, { as: ada, workspace });
    const applied = await kit.call('apply_network_change', { plan_id, approved_by: 'ada' }, { as: ada, workspace });
    await expect(approve(applied.workflow_id)).rejects.toMatchObject({ code: 'forbidden' });
    await settings({ selfApproval: true });
    expect(await approve(applied.workflow_id)).toMatchObject({ status: 'executed', selfApproved: true });
  });

  it('executes by itself what is within the reach of the agent, up to the risk that the workspace allows, and marks it', async () => {
    await using kit = await buildKit();
    const { workspace, ada, settings } = await scene(kit);
    const scopes = ['network:read', 'intents:plan', 'intents:apply'] as const;
    const reach = [{ to: [{ peerSelector: { matchLabels: { role: 'db' } } }] }];
    const made = async (name: string, grant: object) => {
      const { id } = await kit.call('create_agent', { name, scopes, ...grant }, { as: ada, workspace });
      return { as: agent(scopes, workspace, { id, name }), workspace, face: 'mcp' as const };
    };
    const agents = { near: await made('near', { reach }), far: await made('far', {}) };
    const typed = {
      changes: [
        {
          action: 'create',
          resource: 'MeshPolicy',
          name: 'web-to-db',
          spec: {
            action: 'ALLOW',
            peerSelector: { matchLabels: { role: 'db' } },
            ingress: [
              { from: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports: [{ protocol: 'TCP', port: 5432 }] },
            ],
          },
        },
      ],
      expectations: [
        { src: 'role=web', dst: 'role=db', protocol: 'TCP', port: 5432, expect: 'allow' },
        { src: '*', dst: 'role=db', except: ['role=web'], expect: 'deny' },
      ],
    };
    const apply = async (name: keyof typeof agents, more: object = typed) => {
      const { plan_id } = await kit.call('plan_network_change', { intent: INTENT, ...more }, agents[name]);
      return kit.call('apply_network_change', { plan_id }, agents[name]);
    };
    await settings({ autoApprove: undefined });
    expect(await apply('near')).toMatchObject({ status: 'pending_approval', auto_approve: false });
    await settings({ autoApprove: { maxRisk: 'low' } });
    expect(await apply('far')).toMatchObject({ status: 'pending_approval', auto_approve: false });
    const reasoned = { intent: `${INTENT} because of the audit` };
    expect(await apply('near', reasoned)).toMatchObject({ status: 'executed', auto_approve: true });
  });

  it('carries out low-risk orders of those whom autoApprove names, without a sentence', async () => {
    await using kit = await buildKit();
    const { as, apply, settings } = await scene(kit);
    const orders = [{ do: 'deny', from: ['api-1'], to: ['db-1'], ports: ['tcp/22'] }];
    const applied = async () => apply((await kit.call('plan_network_change', { orders }, as())).plan_id);
    await settings({ autoApprove: { maxRisk: 'critical' } });
    expect(await applied()).toMatchObject({ status: 'pending_approval', auto_approve: false });
    await settings({ autoApprove: { maxRisk: 'critical', from: ['person'] } });
    expect(await applied()).toMatchObject({ status: 'pending_approval', auto_approve: false });
    await settings({ autoApprove: { maxRisk: 'critical', from: ['agent'] } });
    expect(await applied()).toMatchObject({ status: 'executed', auto_approve: true });
  });

  it('rejects with a note, and reviews nothing twice', async () => {
    await using kit = await buildKit();
    const { workspace, ada, plan, apply, approve } = await scene(kit);
    const { workflow_id: id } = await apply((await plan()).plan_id);
    const rejected = await kit.call('reject_workflow', { id, note: 'not today' }, { as: ada, workspace });
    expect(rejected).toMatchObject({ status: 'rejected', note: 'not today', reviewedBy: 'user:ada' });
    await expect(approve(id)).rejects.toMatchObject({ code: 'conflict' });
  });

  it('applies what does not achieve its intent only for who may override', async () => {
    await using kit = await buildKit();
    const { workspace, as, ada } = await scene(kit);
    const change = {
      action: 'create',
      resource: 'MeshPolicy',
      name: 'too-wide',
      spec: {
        action: 'ALLOW',
        peerSelector: { matchLabels: { role: 'db' } },
        ingress: [{ from: [{ peerSelector: {} }] }],
      },
    };
    const planned = await kit.call('plan_network_change', { intent: INTENT, changes: [change] }, as());
    expect(planned).toMatchObject({
      verified: false,
      unmet: [expect.stringContaining('The sentence as it was read: api-1 to db-1')],
    });
    await expect(kit.call('apply_network_change', { plan_id: planned.plan_id }, as())).rejects.toMatchObject({
      code: 'forbidden',
    });
    const applied = await kit.call(
      'apply_network_change',
      { plan_id: planned.plan_id, approved_by: 'bob' },
      { as: ada, workspace },
    );
    expect(applied).toMatchObject({ status: 'pending_approval' });
    expect(await kit.call('get_workflow', { id: applied.workflow_id }, { as: ada, workspace })).toMatchObject({
      overridden: true,
    });
  });

  it('is carried out only while what was stated of it is true, though its effect is the same', async () => {
    await using kit = await buildKit();
    const { workspace, as, ada, apply, approve } = await scene(kit);
    const deny = (role: string) => ({
      action: 'DENY',
      peerSelector: { matchLabels: { role: 'db' } },
      ingress: [{ from: [{ peerSelector: { matchLabels: { role } } }] }],
    });
    const change = { action: 'create', resource: 'MeshPolicy', name: 'no-api', spec: deny('api') };
    const expectations = [
      { src: 'role=api', dst: 'role=db', expect: 'deny' },
      { src: 'role=web', dst: 'role=db', expect: 'allow' },
    ];
    const planned = () =>
      kit.call('plan_network_change', { intent: 'only api goes', changes: [change], expectations }, as());
    const [early, waiting] = [await planned(), await planned()];
    expect(waiting).toMatchObject({ expectations_hold: true, effect: { closed_pairs: 1 } });
    const { workflow_id: id } = await apply(waiting.plan_id);
    await kit.call('create_policy', { name: 'no-web', spec: deny('web') }, { as: ada, workspace });
    await expect(apply(early.plan_id)).rejects.toMatchObject({
      code: 'forbidden',
      details: { objections: [expect.stringContaining('web-1 cannot reach db-1')] },
    });
    await expect(approve(id)).rejects.toMatchObject({ code: 'plan_stale' });
    const failed = await kit.call('get_workflow', { id }, as());
    expect(failed).toMatchObject({ status: 'failed', error: expect.stringContaining('web-1 cannot reach db-1') });
    expect((await kit.services.states.current(workspace)).policies.has('no-api')).toBe(false);
  });

  it('is never approved by itself when nothing was stated', async () => {
    await using kit = await buildKit();
    const { as, apply, settings } = await scene(kit);
    await settings({ autoApprove: { maxRisk: 'critical' } });
    const change = {
      action: 'create',
      resource: 'MeshPolicy',
      name: 'base',
      spec: { action: 'DENY', peerSelector: {} },
    };
    const planned = await kit.call('plan_network_change', { intent: 'tidy up', changes: [change] }, as());
    expect(await apply(planned.plan_id)).toMatchObject({ status: 'pending_approval', auto_approve: false });
  });
});

describe('a plan without a workspace beside it', () => {
  /** A person with these roles. */
  const inBoth = (roles: ReadonlyMap<string, Role>) => ({
    ...person('viewer', '', 'ada'),
    workspaces: [...roles.keys()],
    scopesIn: (id: string) => new Set(ROLE_SCOPES[roles.get(id) ?? 'viewer']),
  });

  it('is applied in its own workspace, by whoever may apply there', async () => {
    await using kit = await buildKit();
    const [one, two] = [await scene(kit), await scene(kit)];
    const applyAs = (as: typeof one.ada, planId: string) =>
      kit.call('apply_network_change', { plan_id: planId, approved_by: 'ada' }, { as });
    const operator = inBoth(
      new Map([
        [one.workspace, 'operator'],
        [two.workspace, 'operator'],
      ]),
    );
    const applied = await applyAs(operator, (await two.plan()).plan_id);
    expect((await kit.services.store.get(two.workspace, { kind: 'Workflow', name: applied.workflow_id }))?.name).toBe(
      applied.workflow_id,
    );
    const everywhere = person('platform_admin', '', 'root');
    expect(await applyAs(everywhere, (await one.plan()).plan_id)).toMatchObject({ status: 'pending_approval' });
    const reader = inBoth(
      new Map([
        [one.workspace, 'operator'],
        [two.workspace, 'viewer'],
      ]),
    );
    await expect(applyAs(reader, (await two.plan()).plan_id)).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('is answered as one that does not exist where the caller is no member of its workspace', async () => {
    await using kit = await buildKit();
    const [one, two, three] = [await scene(kit), await scene(kit), await scene(kit)];
    const { plan_id: foreign } = await three.plan();
    const absent = foreign.replace(/_.*/, `_${'a'.repeat(26)}`);
    const caller = inBoth(
      new Map([
        [one.workspace, 'operator'],
        [two.workspace, 'operator'],
      ]),
    );
    const answerTo = (planId: string) =>
      kit
        .call('apply_network_change', { plan_id: planId, approved_by: 'ada' }, { as: caller })
        .catch(({ code, message, details }) => JSON.stringify({ code, message, details }).replaceAll(planId, '<plan>'));
    expect(await answerTo(foreign)).toBe(await answerTo(absent));
    expect(await answerTo(foreign)).toContain('not_found');
  });

  it('is looked for in the workspace that is named, and nowhere else', async () => {
    await using kit = await buildKit();
    const [one, two] = [await scene(kit), await scene(kit)];
    const caller = inBoth(
      new Map([
        [one.workspace, 'operator'],
        [two.workspace, 'operator'],
      ]),
    );
    const { plan_id } = await two.plan();
    const request = { plan_id, approved_by: 'ada' };
    const named = kit.call('apply_network_change', request, { as: caller, workspace: one.workspace });
    await expect(named).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('who is asked to approve', () => {
  it('is somebody who may approve there, by user name or id, platform administrators included', async () => {
    await using kit = await buildKit();
    const { workspace, ada, as, plan } = await scene(kit);
    const spec = { displayName: '', passwordHash: '', passwordState: 'own', disabled: false, epoch: 1 } as const;
    const root = accountDraft('root', { ...spec, role: 'platform_admin' });
    const bob = accountDraft('bob', { ...spec, role: 'user' });
    const gone = accountDraft('gone', { ...spec, role: 'platform_admin', disabled: true });
    const ops = [root, bob, gone].map((record) => ({ op: 'create', record }) as const);
    await kit.services.store.commit(SYSTEM_WORKSPACE, ops, {
      actor: 'system:test',
      reason: 'accounts',
      requestId: 'r',
    });
    const ask = async (approvedBy: string, options: object = { as: ada, workspace }) => {
      const { plan_id } = await plan();
      return kit.call('apply_network_change', { plan_id, approved_by: approvedBy }, options);
    };
    for (const [asked, name] of [
      ['bob', 'bob'],
      [' Ada ', 'ada'],
      ['root', 'root'],
      [bob.uid, 'bob'],
      [root.uid, 'root'],
    ]) {
      const { workflow_id: id, status } = await ask(String(asked));
      const workflow = await kit.call('get_workflow', { id }, { as: ada, workspace });
      expect([asked, status, workflow.approvalAskedOf, workflow.reviewedBy]).toEqual([
        asked,
        'pending_approval',
        name,
        null,
      ]);
    }
    for (const asked of ['nobody', 'eve', 'gone', gone.uid, 'u_nobody', '../admin']) {
      await expect(ask(asked)).rejects.toMatchObject({
        code: 'invalid_input',
        message: expect.stringMatching(/may approve here.*such as ada, bob\.$/),
        details: { errors: [{ pointer: '/approved_by' }] },
      });
    }
    await expect(ask('nobody', as())).rejects.toMatchObject({ code: 'invalid_input' });
  });

  it('is told by name only to callers who may list these names', async () => {
    await using kit = await buildKit();
    const { workspace, planner, plan } = await scene(kit);
    const { plan_id } = await plan();
    const blind = { ...planner, scopesIn: () => new Set(['intents:apply'] as const) };
    const refused = kit.call('apply_network_change', { plan_id, approved_by: 'nobody' }, { as: blind, workspace });
    await expect(refused).rejects.toMatchObject({ message: expect.stringMatching(/or a platform administrator\.$/) });
  });
});
