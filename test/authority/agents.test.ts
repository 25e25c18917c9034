import { describe, expect, it } from 'vitest';
import { draftOf } from '../../core/base/record.ts';
import type { Scope } from '../../core/base/scope.ts';
import { buildScene, only, reachOf } from './scene.ts';

const BEYOND = { code: 'beyond_delegation' };
const PENDING = {
  status: 'pending_approval',
  workflow_id: expect.stringMatching(/^wf_/),
  another_person: true,
  message: expect.any(String),
};
const WRITER: readonly Scope[] = ['network:read', 'network:write', 'agents:delegate', 'intents:plan', 'intents:apply'];
const everyone = (role: string, port?: number) => ({
  action: 'ALLOW',
  peerSelector: only(role),
  ingress: [{ from: [{ peerSelector: {} }], ...(port !== undefined && { ports: [{ protocol: 'TCP', port }] }) }],
});

describe('a delegated agent that may write', () => {
  async function writer(preset = 'inherit', reach = reachOf('web', 443)) {
    const scene = await buildScene();
    const boss = await scene.agent('boss', WRITER, { reach });
    const child = await scene.child(boss.token, 'child', ['network:read', 'network:write'], { policyPreset: preset });
    return { scene, boss, child, as: (name: string, raw: object) => scene.call(child.token, name, { ...raw }) };
  }

  it('opens to others what it may reach itself, on those ports alone', async () => {
    const { scene, as } = await writer();
    await using _ = scene;
    await as('create_policy', { name: 'mine', spec: everyone('web', 443) });
    expect((await scene.state()).policies.get('mine')?.annotations).toMatchObject({
      'mesh.internal/written-by': expect.stringMatching(/^agt_/),
    });
    await expect(as('create_policy', { name: 'more', spec: everyone('web') })).rejects.toMatchObject(BEYOND);
    await expect(as('update_policy', { id: 'mine', spec: everyone('web') })).rejects.toMatchObject(BEYOND);
  });

  it('leaves an entry of what it tried in vain, with a bounded reason', async () => {
    const { scene, as } = await writer();
    await using _ = scene;
    await expect(as('create_policy', { name: 'more', spec: everyone('web') })).rejects.toMatchObject(BEYOND);
    await scene.kit.gate.flushRefusals();
    const [{ event } = {}] = await scene.kit.services.store.audit(scene.workspace, { type: 'event', limit: 1 });
    expect(event).toMatchObject({
      actor: 'agent:child',
      detail: {
        operation: 'create_policy',
        code: 'beyond_delegation',
        reason: expect.stringMatching(/^This is beyond what the agent child was delegated: .{0,350}$/),
      },
    });
  });

  it('does not open what it may not reach, and hears which connections that would be', async () => {
    const { scene, as } = await writer();
    await using _ = scene;
    // The base closes db for everyone, so both ends have to be opened.
    const wide = { action: 'ALLOW', peerSelector: {}, ingress: [{}], egress: [{}] };
    await expect(as('create_policy', { name: 'wide', spec: wide })).rejects.toMatchObject({
      code: 'beyond_delegation',
      details: { rows: expect.arrayContaining([expect.objectContaining({ dst: 'db-1', ports: 'everything' })]) },
    });
    await expect(as('create_policy', { name: 'db', spec: everyone('db') })).rejects.toMatchObject(BEYOND);
    expect((await scene.state()).policies.has('wide')).toBe(false);
  });

  it('does not write a policy that would be about others once somebody has its label', async () => {
    const { scene, as } = await writer();
    await using _ = scene;
    await expect(as('create_policy', { name: 'later', spec: everyone('not-yet', 443) })).rejects.toMatchObject(BEYOND);
    const outside = { ...everyone('web', 443), ingress: [{ from: ['*'], ports: [{ protocol: 'TCP', port: 443 }] }] };
    await expect(as('create_policy', { name: 'outside', spec: outside })).rejects.toMatchObject(BEYOND);
  });

  it.each([
    ['relabel a peer of others, which its reach would follow', 'update_peer', { id: 'db-1', labels: { role: 'web' } }],
    ['move a peer of others', 'update_peer', { id: 'db-1', network: 'other' }],
    ['delete a policy of a person', 'delete_policy', { id: 'base' }],
    ['change a policy of a person', 'update_policy', { id: 'base', spec: { action: 'DENY', peerSelector: only('x') } }],
    ['delete a peer of others', 'delete_peer', { id: 'db-1' }],
    ['make a network', 'create_network', { name: 'side', spec: { cidr: '10.97.0.0/24', defaultAction: 'ALLOW' } }],
    ['make an assertion', 'create_assertion', { src: 'web-1', dst: 'db-1', expect: 'unreachable' }],
    [
      'close what others use',
      'create_policy',
      { name: 'no', spec: { action: 'DENY', peerSelector: only('db'), ingress: [{}] } },
    ],
  ])('does not %s', async (_what, name, raw) => {
    const { scene, as } = await writer();
    await using _ = scene;
    await scene.call(scene.ada, 'create_network', { name: 'other', spec: { cidr: '10.98.0.0/24' } });
    await scene.call(scene.ada, 'create_policy', { name: 'web-db', spec: everyone('db', 5432) });
    const { revision } = await scene.state();
    await expect(as(name, raw)).rejects.toMatchObject(BEYOND);
    expect((await scene.state()).revision).toBe(revision);
  });

  it('does not take away the policies of its own preset', async () => {
    const { scene, child, as } = await writer('isolated');
    await using _ = scene;
    for (const name of (await scene.state()).policies.keys()) {
      if (name.startsWith(child.id)) await expect(as('delete_policy', { id: name })).rejects.toMatchObject(BEYOND);
    }
    await expect(as('create_policy', { name: 'out', spec: everyone('web', 443) })).rejects.toMatchObject(BEYOND);
  });

  it('does not end its parent, nor another agent, but ends its own sub-agents', async () => {
    await using scene = await buildScene();
    const scopes: Scope[] = ['network:read', 'agents:write', 'agents:delegate'];
    const boss = await scene.agent('boss', scopes);
    const other = await scene.agent('other', scopes);
    const child = await scene.child(boss.token, 'child', scopes);
    const grandchild = await scene.child(child.token, 'grandchild', ['network:read']);
    for (const id of [boss.id, other.id]) {
      await expect(scene.call(child.token, 'revoke_agent', { id })).rejects.toMatchObject(BEYOND);
    }
    expect(await scene.call(child.token, 'revoke_agent', { id: grandchild.id })).toMatchObject({
      revoked: ['grandchild'],
      peers: ['grandchild'],
    });
  });

  it.each(['tokens:write', 'peers:approve', 'intents:override', 'members:write'] as const)(
    'never has %s',
    async (scope) => {
      await using scene = await buildScene();
      const boss = await scene.agent('boss', ['network:read', 'agents:delegate', scope]);
      await expect(scene.child(boss.token, 'child', ['network:read', scope])).rejects.toMatchObject(BEYOND);
    },
  );

  it('reads of the audit log what it and its own did, and nothing else', async () => {
    await using scene = await buildScene();
    const scopes: Scope[] = ['network:read', 'audit:read', 'agents:delegate'];
    const boss = await scene.agent('boss', scopes);
    const child = await scene.child(boss.token, 'child', scopes);
    await scene.child(child.token, 'grandchild', ['network:read']);
    const { items } = await scene.call(child.token, 'list_audit');
    expect(new Set(items.map(({ actor }: { actor: string }) => actor))).toEqual(new Set(['agent:child']));
    await expect(scene.call(child.token, 'list_audit', { actor: 'user:ada' })).rejects.toMatchObject(BEYOND);
    await expect(scene.call(child.token, 'list_audit', { actor: 'ada' })).rejects.toMatchObject(BEYOND);
  });

  it('cannot have its excess approved either, by plan or by direct write', async () => {
    await using scene = await buildScene({ requireApproval: true });
    const { workflow_id } = await scene.call(scene.ada, 'create_agent', { name: 'boss', scopes: WRITER, reach: [] });
    await scene.call(scene.grace, 'approve_workflow', { id: workflow_id });
    const boss = await scene.call(scene.ada, 'create_agent', { name: 'boss', scopes: WRITER, reach: [] });
    const child = await scene.child(boss.token, 'child', WRITER);
    const changes = [{ action: 'create', resource: 'MeshPolicy', name: 'db', spec: everyone('db') }];
    const plan = await scene.call(child.token, 'plan_network_change', { intent: 'open the database', changes });
    const apply = { plan_id: plan.plan_id, approved_by: 'grace' };
    await expect(scene.call(child.token, 'apply_network_change', apply)).rejects.toMatchObject(BEYOND);
    const direct = { name: 'db', spec: everyone('db') };
    await expect(scene.call(child.token, 'create_policy', direct)).rejects.toMatchObject(BEYOND);
  });

  it('does nothing while its peer waits to be let in', async () => {
    await using scene = await buildScene({ requirePeerApproval: true });
    const boss = await scene.agent('boss', ['network:read', 'agents:delegate', 'peers:approve']);
    const child = await scene.child(boss.token, 'child', ['network:read']);
    await expect(scene.call(child.token, 'list_peers')).rejects.toMatchObject({ code: 'peer_pending' });
    // The root agent that delegated to it is no other person either.
    expect(await scene.call(boss.token, 'approve_peer', { id: 'child' })).toEqual(PENDING);
    await scene.call(scene.ada, 'approve_peer', { id: 'child' });
    expect((await scene.call(child.token, 'list_peers')).items).toHaveLength(4);
  });
});

