import { describe, expect, it } from 'vitest';
import { isPending } from '../../core/base/operation.ts';
import { approve, buildScene, only, reachOf, type Scene } from './scene.ts';

const TOKEN = { name: 'dba', expiry: '1h', usageLimit: 1 };
const WAITS = { status: 'pending_approval' };

/** A call that a person has to approve first, with the title under which they find it. */
async function waiting(scene: Scene, bearer: string, name: string, input: Record<string, unknown>): Promise<string> {
  const answer = await scene.call(bearer, name, input);
  expect(answer).toMatchObject(WAITS);
  return (await scene.call(scene.grace, 'get_workflow', { id: answer.workflow_id })).summary;
}

describe('a join token whose devices may ask for a label', () => {
  it.each([
    ['labels', { labels: { role: 'dba' } }, 'makes the join token dba with labels: role=dba is set'],
    [
      'any value of a label',
      { deviceLabels: ['role'] },
      'makes the join token dba whose devices may ask for labels: role',
    ],
    [
      'one label',
      { deviceLabels: ['role=dba'] },
      'makes the join token dba whose devices may ask for labels: role=dba',
    ],
  ])('waits under requireApproval as one that gives it does: %s', async (_what, grants, said) => {
    await using scene = await buildScene({ requireApproval: true });
    expect(await waiting(scene, scene.ada, 'generate_join_token', { ...TOKEN, ...grants })).toContain(said);
  });

  it('names all that it grants to who approves it', async () => {
    await using scene = await buildScene();
    await scene.call(scene.ada, 'create_network', { name: 'lab', spec: { cidr: '10.112.0.0/24' } });
    await scene.call(scene.ada, 'update_workspace', { settings: { requireApproval: true } });
    const grants = { labels: { tier: 'one' }, network: 'lab', deviceLabels: ['role'] };
    const summary = await waiting(scene, scene.ada, 'generate_join_token', { ...TOKEN, ...grants });
    for (const said of ['tier=one', 'for the network lab', 'may ask for labels: role']) expect(summary).toContain(said);
  });

  it('is no root agent to make alone, as one that gives labels is not', async () => {
    await using scene = await buildScene();
    const boss = await scene.agent('boss', ['network:read', 'tokens:write']);
    for (const grants of [{ deviceLabels: ['role'] }, { labels: { role: 'dba' } }]) {
      expect(await scene.call(boss.token, 'generate_join_token', { ...TOKEN, ...grants })).toMatchObject(WAITS);
    }
    expect(isPending(await scene.call(boss.token, 'generate_join_token', TOKEN))).toBe(false);
  });

  it.each([
    [{ labels: { role: 'dba' } }],
    [{ deviceLabels: ['role'] }],
    [{ deviceLabels: ['role=dba'] }],
    [{ labels: { tier: 'one' }, deviceLabels: ['zone', 'role=dba'] }],
  ])('is told by a plan that opens something to such devices, which no setting approves: %j', async (grants) => {
    await using scene = await buildScene();
    await scene.call(scene.ada, 'update_policy', {
      id: 'base',
      spec: { action: 'ALLOW', peerSelector: {}, ingress: [] },
    });
    await scene.call(scene.ada, 'generate_join_token', { ...TOKEN, ...grants });
    await scene.call(scene.ada, 'update_workspace', { settings: { autoApprove: { maxRisk: 'critical' } } });
    // Somebody is meant today, so the policy alone does not tell who else comes.
    const from = { matchExpressions: [{ key: 'role', operator: 'In', values: ['web', 'dba'] }] };
    const ingress = [{ from: [{ peerSelector: from }], ports: [{ protocol: 'TCP', port: 5432 }] }];
    const spec = { action: 'ALLOW', peerSelector: only('db'), ingress };
    const plan = await scene.call(scene.ada, 'plan_network_change', {
      intent: 'see changes',
      changes: [{ action: 'create', resource: 'MeshPolicy', name: 'dba', spec }],
      expectations: [{ src: 'web-1', dst: 'db-1', protocol: 'TCP', port: 5432, expect: 'allow' }],
    });
    expect(plan.warnings[0]).toMatch(
      /^every device that joins later with .*role=dba.* reaches db-1(?: and other devices that join later)? on TCP 5432/,
    );
    const applied = await scene.call(scene.ada, 'apply_network_change', {
      plan_id: plan.plan_id,
      approved_by: 'grace',
    });
    expect(applied).toMatchObject(WAITS);
  });

  it('needs the second person where such devices would fail a control', async () => {
    await using scene = await buildScene();
    const spec = { action: 'ALLOW', peerSelector: only('pay'), ingress: [{ from: ['*'] }] };
    await scene.call(scene.ada, 'delete_policy', { id: 'base' });
    await scene.call(scene.ada, 'create_policy', { name: 'pay', spec });
    const settings = { selfApproval: true, compliance: { secondPerson: true, cde: ['role=pay'] } };
    await scene.kit.haveSettings(scene.workspace, settings);
    for (const grants of [{ labels: { role: 'pay' } }, { deviceLabels: ['role'] }]) {
      expect(await scene.call(scene.ada, 'generate_join_token', { ...TOKEN, ...grants })).toMatchObject(WAITS);
    }
    expect(isPending(await scene.call(scene.ada, 'generate_join_token', TOKEN))).toBe(false);
  });
});

