import { describe, expect, it } from 'vitest';
import type { PolicySpec } from '../../core/model/policy.ts';
import { buildScene } from './scene.ts';

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
  const settings = { requireApproval: true, selfApproval: false, autoApprove: { maxRisk: 'critical' } };
  await at.call(at.ada, 'update_workspace', { settings });
  const changes = Object.entries(policies).map(([name, spec]) => ({
    action: 'create',
    resource: 'MeshPolicy',
    name,
    spec,
  }));
  const plan = await at.call(at.ada, 'plan_network_change', {
    intent: 'see changes',
    changes,
    expectations: [expectation],
  });
  expect(plan.verification).toBe('proven');
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
      risk: 'high',
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
      risk: 'high',
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
