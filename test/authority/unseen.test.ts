import { describe, expect, it } from 'vitest';
import type { PolicySpec } from '../../core/model/policy.ts';
import { buildScene, only, reachOf } from './scene.ts';

const SECRET = { peers: ['secret-1'] };
const CLOSED = { src: 'web-1', dst: 'secret-1', expect: 'deny' };
const INTERNET = [{ ipBlock: { cidr: '0.0.0.0/0', except: ['10.96.0.0/16'] } }];
const LATER = 600_000;

/** A workspace that is closed to whoever joins and approves what is of low risk by itself. */
async function scene() {
  const at = await buildScene();
  await at.call(at.ada, 'update_policy', { id: 'base', spec: { action: 'ALLOW', peerSelector: {}, ingress: [] } });
  const end = new Date(at.kit.clock.time + LATER).toISOString();
  return { at, end };
}

type Scene = Awaited<ReturnType<typeof scene>>['at'];

async function planned(at: Scene, policies: Readonly<Record<string, PolicySpec>>, expectation: object = CLOSED) {
  const settings = {
    requireApproval: true,
    selfApproval: false,
    autoApprove: { maxRisk: 'critical', from: ['person'] },
  };
  await at.kit.haveSettings(at.workspace, settings);
  const changes = Object.entries(policies).map(([name, spec]) => ({
    action: 'create',
    resource: 'MeshPolicy',
    name,
    spec,
  }));
  const plan = await at.call(at.ada, 'plan_network_change', {
    intent: 'x',
    changes,
    expectations: [expectation],
  });
  expect(plan.expectations_hold).toBe(true);
  const { status } = await at.call(at.ada, 'apply_network_change', { plan_id: plan.plan_id, approved_by: 'grace' });
  return { warning: plan.warnings[0], risk: plan.risk_level, status };
}

describe('a plan is not approved by itself, and says first', () => {
  it('that every device that joins later reaches a peer', async () => {
    const { at } = await scene();
    await using _ = at;
    const from = [{ peerSelector: { notPeers: ['web-1', 'db-1'] } }];
    expect(await planned(at, { x: { action: 'ALLOW', peerSelector: SECRET, ingress: [{ from }] } })).toEqual({
      warning: 'every device that joins later reaches secret-1 on everything',
      risk: 'high',
      status: 'pending_approval',
    });
  });

  it('that a device which joins at a free address reaches a peer, whatever else is denied there', async () => {
    const { at } = await scene();
    await using _ = at;
    const from = [{ ipBlock: { cidr: '10.96.0.8/29' } }];
    const ports = [{ port: 443 }];
    const some = [{ ipBlock: { cidr: '10.96.0.8/32' } }];
    expect(
      await planned(at, {
        x: { action: 'ALLOW', peerSelector: SECRET, ingress: [{ from, ports }] },
        y: { action: 'DENY', peerSelector: SECRET, ingress: [{ from: some }] },
      }),
    ).toEqual({
      warning: 'a device that joins later at 10.96.0.9 reaches secret-1 on TCP 443',
      risk: 'medium',
      status: 'pending_approval',
    });
  });

  it('what opens once a policy of the plan itself has ended, for those that are there and those that join', async () => {
    const { at, end } = await scene();
    await using _ = at;
    const mask: PolicySpec = { action: 'DENY', peerSelector: SECRET, ingress: [{ from: ['*'] }], expiresAt: end };
    const open: PolicySpec = { action: 'ALLOW', peerSelector: SECRET, ingress: [{ from: ['*'] }] };
    expect(await planned(at, { mask, open })).toEqual({
      warning: expect.stringContaining('it would open db-1 to secret-1 on everything'),
      risk: 'critical',
      status: 'pending_approval',
    });
    const from = [{ peerSelector: { notPeers: ['web-1', 'db-1'] } }];
    expect(
      await planned(at, { mask, open: { action: 'ALLOW', peerSelector: SECRET, ingress: [{ from }] } }),
    ).toMatchObject({
      warning: 'every device that joins later reaches secret-1 on everything',
      status: 'pending_approval',
    });
  });

  it('that addresses outside are let in once a policy that shuts them out has ended', async () => {
    const { at, end } = await scene();
    await using _ = at;
    const mask = { action: 'DENY', peerSelector: SECRET, ingress: [{ from: INTERNET }], expiresAt: end };
    await at.call(at.ada, 'create_policy', { name: 'mask', spec: mask });
    expect(
      await planned(at, { open: { action: 'ALLOW', peerSelector: SECRET, ingress: [{ from: INTERNET }] } }),
    ).toEqual({
      warning: expect.stringContaining('0.0.0.0/0 except 10.96.0.0/16 to secret-1 on everything'),
      risk: 'critical',
      status: 'pending_approval',
    });
  });

  it('that more ports of the same pair open once a policy that covers them has ended', async () => {
    const { at, end } = await scene();
    await using _ = at;
    const ports = [
      { port: 444, endPort: 65_535 },
      { port: 1, endPort: 442 },
    ];
    const mask = { action: 'DENY', peerSelector: SECRET, ingress: [{ from: ['*'], ports }], expiresAt: end };
    await at.call(at.ada, 'create_policy', { name: 'mask', spec: mask });
    const from = [{ peerSelector: { peers: ['web-1'] } }];
    const open: PolicySpec = {
      action: 'ALLOW',
      peerSelector: SECRET,
      ingress: [{ from, ports: [{ protocol: 'TCP' }] }],
    };
    expect(await planned(at, { open }, { ...CLOSED, port: 443, expect: 'allow' })).toEqual({
      warning: expect.stringContaining('it would open web-1 to secret-1 on TCP 1-442, TCP 444-65535'),
      risk: 'high',
      status: 'pending_approval',
    });
  });
});

