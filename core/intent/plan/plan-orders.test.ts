import { describe, expect, it } from 'vitest';
import { agent, buildKit, type Kit, person } from '../../../test/kits/plane/kit.ts';
import { policy } from '../../../test/kits/records/records.ts';
import { seedPeers } from '../../../test/kits/records/seed-peers.ts';
import { draftOf } from '../../base/record.ts';
import type { PolicySpec } from '../../model/policy.ts';

type Raw = Record<string, unknown>;

const BASE: PolicySpec = { action: 'DENY', peerSelector: {} };
const DB = { matchLabels: { role: 'db' } };
const why = { actor: 'system:test', reason: 'seed', requestId: 'seed' };

async function scene(kit: Kit, policies: Readonly<Record<string, PolicySpec>> = {}) {
  const workspace = await kit.workspace();
  await seedPeers(kit.services, workspace, { 'web-1': { role: 'web' }, 'db-1': { role: 'db', env: 'test' }, lap: {} });
  for (const [name, spec] of Object.entries(policies))
    await kit.services.store.commit(workspace, [{ op: 'create', record: draftOf(policy(name, spec)) }], why);
  const as = agent(['network:read', 'intents:plan', 'intents:apply'], workspace);
  const plan = (raw: Raw) => kit.call('plan_network_change', raw, { as, workspace });
  const fault = async (raw: Raw) => {
    const error = await plan(raw).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return error instanceof Error ? error.message : '';
  };
  return { workspace, as, plan, fault };
}

const webToDb = { from: ['role=web'], to: ['role=db'], ports: ['tcp/5432'] };
const allow = { do: 'allow', ...webToDb };
const names = (changes: { action: string; resource: string; name: string }[]) =>
  changes.map(({ action, resource, name }) => `${action} ${resource} ${name}`);

it('the title of orders leaves to the warnings what they name for devices that join later', async () => {
  await using kit = await buildKit();
  const { plan } = await scene(kit, { base: BASE });
  const { summary, warnings } = await plan({ orders: [{ ...allow, from: ['peers'] }] });
  expect(summary).toMatch(/^Allow peers to role=db on tcp\/5432: opens TCP 5432 from [^;]*; closes nothing\.$/);
  expect(warnings).toContainEqual(expect.stringContaining('every device that joins later'));
});

describe('hold', () => {
  it('says what must be so afterwards, among other things, and names what is not', async () => {
    await using kit = await buildKit();
    const { plan } = await scene(kit, { base: BASE });
    const holding = await plan({ orders: [allow], hold: [{ do: 'deny', from: ['lap'], to: ['role=db'] }] });
    expect(holding).toMatchObject({ expectations_hold: true, unmet: [] });
    const failing = await plan({ orders: [allow], hold: [{ do: 'deny', from: ['web-1'], to: ['db-1'] }] });
    expect(failing).toMatchObject({
      expectations_hold: false,
      unmet: ['Your hold: "deny web-1 to db-1": web-1 to db-1 on TCP 5432: the policy allow-from-web gives it'],
    });
    expect(failing.diff_markdown).toContain('- deny web-1 to db-1');
  });

  it('asks alone what is so, and writes nothing', async () => {
    await using kit = await buildKit();
    const { plan, fault } = await scene(kit);
    const open = { do: 'only', from: ['role=web'], to: ['role=db'] };
    expect(await plan({ hold: [open] })).toMatchObject({
      dry_run: true,
      changes: [],
      reading: 'hold: only role=web to role=db.',
      diff_markdown: expect.stringContaining('Nothing is written: it is asked what is so.'),
      expectations_hold: false,
      unmet: [expect.stringContaining('it is open by default')],
    });
    expect(await plan({ hold: [{ ...open, do: 'allow' }] })).toMatchObject({ expectations_hold: true, unmet: [] });
    expect(await fault({ hold: [{ ...allow, to: ['role=dbb'] }] })).toContain('/hold/0/to/0');
    expect(await fault({ hold: [{ ...allow, for: '2h' }] })).toContain('/hold/0/for');
  });

  it('holds a sentence, documents and a revert too', async () => {
    await using kit = await buildKit();
    const { plan } = await scene(kit);
    const hold = [{ do: 'allow', from: ['lap'], to: ['db-1'] }];
    expect(await plan({ intent: 'only role=web may reach role=db', hold })).toMatchObject({
      check: 'differs',
      expectations_hold: false,
      unmet: [expect.stringContaining('What must hold: "allow lap to db-1": lap to db-1')],
    });
    expect(await plan({ delete: ['policy/none'], hold }).catch(({ code }) => code)).toBe('not_found');
  });
});