describe('a root agent', () => {
  it('waits for a person with what exceeds its reach, and writes the rest at once', async () => {
    await using scene = await buildScene();
    const boss = await scene.agent('boss', ['network:read', 'network:write'], { reach: reachOf('web', 443) });
    await scene.call(boss.token, 'create_policy', { name: 'mine', spec: everyone('web', 443) });
    const pending = await scene.call(boss.token, 'create_policy', { name: 'db', spec: everyone('db', 5432) });
    expect(pending).toEqual(PENDING);
    expect((await scene.state()).policies.has('db')).toBe(false);
    expect(await scene.call(scene.grace, 'approve_workflow', { id: pending.workflow_id })).toMatchObject({
      status: 'executed',
      selfApproved: false,
    });
    expect((await scene.state()).policies.get('db')?.annotations).toEqual({});
  });

  it.each([
    ['delete_peer', { id: 'db-1' }],
    ['delete_policy', { id: 'base' }],
    ['update_peer', { id: 'db-1', labels: { role: 'web' } }],
    ['create_assertion', { src: 'web-1', dst: 'db-1', expect: 'unreachable' }],
  ])('has to show a person before %s of what is not its own', async (name, raw) => {
    await using scene = await buildScene();
    const boss = await scene.agent('boss', ['network:read', 'network:write'], { reach: reachOf('web') });
    expect(await scene.call(boss.token, name, raw)).toEqual(PENDING);
    // The same call again is the same request.
    const { items } = await scene.call(scene.ada, 'list_workflows');
    expect(items).toHaveLength(1);
    await scene.call(scene.grace, 'approve_workflow', { id: items[0].id });
    const [workflow] = (await scene.call(scene.ada, 'list_workflows')).items;
    expect(workflow).toMatchObject({ status: 'executed', requestedBy: 'agent:boss', reviewedBy: 'user:grace' });
  });

  it.each(['delete_peer', 'revoke_peer'])(
    'waits for a second person before %s of what is its own, where the workspace asks for approval',
    async (name) => {
      await using scene = await buildScene({ requireApproval: true });
      const scopes: Scope[] = ['network:read', 'network:write', 'peers:approve', 'tokens:write'];
      const asked = { name: 'boss', scopes };
      const { workflow_id: id } = await scene.call(scene.ada, 'create_agent', asked);
      await scene.call(scene.grace, 'approve_workflow', { id });
      const boss = await scene.call(scene.ada, 'create_agent', asked);
      const { token } = await scene.call(boss.token, 'generate_join_token', { name: 'ci' });
      await scene.enrol(token, 'runner');
      expect(await scene.call(boss.token, name, { id: 'runner' })).toEqual(PENDING);
      expect((await scene.state()).peers.get('runner')?.status.phase).toBe('ready');
    },
  );

  it('takes its policies with it, unless a person has made them theirs', async () => {
    await using scene = await buildScene();
    const boss = await scene.agent('boss', ['network:read', 'network:write'], { reach: reachOf('web', 443) });
    for (const name of ['gone', 'kept']) {
      await scene.call(boss.token, 'create_policy', { name, spec: everyone('web', 443) });
    }
    await scene.call(scene.ada, 'update_policy', { id: 'kept', spec: everyone('web', 443), labels: { owner: 'ada' } });
    expect(await scene.call(scene.ada, 'revoke_agent', { id: 'boss', dryRun: true })).toMatchObject({
      policies: ['gone'],
    });
    await scene.call(scene.ada, 'revoke_agent', { id: 'boss' });
    expect([...(await scene.state()).policies.keys()]).toEqual(['base', 'kept']);
  });
});