describe('a plan is approved by itself as before', () => {
  it('where devices that join later could reach as much already', async () => {
    const { at } = await scene();
    await using _ = at;
    const ingressOf = (peerSelector: PolicySpec['peerSelector']): PolicySpec => ({
      action: 'ALLOW',
      peerSelector: SECRET,
      ingress: [{ from: [{ peerSelector }], ports: [{ port: 443 }] }],
    });
    await at.call(at.ada, 'create_policy', { name: 'most', spec: ingressOf({ notPeers: ['web-1'] }) });
    expect(await planned(at, { all: ingressOf({}) }, { ...CLOSED, port: 443, expect: 'allow' })).toMatchObject({
      status: 'executed',
    });
  });

  it('where it opens to labels that devices which join later do not have', async () => {
    const { at } = await scene();
    await using _ = at;
    const from = [{ peerSelector: { matchLabels: { role: 'web' } } }];
    const spec: PolicySpec = { action: 'ALLOW', peerSelector: SECRET, ingress: [{ from, ports: [{ port: 443 }] }] };
    expect(await planned(at, { spec }, { ...CLOSED, port: 443, expect: 'allow' })).toMatchObject({
      status: 'executed',
    });
  });
});

const FOUR_EYES = {
  requireApproval: true,
  selfApproval: false,
  autoApprove: { maxRisk: 'critical', from: ['person'] },
};
const SCOPES = ['network:read', 'network:write'] as const;
const MASK: PolicySpec = { action: 'DENY', peerSelector: SECRET, ingress: [{ from: ['*'] }] };
const OPEN: PolicySpec = { action: 'ALLOW', peerSelector: SECRET, ingress: [{ from: ['*'] }] };
const WAITS = { status: 'pending_approval' };
const create = (name: string, spec: PolicySpec) => ({ action: 'create', resource: 'MeshPolicy', name, spec });

/** One administrator alone plans changes and applies them. */
async function alone(at: Scene, changes: readonly object[], expectation: object = CLOSED) {
  await at.kit.haveSettings(at.workspace, FOUR_EYES);
  const asked = { intent: 'x', changes, expectations: [expectation] };
  const plan = await at.call(at.ada, 'plan_network_change', asked);
  const raw = { plan_id: plan.plan_id, approved_by: 'grace' };
  const { status, workflow_id } = await at.call(at.ada, 'apply_network_change', raw);
  return { warnings: plan.warnings as string[], status, workflow_id };
}

async function waiting(at: Scene, labels: Readonly<Record<string, string>>) {
  await at.call(at.ada, 'update_workspace', { settings: { requirePeerApproval: true } });
  const { token } = await at.call(at.ada, 'generate_join_token', { name: 't', labels });
  await at.enrol(token, 'mine');
}