describe('documents, set and delete', () => {
  const DENY_LAP = `apiVersion: mesh.internal/v1alpha1
kind: MeshPolicy
metadata: { name: no-lap }
spec: { action: DENY, peerSelector: { matchLabels: { role: db } }, ingress: [{ from: [{ peerSelector: { peers: [lap] } }] }] }
`;

  it('write policies, labels and deletions as one change', async () => {
    await using kit = await buildKit();
    const { plan } = await scene(kit, { old: { action: 'ALLOW', peerSelector: DB, ingress: [{}] } });
    const planned = await plan({
      documents: DENY_LAP,
      set: [{ peer: 'db-1', labels: ['tier=gold', 'env='] }],
      delete: ['policy/old'],
    });
    expect(names(planned.changes)).toEqual([
      'create MeshPolicy no-lap',
      'update MeshPeer db-1',
      'delete MeshPolicy old',
    ]);
    expect(planned.changes[1].after).toContain('role: db\n    tier: gold\n');
    expect(planned.changes[1].after).not.toContain('env: test');
  });

  it('stand beside orders, which hold in the network as they leave it', async () => {
    await using kit = await buildKit();
    const { plan } = await scene(kit, { base: BASE });
    const order = { do: 'allow', from: ['tier=gold'], to: ['db-1'], ports: ['tcp/443'] };
    const planned = await plan({ set: [{ peer: 'lap', labels: ['tier=gold'] }], orders: [order] });
    expect(planned).toMatchObject({ unmet: [], questions: [], expectations_hold: true });
    expect(planned.effect.opened).toEqual([{ src: 'lap', dst: 'db-1', protocol: 'TCP', from: 443, to: 443 }]);
    expect(planned).not.toHaveProperty('undo');
  });

  it('are refused where an order says otherwise, naming both', async () => {
    await using kit = await buildKit();
    const { fault } = await scene(kit);
    const order = { do: 'allow', from: ['lap'], to: ['db-1'] };
    expect(await fault({ documents: DENY_LAP, orders: [order] })).toMatch(
      /"allow lap to db-1".*the policy no-lap denies it/,
    );
    const isolating = DENY_LAP.replace('DENY', 'ALLOW');
    const remove = { do: 'remove', from: ['lap'], to: ['db-1'] };
    expect(await fault({ documents: isolating, orders: [remove] })).toMatch(
      /The policy no-lap is written beside the orders, and "remove lap to db-1" would change it/,
    );
  });

  it.each<[Raw, string]>([
    [{ set: [{ peer: 'db-1', labels: ['gold'] }] }, '/set/0/labels/0: A label is written key=value'],
    [{ set: [{ peer: 'db-1' }] }, 'Say labels or network.'],
    [{ set: [{ peer: 'db-2', labels: ['a=b'] }] }, 'There is no peer'],
    [{ set: [{ peer: 'db-1', labels: ['mesh.internal/agent=x'] }] }, '/set/0/labels'],
    [{ delete: ['peer/db-1'] }, 'Peers have operations of their own.'],
    [{ delete: ['pod/x'] }, 'Write policy/NAME or network/NAME.'],
    [{ documents: 'a: [' }, 'The text is no YAML'],
    [{ documents: DENY_LAP.replace('DENY', 'MAYBE') }, '/documents/0/spec/action'],
    [{ documents: DENY_LAP, revert: 'last' }, 'changes and revert stand alone'],
  ])('%j is refused with its place', async (raw, words) => {
    await using kit = await buildKit();
    const { fault } = await scene(kit);
    expect(await fault(raw)).toContain(words);
  });
});