describe('a join token of an agent', () => {
  const issuer = ['network:read', 'tokens:write'] as const;

  it('lives no longer than the agent, has few uses, and makes devices that are bound to it', async () => {
    await using scene = await buildScene();
    await scene.call(scene.ada, 'create_policy', {
      name: 'web-everywhere',
      spec: { action: 'ALLOW', peerSelector: only('web'), egress: [{}], ingress: [{}] },
    });
    await scene.call(scene.ada, 'create_policy', {
      name: 'in',
      spec: { action: 'ALLOW', peerSelector: {}, ingress: [{}] },
    });
    const boss = await scene.agent('boss', issuer, { ttl: '1h', reach: reachOf('db', 5432) });
    const generate = (raw: object) => scene.call(boss.token, 'generate_join_token', { name: 'ci', ...raw });
    await expect(generate({ expiry: '365d' })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(generate({ usageLimit: 10_000 })).rejects.toMatchObject({ code: 'forbidden' });
    expect(await generate({ labels: { role: 'web' } })).toEqual(PENDING);
    const { token, expiresAt, usageLimit } = await generate({});
    expect({ expiresAt, usageLimit }).toEqual({
      expiresAt: new Date(scene.kit.clock.time + 3_600_000).toISOString(),
      usageLimit: 5,
    });
    await scene.enrol(token, 'runner');
    // A person may label it: its bound stays.
    await scene.call(scene.ada, 'update_peer', { id: 'runner', labels: { role: 'web' } });
    expect(await scene.allowed('runner', 'secret-1')).toEqual([]);
    expect(await scene.allowed('runner', 'db-1')).toEqual([{ protocol: 'TCP', from: 5432, to: 5432 }]);
    expect(await scene.call(scene.ada, 'get_peer', { id: 'runner' })).toMatchObject({ delegatedBy: 'boss' });
  });

  it('ends with the agent, and so do its devices, but not one that a person adopted', async () => {
    await using scene = await buildScene();
    const boss = await scene.agent('boss', issuer);
    const { token } = await scene.call(boss.token, 'generate_join_token', { name: 'ci' });
    await scene.enrol(token, 'runner');
    await scene.enrol(token, 'keeper');
    expect(await scene.call(scene.ada, 'adopt_peer', { id: 'keeper' })).toMatchObject({
      peer: { delegatedBy: null, expiresAt: null },
      dryRun: false,
    });
    expect(await scene.call(scene.ada, 'revoke_agent', { id: 'boss', dryRun: true })).toMatchObject({
      revoked: ['boss'],
      peers: ['runner'],
      tokens: ['ci'],
    });
    await scene.call(scene.ada, 'revoke_agent', { id: 'boss' });
    expect([...(await scene.state()).peers.keys()].sort()).toEqual(['db-1', 'keeper', 'secret-1', 'web-1']);
    await expect(scene.enrol(token, 'late')).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  it('is made by a person or by a root agent that a person let, and never by an API token for an agent', async () => {
    await using scene = await buildScene();
    const api = await scene.call(scene.ada, 'create_api_token', {
      name: 'ci',
      scopes: ['agents:write', 'tokens:write'],
    });
    const root = { name: 'boss', scopes: ['tokens:write'] };
    await expect(scene.call(api.token, 'create_agent', root)).rejects.toMatchObject({ code: 'forbidden' });
  });
});

describe('what a root agent and its sub-agents hold', () => {
  it('leaves the other half of the nodes to others', async () => {
    await using scene = await buildScene();
    await scene.kit.services.store.commit('w_system', [await roomFor(scene, 6)], {
      actor: 'system:test',
      reason: 'few nodes',
      requestId: 'r_test',
    });
    const boss = await scene.agent('boss', ['network:read', 'tokens:write']);
    const { token } = await scene.call(boss.token, 'generate_join_token', { name: 'ci' });
    for (const name of ['a', 'b', 'c']) await scene.enrol(token, name);
    await expect(scene.enrol(token, 'd')).rejects.toMatchObject({ code: 'conflict' });
  });

  it('is at most 50 join tokens', async () => {
    await using scene = await buildScene();
    const boss = await scene.agent('boss', ['network:read', 'tokens:write']);
    for (let made = 0; made < 50; made += 1) await scene.call(boss.token, 'generate_join_token', { name: `t${made}` });
    await expect(scene.call(boss.token, 'generate_join_token', { name: 'more' })).rejects.toMatchObject({
      code: 'conflict',
    });
  });
});

type Scene = Awaited<ReturnType<typeof buildScene>>;

async function roomFor(scene: Scene, maxNodeCount: number) {
  const record = await scene.kit.services.store.getById('w_system', 'Workspace', scene.workspace);
  if (!record) throw new Error('no workspace');
  const spec = { ...record.spec, maxNodeCount };
  return { op: 'update', record: { ...draftOf(record), spec }, revision: record.revision } as const;
}

describe('what covers a connection today', () => {
  const OPEN = { action: 'ALLOW', peerSelector: {}, ingress: [{ from: [{ peerSelector: {} }] }], egress: [{}] };
  const soon = (scene: Scene) => new Date(scene.kit.clock.time + 3_600_000).toISOString();

  it('and ends by itself does not let an agent open it unseen', async () => {
    await using scene = await buildScene();
    const { call } = scene;
    await call(scene.ada, 'create_policy', {
      name: 'shut',
      spec: { action: 'DENY', peerSelector: only('secret'), ingress: [{}], expiresAt: soon(scene) },
    });
    const boss = await scene.agent('boss', WRITER, { reach: reachOf('web') });
    expect(await call(boss.token, 'create_policy', { name: 'open', spec: OPEN })).toEqual(PENDING);
    const child = await scene.child(boss.token, 'child', ['network:read', 'network:write'], {
      policyPreset: 'inherit',
    });
    await expect(call(child.token, 'create_policy', { name: 'open', spec: OPEN })).rejects.toMatchObject(BEYOND);
  });

  it('and was written by the agent itself does not let it approve a device unseen', async () => {
    await using scene = await buildScene();
    const { call } = scene;
    await call(scene.ada, 'create_policy', { name: 'open', spec: OPEN });
    await call(scene.ada, 'update_workspace', { settings: { requirePeerApproval: true } });
    const { token } = await call(scene.ada, 'generate_join_token', { name: 'plain' });
    await scene.enrol(token, 'stranger');
    const boss = await scene.agent('boss', ['network:read', 'network:write', 'peers:approve']);
    const deny = { action: 'DENY', peerSelector: {}, ingress: [{}], egress: [{}], expiresAt: soon(scene) };
    await call(boss.token, 'create_policy', { name: 'mask', spec: deny });
    expect(await call(boss.token, 'approve_peer', { id: 'stranger' })).toEqual(PENDING);
  });

  it('is not opened under it for newcomers who are shut off either', async () => {
    await using scene = await buildScene();
    const boss = await scene.agent('boss', WRITER, { reach: reachOf('web', 443) });
    const child = await scene.child(boss.token, 'child', ['network:read', 'network:write'], {
      policyPreset: 'inherit',
    });
    await scene.call(scene.ada, 'delete_policy', { id: 'base' });
    for (const spec of [
      { action: 'ALLOW', peerSelector: only('later'), ingress: [] },
      { action: 'ALLOW', peerSelector: only('later'), egress: [] },
      { action: 'DENY', peerSelector: only('later'), ingress: [] },
      {
        action: 'ALLOW',
        peerSelector: only('later'),
        egress: [{ to: [{ peerSelector: only('web') }], ports: [{ port: 443 }] }],
      },
    ]) {
      await expect(scene.call(child.token, 'create_policy', { name: 'shut', spec })).rejects.toMatchObject(BEYOND);
    }
  });
});

describe('labels and names', () => {
  it('of its own devices are for people to give', async () => {
    await using scene = await buildScene();
    const boss = await scene.agent('boss', [...WRITER, 'tokens:write'], { reach: reachOf('web', 443) });
    const child = await scene.child(boss.token, 'child', ['network:read', 'network:write'], {
      policyPreset: 'inherit',
    });
    const relabel = { id: 'child', labels: { role: 'db' } };
    await expect(scene.call(child.token, 'update_peer', relabel)).rejects.toMatchObject(BEYOND);
    expect(await scene.call(boss.token, 'generate_join_token', { name: 'x', labels: { any: 'thing' } })).toEqual(
      PENDING,
    );
  });

  it('of agents of others that have ended are not taken over', async () => {
    await using scene = await buildScene();
    const other = await scene.agent('other', ['network:read']);
    await scene.call(scene.ada, 'revoke_agent', { id: other.id });
    const boss = await scene.agent('boss', ['network:read', 'agents:delegate', 'audit:read']);
    const child = await scene.child(boss.token, 'child', ['network:read', 'agents:delegate', 'audit:read']);
    await expect(scene.child(child.token, 'other', ['network:read'])).rejects.toMatchObject(BEYOND);
  });

  it('of an agent whose time is over are free once everything of it has gone', async () => {
    await using scene = await buildScene();
    const boss = await scene.agent('boss', ['network:read', 'agents:delegate']);
    await scene.child(boss.token, 'child', ['network:read'], { ttl: '1s' });
    scene.kit.clock.time += 2_000;
    await expect(scene.child(boss.token, 'child', ['network:read'])).rejects.toMatchObject({ code: 'conflict' });
  });

  it('and a pending sub-agent that leaves is not let in by leaving', async () => {
    await using scene = await buildScene({ requirePeerApproval: true });
    const boss = await scene.agent('boss', ['network:read', 'agents:delegate']);
    const asked = { id: 'self', subAgentName: 'child', ttl: '30m', policyPreset: 'isolated' };
    const { enrollmentToken } = await scene.call(boss.token, 'delegate_agent', asked);
    const { agentToken, deviceToken } = await scene.enrol(enrollmentToken, 'child');
    await scene.call(deviceToken, 'leave_network');
    await expect(scene.call(agentToken, 'list_peers')).rejects.toMatchObject({ code: 'peer_pending' });
  });
});

it('many calls at once are held to the share like one after the other', async () => {
  await using scene = await buildScene();
  const boss = await scene.agent('boss', ['network:read', 'tokens:write']);
  const made = await Promise.allSettled(
    Array.from({ length: 60 }, (_, index) => scene.call(boss.token, 'generate_join_token', { name: `t${index}` })),
  );
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(50);
});

it('who approves labels that were sent with another name is shown what they open, and what the peer is called from then on', async () => {
  await using scene = await buildScene();
  const out = { action: 'ALLOW', peerSelector: only('secret'), egress: [{}] };
  const into = { action: 'ALLOW', peerSelector: only('web'), ingress: [{}] };
  for (const [name, spec] of Object.entries({ out, into }))
    await scene.call(scene.ada, 'create_policy', { name, spec });
  const { token } = await scene.agent('boss', ['network:read', 'network:write']);
  const sent = { id: 'db-1', name: 'db-9', labels: { role: 'web' } };
  const { workflow_id: id } = await scene.call(token, 'update_peer', sent);
  const { effect, warnings } = await scene.call(scene.grace, 'get_workflow', { id });
  expect(effect.opened).toContainEqual(expect.objectContaining({ src: 'secret-1', dst: 'db-1' }));
  expect([effect.opened_pairs, effect.closed_pairs]).toEqual([1, 0]);
  expect(warnings).toContain('The peer db-1 is called db-9 from then on: the effect shows it as db-1.');
  expect(await scene.call(scene.grace, 'approve_workflow', { id })).toMatchObject({ status: 'executed' });
  const { peers } = await scene.state();
  expect([peers.get('db-1'), peers.get('db-9')?.labels]).toEqual([undefined, { role: 'web' }]);
});