describe('what a pending peer gets waits for a second person, however it is asked for', () => {
  it.each<[{ readonly name?: string; readonly labels?: object; readonly network?: string }]>([
    [{ labels: { role: 'dba' } }],
    [{ labels: { role: 'dba' }, name: 'laptop-2' }],
    [{ network: 'lab' }],
    [{ network: 'lab', name: 'laptop-2' }],
  ])('%j', async (asked) => {
    await using scene = await buildScene();
    await scene.call(scene.ada, 'create_network', { name: 'lab', spec: { cidr: '10.112.0.0/24' } });
    await scene.call(scene.ada, 'update_workspace', { settings: { requirePeerApproval: true } });
    const { token } = await scene.call(scene.ada, 'generate_join_token', TOKEN);
    await scene.enrol(token, 'laptop');
    await scene.call(scene.ada, 'update_workspace', { settings: { requireApproval: true } });
    const pending = await scene.call(scene.ada, 'update_peer', { id: 'laptop', ...asked });
    expect(pending).toMatchObject(WAITS);
    expect((await scene.state()).peers.get('laptop')).toMatchObject({ labels: {}, spec: { network: 'default' } });
    expect(await approve(scene, scene.grace, pending.workflow_id)).toMatchObject({ status: 'executed' });
    const { name = 'laptop', ...changed } = asked;
    expect(await scene.call(scene.ada, 'get_peer', { id: name })).toMatchObject(changed);
  });
});

const AGENT = ['network:read', 'network:write', 'agents:delegate', 'agents:write'] as const;
const WEB_443 = { policyPreset: 'inherit' };
const OPEN_WEB = {
  name: 'laptop-to-web',
  spec: {
    action: 'ALLOW',
    peerSelector: only('web'),
    ingress: [{ from: [{ peerSelector: only('laptop') }], ports: [{ protocol: 'TCP', port: 443 }] }],
  },
};

/** A workspace that lets nobody in, with a line of agents: root, its sub-agent middle, and that one's child. */
async function line() {
  const scene = await buildScene();
  const base = { action: 'ALLOW', peerSelector: {}, ingress: [] };
  await scene.call(scene.ada, 'update_policy', { id: 'base', spec: base });
  const boss = await scene.agent('boss', AGENT, { reach: reachOf('web', 443), ttl: '2h' });
  const { enrollmentToken } = await scene.call(boss.token, 'delegate_agent', {
    id: 'self',
    subAgentName: 'middle',
    ttl: '1h',
    scopes: AGENT,
    ...WEB_443,
  });
  const middle = await scene.enrol(enrollmentToken, 'middle');
  const child = await scene.child(middle.agentToken, 'child', ['network:read', 'network:write'], WEB_443);
  return { scene, boss, middle, child };
}