describe('one administrator alone does not open', () => {
  it('a peer to devices of a label whose token is out', async () => {
    const { at } = await scene();
    await using _ = at;
    await at.call(at.ada, 'generate_join_token', { name: 't', labels: { role: 'api' } });
    const spec = { ...OPEN, ingress: [{ from: [{ peerSelector: only('api') }] }] };
    expect(await alone(at, [create('x', spec)])).toMatchObject({
      status: 'pending_approval',
      warnings: expect.arrayContaining(['every device that joins later with role=api reaches secret-1 on everything']),
    });
  });

  it('devices of a label whose token is out, by taking what guards them away', async () => {
    const { at } = await scene();
    await using _ = at;
    await at.call(at.ada, 'delete_policy', { id: 'base' });
    const guard: PolicySpec = { action: 'ALLOW', peerSelector: { matchLabels: { data: 'cards' } }, ingress: [] };
    await at.call(at.ada, 'create_policy', { name: 'guard', spec: guard });
    await at.call(at.ada, 'generate_join_token', { name: 't', labels: { data: 'cards' } });
    const changes = [{ action: 'delete', resource: 'MeshPolicy', name: 'guard' }];
    expect(await alone(at, changes, { ...CLOSED, expect: 'allow' })).toMatchObject(WAITS);
  });

  it.each([
    ['by its name', {}, create('x', { ...OPEN, ingress: [{ from: [{ peerSelector: { peers: ['mine'] } }] }] })],
    ['by its label', { role: 'api' }, create('x', { ...OPEN, ingress: [{ from: [{ peerSelector: only('api') }] }] })],
    [
      'by a label that it is given',
      {},
      { action: 'update', resource: 'MeshPeer', name: 'mine', spec: { labels: { role: 'web' } } },
    ],
  ])('a peer to a device that waits, %s', async (_what, labels, change) => {
    const { at } = await scene();
    await using _ = at;
    const web: PolicySpec = { ...OPEN, ingress: [{ from: [{ peerSelector: only('web') }], ports: [{ port: 22 }] }] };
    await at.call(at.ada, 'create_policy', { name: 'web', spec: web });
    await waiting(at, labels);
    expect(await alone(at, [change], { ...CLOSED, src: 'db-1' })).toMatchObject({
      status: 'pending_approval',
      warnings: expect.arrayContaining([
        expect.stringMatching(/^the device mine, once it is let in, reaches secret-1/),
      ]),
    });
  });

  it('a peer behind more ends of policies than anyone would count', async () => {
    const { at } = await scene();
    await using _ = at;
    const iso = (minutes: number) => new Date(at.kit.clock.time + minutes * 60_000).toISOString();
    const others = Array.from({ length: 18 }, (_one, index) =>
      create(`d${index}`, {
        action: 'DENY',
        peerSelector: { peers: ['db-1'] },
        ingress: [{ from: [{ peerSelector: SECRET }], ports: [{ port: 1 + index }] }],
        expiresAt: iso(1 + index / 10),
      }),
    );
    const last = [create('m', { ...MASK, expiresAt: iso(4) }), create('o', { ...OPEN, expiresAt: iso(5_000_000) })];
    expect(await alone(at, [...others, ...last])).toMatchObject({
      status: 'pending_approval',
      warnings: expect.arrayContaining([expect.stringContaining('it would open web-1 to secret-1 on everything')]),
    });
  });

  it('a peer behind what an agent wrote, which ends with the agent, nor keep open what an agent opened', async () => {
    const { at } = await scene();
    await using _ = at;
    await at.call(at.ada, 'create_policy', { name: 'open', spec: OPEN });
    const [a, b] = [await at.agent('a', SCOPES, { reach: [] }), await at.agent('b', SCOPES, { reach: reachOf('web') })];
    await at.call(a.token, 'create_policy', { name: 'of-a', spec: MASK });
    await at.call(b.token, 'create_policy', { name: 'of-b', spec: MASK });
    const web: PolicySpec = {
      action: 'ALLOW',
      peerSelector: only('web'),
      ingress: [{ from: [{ peerSelector: only('db') }], ports: [{ port: 80 }] }],
    };
    expect(await at.call(b.token, 'create_policy', { name: 'web', spec: web })).toMatchObject({ name: 'web' });
    expect(await at.call(b.token, 'delete_policy', { id: 'of-b' })).toMatchObject(WAITS);
    expect(await alone(at, [{ action: 'delete', resource: 'MeshPolicy', name: 'of-b' }])).toMatchObject(WAITS);
    const same = { ...web, egress: [{}] };
    expect(await alone(at, [{ action: 'update', resource: 'MeshPolicy', name: 'web', spec: same }])).toMatchObject({
      status: 'pending_approval',
      warnings: expect.arrayContaining([expect.stringContaining('it would open db-1 to web-1 on TCP 80')]),
    });
  });
});

