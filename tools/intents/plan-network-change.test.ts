import { describe, expect, it } from 'vitest';
import { createQuotas } from '../../core/base/quotas.ts';
import { draftOf } from '../../core/base/record.ts';
import type { PlanAnswer } from '../../core/intent/plan/planner.ts';
import { agent, buildKit, type Kit, person } from '../../test/kits/plane/kit.ts';
import { policy } from '../../test/kits/records/records.ts';
import { seedPeers } from '../../test/kits/records/seed-peers.ts';

async function scene(kit: Kit) {
  const workspace = await kit.workspace();
  await seedPeers(kit.services, workspace, {
    'web-1': { role: 'web' },
    'db-1': { role: 'db', pci: 'true' },
    'api-1': {},
  });
  const as = agent(['network:read', 'intents:plan'], workspace);
  const plan = (raw: Record<string, unknown>) => kit.call('plan_network_change', raw, { as, workspace });
  return { workspace, as, plan };
}

const denyAll = {
  action: 'create',
  resource: 'MeshPolicy',
  name: 'base',
  spec: { action: 'DENY', peerSelector: {} },
} as const;

describe('plan_network_change', () => {
  it('refuses what is not understood with 422, saying what can be asked', async () => {
    await using kit = await buildKit();
    const { plan } = await scene(kit);
    await expect(plan({ intent: 'make it fast' })).rejects.toMatchObject({
      code: 'intent_not_understood',
      details: {
        questions: [expect.stringContaining('Who should reach whom')],
        choices: [],
        draft: { orders: [] },
        vocabulary: { labels: [{ key: 'role' }, { key: 'pci', values: [{ value: 'true', peers: 1 }] }], near: [] },
        next: expect.stringContaining('`orders`'),
      },
    });
    await expect(plan({ intent: 'let the printers reach the database' })).rejects.toMatchObject({
      code: 'intent_not_understood',
      details: { questions: [expect.stringContaining('web-1')] },
    });
  });

  it('has four sentences of one caller under way at once where a model reads them, and refuses more', async () => {
    const gate = Promise.withResolvers<PlanAnswer>();
    const modelTurns = createQuotas('sentences that a model reads', 32);
    await using kit = await buildKit({ planner: { name: 'slow', modelTurns, plan: () => gate.promise } });
    const { plan } = await scene(kit);
    const orders = [{ do: 'deny', from: ['web-1'], to: ['db-1'] }];
    await plan({ orders });
    const asked = Array.from({ length: 10 }, () => plan({ intent: 'let web reach db' }).catch(({ code }) => code));
    await expect.poll(() => modelTurns.held).toBe(4);
    // Orders wait for no model.
    await plan({ orders });
    gate.resolve({ outcome: 'refused', reason: 'no idea', questions: [], choices: [] });
    const codes = await Promise.all(asked);
    expect(Object.groupBy(codes, String)).toMatchObject({
      rate_limited: { length: 6 },
      intent_not_understood: { length: 4 },
    });
    expect(modelTurns.held).toBe(0);
  });

  it('takes typed changes without asking any planner', async () => {
    const planner = { name: 'none', plan: () => Promise.reject(new Error('asked')) };
    await using kit = await buildKit({ planner });
    const { plan } = await scene(kit);
    const planned = await plan({ intent: 'start from nothing', changes: [denyAll] });
    expect(planned).toMatchObject({
      read_by: 'agent',
      reading: 'create MeshPolicy base.',
      verified: false,
      check: 'not checked',
      risk_level: 'medium',
      effect: { opened: [], closed_pairs: 6, unchanged_count: 0 },
    });
    expect(planned.changes[0].after).toContain('kind: MeshPolicy\nmetadata:\n  name: base\n');
  });

  it('tells the expectations of the caller apart from the check', async () => {
    await using kit = await buildKit();
    const { plan } = await scene(kit);
    const closed = { src: '*', dst: '*', expect: 'deny' };
    const open = { src: 'role=web', dst: 'role=db', protocol: 'TCP', port: 5432, expect: 'allow' };
    const planned = (expectations: object[]) =>
      plan({ intent: 'start from nothing', changes: [denyAll], expectations });
    expect(await planned([closed])).toMatchObject({ check: 'not checked', expectations_hold: true, unmet: [] });
    expect(await planned([closed, open])).toMatchObject({
      check: 'not checked',
      expectations_hold: false,
      unmet: ['Your expectations: web-1 cannot reach db-1 on TCP 5432'],
    });
  });

  it('lets no typed changes pass that open more than the intent or the expectations say', async () => {
    await using kit = await buildKit();
    const { plan, workspace } = await scene(kit);
    const base = draftOf(policy('base', denyAll.spec));
    const why = { actor: 'system:test', reason: 'seed', requestId: 'seed' };
    await kit.services.store.commit(workspace, [{ op: 'create', record: base }], why);
    const open = { src: 'role=web', dst: 'role=db', protocol: 'TCP', port: 5432, expect: 'allow' };
    const unbarred = [{ action: 'delete', resource: 'MeshPolicy', name: 'base' }];
    const said = { intent: 'let web reach db on port 5432' };
    const expected = { intent: 'x', expectations: [open] };
    for (const [asked, is, author] of [
      [said, 'differs', 'the sentence as it was read'],
      [expected, 'not checked', 'your expectations'],
    ] as const) {
      const { check, unmet } = await plan({ ...asked, changes: unbarred });
      expect([check, unmet.join()]).toEqual([is, expect.stringContaining(`which is not in ${author}`)]);
    }
  });

  it('takes no intent that reads otherwise than it is stored', async () => {
    await using kit = await buildKit();
    const { plan } = await scene(kit);
    const turned = 'let db reach web \u202eon port 5432';
    for (const asked of [{ intent: turned }, { intent: 'x', history: [turned] }]) {
      await expect(plan({ ...asked, changes: [denyAll] })).rejects.toMatchObject({ code: 'invalid_input' });
    }
    const noted = { ...denyAll, annotations: { note: turned } };
    await expect(plan({ intent: 'x', changes: [noted] })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  it('names each wrong field of typed changes', async () => {
    await using kit = await buildKit();
    const { plan } = await scene(kit);
    const wrong = [
      { ...denyAll, spec: { action: 'MAYBE' } },
      { ...denyAll, name: 'silent', spec: { action: 'DENY' } },
      { action: 'create', resource: 'MeshPeer', name: 'x', spec: {} },
      { action: 'delete', resource: 'MeshPolicy', name: 'x', spec: {} },
    ];
    await expect(plan({ intent: 'x', changes: wrong })).rejects.toMatchObject({
      code: 'invalid_input',
      details: {
        errors: [
          { pointer: '/changes/0/spec/action' },
          { pointer: '/changes/0/spec/peerSelector' },
          { pointer: '/changes/1/spec/peerSelector', detail: expect.stringMatching(/Everyone: write \{\}/) },
          { pointer: '/changes/2/action' },
          { pointer: '/changes/3/spec' },
        ],
      },
    });
    await expect(
      plan({ intent: 'x', changes: [{ action: 'delete', resource: 'MeshPolicy', name: 'gone' }] }),
    ).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('takes expectations without a protocol: a port alone is TCP, as in a policy', async () => {
    await using kit = await buildKit();
    const { plan } = await scene(kit);
    const spec = { action: 'DENY', peerSelector: { peers: ['db-1'] }, ingress: [{ ports: [{ port: 22 }] }] };
    const changes = [{ action: 'create', resource: 'MeshPolicy', name: 'no-ssh', spec }];
    const expectations = [{ src: '*', dst: 'db-1', port: 22, expect: 'deny' }];
    expect(await plan({ intent: 'x', changes, expectations })).toMatchObject({ expectations_hold: true });
    const named = { ...spec, ingress: [{ ports: [{ port: 'ssh' }] }] };
    await expect(plan({ intent: 'x', changes: [{ ...changes[0], spec: named }] })).rejects.toThrow(
      '/changes/0/spec/ingress/0/ports/0/port: write the number of the port',
    );
  });

  it('singles peers out without giving anybody a label', async () => {
    await using kit = await buildKit();
    const { plan } = await scene(kit);
    const { changes, effect, check } = await plan({ intent: 'let only web-1 and api-1 reach db-1' });
    expect(check).toBe('matches');
    expect(changes.map(({ resource }: { resource: string }) => resource)).toEqual(['MeshPolicy']);
    expect(changes[0].after).toMatch(/- peerSelector:\n +peers:\n +- web-1\n +- api-1\n$/);
    expect(effect.opened_pairs).toBe(0);
    const but = await plan({ intent: 'deny everyone except api-1 access to db-1' });
    expect(but.check).toBe('matches');
    expect(but.changes[0].after).toMatch(/notPeers:\n +- api-1\n/);
  });

  it('stores nothing on a dry run and executes nothing ever', async () => {
    await using kit = await buildKit();
    const { plan, workspace } = await scene(kit);
    // The kit stores the agent that asks at its first call.
    await plan({ intent: 'isolate web-1', dry_run: true });
    const before = await kit.services.store.revision(workspace);
    await plan({ intent: 'isolate api-1', dry_run: true });
    expect(await kit.services.store.revision(workspace)).toBe(before);
    await plan({ intent: 'isolate api-1' });
    expect((await kit.services.states.current(workspace)).policies.size).toBe(0);
  });

  it('computes the risk from the effect: sensitive peers, outsiders, lost reach', async () => {
    await using kit = await buildKit();
    const { plan, workspace } = await scene(kit);
    const admin = { as: person('admin', workspace), workspace };
    const policy = (name: string, spec: object) => ({ action: 'create', resource: 'MeshPolicy', name, spec });
    const db = { matchLabels: { role: 'db' } };
    const closed = await plan({ intent: 'nobody may reach the database' });
    expect([closed.risk_level, closed.risk_reasons]).toEqual([
      'medium',
      [
        'ends the last connection of 1 peer with others',
        'closes connections of 1 production or sensitive peer',
        'ends all traffic of 2 pairs of peers (whether anything uses them is not known)',
      ],
    ]);
    const anyone = policy('out', { action: 'ALLOW', peerSelector: db, ingress: [{ from: ['*'] }] });
    expect((await plan({ intent: 'x', changes: [anyone] })).risk_level).toBe('medium');
    await kit.call('plan_network_change', { intent: 'x', changes: [denyAll] }, admin);
    await kit.services.store.commit(
      workspace,
      [
        {
          op: 'create',
          record: {
            kind: 'MeshPolicy',
            name: 'db',
            uid: 'pol_x',
            labels: {},
            annotations: {},
            spec: { action: 'ALLOW', peerSelector: db, ingress: [] },
            status: {},
            unique: [],
          },
        },
      ],
      { actor: 'system:test', reason: 'close', requestId: 'r' },
    );
    const outside = await plan({ intent: 'x', changes: [anyone] });
    expect([outside.risk_level, outside.risk_reasons]).toEqual([
      'critical',
      expect.arrayContaining(['lets anyone in, from outside the network too, sensitive peers too']),
    ]);
    const opens = await plan({ intent: 'let web reach the database on port 5432' });
    expect([opens.risk_level, opens.risk_reasons]).toEqual([
      'high',
      ['opens new connections to 1 sensitive peer', expect.stringMatching(/^it fails PCI-DSS-1\.2\.5: /)],
    ]);
    expect(opens.effect.opened).toEqual([{ src: 'web-1', dst: 'db-1', protocol: 'TCP', from: 5432, to: 5432 }]);
  });

  it('says in the same Markdown each time what changes, opens and closes', async () => {
    await using kit = await buildKit();
    const { plan } = await scene(kit);
    const intent = 'let web reach the database on port 5432 and nobody else';
    const [first, second] = [await plan({ intent }), await plan({ intent })];
    expect(first.diff_markdown).toBe(second.diff_markdown);
    expect(first.diff_markdown).toContain('| api-1 | db-1 | TCP 5432 |');
    expect(first.diff_markdown).toContain('+  action: ALLOW');
  });

  it('is part of the Pro edition', async () => {
    await using kit = await buildKit({ edition: 'community' });
    const { plan } = await scene(kit);
    await expect(plan({ intent: 'isolate api-1' })).rejects.toMatchObject({ code: 'edition_required' });
  });
});