describe('through', () => {
  const NO_WEB: PolicySpec = {
    action: 'DENY',
    peerSelector: DB,
    ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'web' } } }] }],
  };
  const hole = { ...allow, through: ['no-web'] };

  it('is of high risk, and never carried out without a person', async () => {
    await using kit = await buildKit();
    const { plan, workspace, as } = await scene(kit, { 'no-web': NO_WEB });
    const admin = { as: person('admin', workspace), workspace };
    await kit.call(
      'update_workspace',
      { settings: { autoApprove: { maxRisk: 'critical', from: ['person', 'agent'] } } },
      admin,
    );
    const planned = await plan({ intent: 'let role=web reach role=db on port 5432', orders: [hole] });
    expect([planned.risk_level, planned.risk_reasons]).toEqual([
      'high',
      ['it makes a hole in the policy no-web, which denies these connections'],
    ]);
    expect(names(planned.changes)).toEqual(['update MeshPolicy no-web']);
    const { status } = await kit.call(
      'apply_network_change',
      { plan_id: planned.plan_id },
      { as, workspace, face: 'mcp' },
    );
    expect(status).toBe('pending_approval');
  });

  it('is refused where an assertion rests on the policy', async () => {
    await using kit = await buildKit();
    const { fault, workspace } = await scene(kit, { 'no-web': NO_WEB });
    const spec = { src: 'web-1', dst: 'db-1', protocol: 'TCP', port: 22, expect: 'unreachable' };
    await kit.call('create_assertion', { name: 'no-ssh', ...spec }, { as: person('admin', workspace), workspace });
    expect(await fault({ orders: [hole] })).toContain(
      'may not go through no-web: the assertion no-ssh would fail without that policy',
    );
  });

  it('is refused where a control of compliance rests on the policy', async () => {
    await using kit = await buildKit();
    const NO_OUTSIDE: PolicySpec = {
      action: 'DENY',
      peerSelector: DB,
      ingress: [{ from: [{ ipBlock: { cidr: '0.0.0.0/0' } }, { ipBlock: { cidr: '::/0' } }] }],
    };
    const policies = {
      base: BASE,
      'no-outside': NO_OUTSIDE,
      'db-open': { action: 'ALLOW', peerSelector: DB, ingress: [{}] },
    };
    const { fault, workspace } = await scene(kit, policies as Record<string, PolicySpec>);
    const settings = { compliance: { frameworks: ['pci-dss'], cde: ['role=db'] } };
    await kit.call('update_workspace', { settings }, { as: person('admin', workspace), workspace });
    const outside = { ...allow, from: ['outside'], through: ['no-outside'] };
    expect(await fault({ orders: [outside] })).toMatch(
      /may not go through no-outside: the control PCI-DSS-\S+ .*would fail without/,
    );
  });
});

it('a plan that is too large to be kept is shown, and says so', async () => {
  await using kit = await buildKit();
  const { plan, workspace } = await scene(kit);
  const many = Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`peer-${at}`, { role: 'many' }]));
  await seedPeers(kit.services, workspace, many);
  const all = Object.keys(many);
  const orders = Array.from({ length: 8 }, (_, at) => ({
    do: 'deny',
    from: all.slice(at * 50, at * 50 + 50),
    to: ['db-1'],
    ports: ['tcp/80'],
  }));
  const planned = await plan({ orders });
  expect(planned).toMatchObject({
    dry_run: true,
    warnings: expect.arrayContaining([expect.stringContaining('too large')]),
  });
  expect(planned.effect.closed_pairs).toBe(400);
});

it('a renewal opens nothing new, and is no higher a risk than what it keeps open', async () => {
  await using kit = await buildKit();
  const until = new Date(kit.services.clock.now() + 3_600_000).toISOString();
  const { plan } = await scene(kit, {
    base: BASE,
    out: { action: 'ALLOW', peerSelector: {}, egress: [{}] },
    'allow-to-db': {
      action: 'ALLOW',
      peerSelector: DB,
      ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports: [{ port: 8080 }] }],
      expiresAt: until,
    },
  });
  const planned = await plan({ orders: [{ ...allow, ports: ['tcp/8080'], for: '1d' }] });
  expect(planned.effect.opened).toEqual([]);
  expect([planned.risk_level, planned.unmet]).toEqual(['low', []]);
  expect(planned.warnings.join()).toContain('it stays open as ordered when policies that cover it have ended');
});