describe('what was approved is what was shown, also of what comes later', () => {
  const ports = [{ port: 1, endPort: 442 }, { port: 444, endPort: 65_535 }, { protocol: 'UDP' as const }];
  const most: PolicySpec = { ...MASK, ingress: [{ from: ['*'], ports }] };
  const open: PolicySpec = { ...OPEN, ingress: [{ from: [{ peerSelector: { peers: ['web-1'] } }], ports: [{}] }] };

  async function masked() {
    const { at, end } = await scene();
    await at.call(at.ada, 'create_policy', { name: 'mask', spec: most });
    return { at, end };
  }

  /** What covers the opening gets an end, which opens nothing as long as nobody has let the opening in. */
  async function endMask(at: Scene, end: string) {
    const spec = { ...most, expiresAt: end };
    const changes = [{ action: 'update', resource: 'MeshPolicy', name: 'mask', spec }];
    const warnings = expect.arrayContaining(['nothing opens and nothing closes when this plan is applied']);
    expect(await alone(at, changes)).toMatchObject({ status: 'executed', warnings });
  }

  async function approvedTooLate(at: Scene, id: string) {
    const stale = at.call(at.grace, 'approve_workflow', { id });
    await expect(stale).rejects.toMatchObject({ code: 'plan_stale' });
    return (await at.call(at.grace, 'get_workflow', { id })).status;
  }

  it('of a plan and of a direct write', async () => {
    const { at, end } = await masked();
    await using _ = at;
    const label = { action: 'update', resource: 'MeshPeer', name: 'db-1', spec: { labels: { role: 'db', note: 'x' } } };
    const plan = await alone(at, [create('o', open), label], { ...CLOSED, src: 'db-1' });
    expect(plan).toMatchObject({
      status: 'pending_approval',
      warnings: expect.arrayContaining([
        expect.stringMatching(/^o: DENY rules take away a part of what it allows: mask\./),
      ]),
    });
    const direct = await at.call(at.ada, 'create_policy', { name: 'p', spec: open });
    await endMask(at, end);
    expect(await approvedTooLate(at, plan.workflow_id)).toBe('failed');
    expect(await approvedTooLate(at, direct.workflow_id)).toBe('failed');
    at.kit.clock.time += 2 * LATER;
    expect(await at.allowed('web-1', 'secret-1')).toEqual([]);
  });

  const document = (kind: string, name: string, spec: object) => ({
    apiVersion: 'mesh.internal/v1alpha1',
    kind,
    metadata: { name },
    spec,
  });
  const BOT = document('AgentIdentity', 'bot', { ttl: '8h', scopes: ['network:read'], reach: [] });

  it('of a call that waits', async () => {
    const { at, end } = await masked();
    await using _ = at;
    await at.kit.haveSettings(at.workspace, FOUR_EYES);
    const documents = [document('MeshPolicy', 'p', open), BOT];
    const { workflow_id } = await at.call(at.ada, 'apply_resources', { documents });
    await endMask(at, end);
    await at.call(at.grace, 'approve_workflow', { id: workflow_id });
    await expect(at.call(at.ada, 'apply_resources', { documents })).rejects.toMatchObject({ code: 'conflict' });
  });

  it('and a call that waits says it as a plan does', async () => {
    const { at, end } = await scene();
    await using _ = at;
    await at.call(at.ada, 'create_policy', { name: 'mask', spec: { ...most, expiresAt: end } });
    await at.kit.haveSettings(at.workspace, FOUR_EYES);
    const from = [{ peerSelector: { notPeers: ['db-1'] } }];
    const documents = [document('MeshPolicy', 'p', { ...OPEN, ingress: [{ from }] }), BOT];
    const { workflow_id } = await at.call(at.ada, 'apply_resources', { documents });
    const { warnings, diffMarkdown } = await at.call(at.grace, 'get_workflow', { id: workflow_id });
    for (const text of ['every device that joins later reaches secret-1', 'it opens more once policies']) {
      expect(warnings).toContainEqual(expect.stringContaining(text));
      expect(diffMarkdown).toContain(text);
    }
  });
});