describe('what a sub-agent writes is held to what its own peer may open', () => {
  it.each(['leaves', 'is deleted by a person'])('also once the peer of its parent %s', async (how) => {
    const { scene, middle, child } = await line();
    await using _ = scene;
    const spec = { action: 'DENY', peerSelector: { peers: ['middle'] }, egress: [{}] };
    await scene.call(scene.ada, 'create_policy', { name: 'closed', spec });
    await expect(scene.call(child.token, 'create_policy', OPEN_WEB)).rejects.toMatchObject({
      code: 'beyond_delegation',
    });
    if (how === 'leaves') await scene.call(middle.deviceToken, 'leave_network');
    else await scene.call(scene.ada, 'delete_peer', { id: 'middle' });
    await expect(scene.call(child.token, 'create_policy', OPEN_WEB)).rejects.toMatchObject({
      code: 'beyond_delegation',
    });
  });
});

describe('the bar of an agent whose peer was revoked', () => {
  const reads = (scene: Scene, token: string) => scene.call(token, 'list_peers');

  it.each([
    ['a person', (scene: Scene) => scene.ada],
    ['its root agent, once a person let it', undefined],
  ])('outlives the peer, which %s deletes', async (_who, by) => {
    const { scene, boss, middle } = await line();
    await using _ = scene;
    await scene.call(scene.ada, 'revoke_peer', { id: 'middle' });
    await expect(reads(scene, middle.agentToken)).rejects.toMatchObject({ code: 'forbidden' });
    const deletion = await scene.call(by?.(scene) ?? boss.token, 'delete_peer', { id: 'middle' });
    if (!by) await approve(scene, scene.grace, deletion.workflow_id);
    expect((await scene.state()).peers.has('middle')).toBe(false);
    await expect(reads(scene, middle.agentToken)).rejects.toMatchObject({ code: 'forbidden' });
    expect(await scene.call(scene.ada, 'get_agent', { id: 'middle' })).toMatchObject({ phase: 'Active', barred: true });
  });

  it('is not lifted by an agent, which neither lets the peer in nor deletes it', async () => {
    const { scene, boss, middle, child } = await line();
    await using _ = scene;
    await scene.call(scene.ada, 'revoke_peer', { id: 'child' });
    await expect(scene.call(middle.agentToken, 'delete_peer', { id: 'child' })).rejects.toMatchObject({
      code: 'beyond_delegation',
    });
    expect(await scene.call(boss.token, 'delete_peer', { id: 'child' })).toMatchObject(WAITS);
    const porter = await scene.agent('porter', ['network:read', 'peers:approve']);
    expect(await scene.call(porter.token, 'approve_peer', { id: 'child' })).toMatchObject(WAITS);
    await expect(reads(scene, child.token)).rejects.toMatchObject({ code: 'forbidden' });
  });

  it('is lifted by a person who lets the peer in again', async () => {
    const { scene, middle } = await line();
    await using _ = scene;
    await scene.call(scene.ada, 'revoke_peer', { id: 'middle' });
    await scene.call(scene.ada, 'approve_peer', { id: 'middle' });
    expect((await reads(scene, middle.agentToken)).items.length).toBeGreaterThan(0);
    expect(await scene.call(scene.ada, 'get_agent', { id: 'middle' })).not.toHaveProperty('barred');
  });

  it('keeps nobody from ending the agent with its peer', async () => {
    const { scene, boss } = await line();
    await using _ = scene;
    await scene.call(scene.ada, 'revoke_peer', { id: 'middle' });
    await scene.call(boss.token, 'revoke_agent', { id: 'middle' });
    const { peers } = await scene.state();
    expect([peers.has('middle'), peers.has('child')]).toEqual([false, false]);
  });
});
