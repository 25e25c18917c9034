import { describe, expect, it } from 'vitest';
import { agent, buildKit, type Kit, person } from '../../../test/kits/plane/kit.ts';
import { agent as identity, peer, policy } from '../../../test/kits/records/records.ts';
import { seedPeers } from '../../../test/kits/records/seed-peers.ts';
import { draftOf } from '../../base/record.ts';
import { memberDraft } from '../../identity/members.ts';
import type { PolicySpec } from '../../model/policy.ts';
import { agentLabels } from '../../model/presets.ts';

type Order = Record<string, unknown>;

const BASE: PolicySpec = { action: 'DENY', peerSelector: {} };
const from = (role: string) => [{ peerSelector: { matchLabels: { role } } }];
const DB = { matchLabels: { role: 'db' } };

async function scene(kit: Kit, policies: Readonly<Record<string, PolicySpec>> = {}) {
  const workspace = await kit.workspace();
  await seedPeers(kit.services, workspace, {
    'web-1': { role: 'web' },
    'web-2': { role: 'web' },
    'db-1': { role: 'db' },
    lap: {},
  });
  const why = { actor: 'system:test', reason: 'seed', requestId: 'seed' };
  for (const [name, spec] of Object.entries(policies))
    await kit.services.store.commit(workspace, [{ op: 'create', record: draftOf(policy(name, spec)) }], why);
  const as = agent(['network:read', 'intents:plan', 'intents:apply'], workspace);
  const plan = (...orders: Order[]) => kit.call('plan_network_change', { orders }, { as, workspace });
  const fault = async (...orders: Order[]) => {
    const error = await plan(...orders).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return error instanceof Error ? error.message : '';
  };
  return { workspace, as, plan, fault };
}

const rows = (list: { src: string; dst: string; protocol: string; from: number | null }[]) =>
  list.map(({ src, dst, protocol, from: port }) => `${src} ${dst} ${protocol}${port ?? ''}`).sort();

const webToDb = { from: ['role=web'], to: ['role=db'], ports: ['tcp/5432'] };

describe('allow', () => {
  it('opens what it says and closes nothing, also where a peer is open already', async () => {
    await using kit = await buildKit();
    const { plan } = await scene(kit, {
      'db-in': { action: 'ALLOW', peerSelector: DB, ingress: [{ from: from('batch') }] },
    });
    const planned = await plan({ do: 'allow', ...webToDb, to: ['role=db', 'lap'] });
    expect(rows(planned.effect.opened)).toEqual(['web-1 db-1 TCP5432', 'web-2 db-1 TCP5432']);
    expect(planned).toMatchObject({
      check: 'not checked',
      read_by: 'agent',
      expectations_hold: true,
      unmet: [],
      reading: 'allow role=web to role=db, lap on tcp/5432.',
      effect: { closed: [] },
      changes: [{ action: 'create', name: 'allow-to-db' }],
      undo: [{ do: 'remove', ...webToDb, to: ['role=db', 'lap'] }],
    });
  });

  it('writes both ends where egress is isolated, and adds to what orders wrote for the same end', async () => {
    await using kit = await buildKit();
    const { plan } = await scene(kit, { base: BASE });
    const { changes } = await plan(
      { do: 'allow', ...webToDb },
      { do: 'allow', from: ['lap'], to: ['role=db'], ports: ['tcp/22'] },
    );
    expect(changes.map(({ name }: { name: string }) => name)).toEqual([
      'allow-to-db',
      'allow-from-web',
      'allow-from-lap',
    ]);
  });

  it('is told that it is so already, and by which policy', async () => {
    await using kit = await buildKit();
    const { plan } = await scene(kit, {
      'db-in': { action: 'ALLOW', peerSelector: DB, ingress: [{ from: from('web'), ports: [{ port: 5432 }] }] },
    });
    const planned = await plan({ do: 'allow', ...webToDb });
    expect(planned).toMatchObject({ already: true, made_so_by: ['db-in'], changes: [], dry_run: true });
    expect(planned.diff_markdown).toMatch(/^\*\*Already so\*\*: `db-in`\. There is nothing to apply\./);
    expect(planned.diff_markdown).toMatch(/## Approval\n\nNone: nothing is written\.\n$/);
    expect(planned).not.toHaveProperty('undo');
  });

  it('never edits a DENY: it is refused with its name', async () => {
    await using kit = await buildKit();
    const { fault } = await scene(kit, {
      'no-web': { action: 'DENY', peerSelector: DB, ingress: [{ from: from('web') }] },
    });
    expect(await fault({ do: 'allow', ...webToDb })).toContain('the policy no-web denies it, and a DENY wins');
  });

  it('takes a port as a number, as YAML reads it', async () => {
    await using kit = await buildKit();
    const { plan } = await scene(kit, { base: BASE });
    expect((await plan({ do: 'allow', from: ['lap'], to: ['db-1'], ports: [8080] })).reading).toContain('on 8080');
  });

  it('ends when it says, by the clocks of the workspace', async () => {
    await using kit = await buildKit();
    const { plan, fault } = await scene(kit, { base: BASE });
    const { changes } = await plan({ do: 'allow', ...webToDb, for: '2h' });
    const end = new Date(kit.services.clock.now() + 2 * 3_600_000).toISOString();
    for (const { after } of changes) expect(after).toContain(`expiresAt: ${JSON.stringify(end)}`);
    expect(await fault({ do: 'allow', ...webToDb, until: '2001-01-01T00:00' })).toContain('has passed');
    expect(await fault({ do: 'allow', ...webToDb, until: 'tomorrow' })).toContain('A time is written');
  });
});

describe('deny, only and remove', () => {
  it('deny closes and wins', async () => {
    await using kit = await buildKit();
    const { plan } = await scene(kit);
    const planned = await plan({ do: 'deny', from: ['anyone'], except_from: ['lap'], to: ['db-1'], ports: ['tcp/22'] });
    expect(planned).toMatchObject({ unmet: [], changes: [{ name: 'deny-to-db-1' }], effect: { opened: [] } });
    expect(rows(planned.effect.closed)).toEqual(['outside db-1 TCP22', 'web-1 db-1 TCP22', 'web-2 db-1 TCP22']);
    expect(planned.warnings.join()).toContain('nodes enforce nothing');
  });

  it('deny is written where only the want of an ALLOW closes it, and then stands against a later allow', async () => {
    await using kit = await buildKit();
    const { plan, fault } = await scene(kit, { base: BASE });
    const planned = await plan({ do: 'deny', ...webToDb });
    expect(planned).toMatchObject({
      dry_run: false,
      unmet: [],
      risk_level: 'low',
      changes: [{ action: 'create', name: 'deny-to-db' }],
      effect: { opened: [], closed: [] },
    });
    expect(planned).not.toHaveProperty('already');
    expect(await fault({ do: 'deny', ...webToDb }, { do: 'allow', ...webToDb })).toContain('contradict');
  });

  it('only shuts everybody else out of these ports, and keeps the other ports', async () => {
    await using kit = await buildKit();
    const { plan } = await scene(kit);
    const planned = await plan({ do: 'only', ...webToDb });
    expect(rows(planned.effect.closed)).toEqual(['lap db-1 TCP5432', 'outside db-1 TCP5432']);
    expect(planned).toMatchObject({ unmet: [], effect: { opened: [] }, changes: [{ name: 'only-to-db' }] });
  });

  it('only takes from the allows of others where the target is isolated, rather than denying', async () => {
    await using kit = await buildKit();
    const { plan, fault } = await scene(kit, {
      'db-in': { action: 'ALLOW', peerSelector: DB, ingress: [{ ports: [{ port: 5432 }, { port: 22 }] }] },
    });
    const { effect, changes } = await plan({ do: 'only', ...webToDb });
    expect(rows(effect.closed)).toEqual(['lap db-1 TCP5432', 'outside db-1 TCP5432']);
    expect(changes.map(({ action, name }: { action: string; name: string }) => `${action} ${name}`)).toContain(
      'update db-in',
    );
    expect(await fault({ do: 'only', ...webToDb, for: '2h' })).toContain('would not come back');
  });

  it('only with side from lets the source go nowhere else', async () => {
    await using kit = await buildKit();
    const { plan } = await scene(kit);
    const { effect, unmet } = await plan({ do: 'only', from: ['lap'], to: ['db-1'], side: 'from', ports: ['icmp'] });
    expect([rows(effect.closed), unmet]).toEqual([['lap outside ICMP', 'lap web-1 ICMP', 'lap web-2 ICMP'], []]);
  });

  it('remove takes what policies give, and nothing beyond', async () => {
    await using kit = await buildKit();
    const { plan } = await scene(kit, {
      'db-in': {
        action: 'ALLOW',
        peerSelector: DB,
        ingress: [{ from: from('web'), ports: [{ port: 5432 }, { port: 22 }] }],
      },
    });
    const planned = await plan({ do: 'remove', from: ['web-1'], to: ['db-1'], ports: ['tcp/5432'] });
    expect(rows(planned.effect.closed)).toEqual(['web-1 db-1 TCP5432']);
    expect(planned).toMatchObject({ unmet: [], undo: [{ do: 'allow', from: ['web-1'] }] });
  });

  it('remove of what is open by default is refused', async () => {
    await using kit = await buildKit();
    const { fault } = await scene(kit);
    expect(await fault({ do: 'remove', ...webToDb })).toContain('No policy gives this: use deny or only');
    expect(await fault({ do: 'remove', ...webToDb, for: '2h' })).toContain('does not come back by itself');
  });
});

describe('orders', () => {
  it('name near names for what is misspelt, and never guess', async () => {
    await using kit = await buildKit();
    const { fault } = await scene(kit);
    expect(await fault({ do: 'deny', from: ['web1'], to: ['role=dbb'], ports: ['ssh'] })).toMatch(
      /"web-1".*role=db.*Ports are written/,
    );
    expect(await fault({ do: 'deny', from: ['db-1'], to: ['role=db'], except_to: ['web-1'] })).toBe('');
    expect(await fault({ do: 'deny', from: ['lap'], to: ['lap'] })).toContain('a peer always reaches itself');
    expect(await fault({ do: 'deny', from: ['*'], to: ['network=nope'] })).toMatch(/Write peers.*no network "nope"/);
  });

  it.each([
    [{ for: '9999999d' }, 'at most 100 years'],
    [{ until: '9999-12-31T23:59' }, 'more than 100 years away'],
    [{ until: '2030-02-31T00:00' }, 'A time is written'],
    [{ until: '2030-99-99T00:00' }, 'A time is written'],
    [{ from: ['role=db,role=web'] }, 'a peer has one role'],
    [{ from: ['network=default,network=lab'] }, /one network|no network/],
  ])('with %j is refused', async (part, words) => {
    await using kit = await buildKit();
    const { fault } = await scene(kit);
    const found = await fault({ do: 'allow', from: ['lap'], to: ['role=db'], ports: ['tcp/80'], ...part });
    expect(found).toMatch(words);
  });

  it('that contradict each other are refused naming both', async () => {
    await using kit = await buildKit();
    const { fault } = await scene(kit);
    expect(await fault({ do: 'allow', ...webToDb }, { do: 'deny', from: ['peers'], to: ['db-1'] })).toContain(
      '"allow role=web to role=db on tcp/5432" and "deny peers to db-1"',
    );
    expect(
      await fault({ do: 'deny', from: ['peers'], to: ['db-1'] }, { do: 'remove', from: ['db-1'], to: ['peers'] }),
    ).not.toContain('contradict');
  });

  it('that hold already are told beside others that change something', async () => {
    await using kit = await buildKit();
    const { plan } = await scene(kit);
    const planned = await plan({ do: 'allow', ...webToDb }, { do: 'deny', from: ['lap'], to: ['db-1'] });
    expect(planned).not.toHaveProperty('already');
    expect(planned.warnings.join()).toContain('changes nothing: allow role=web to role=db on tcp/5432');
  });

  it('say what else opens or closes, by the delegation of a sub-agent', async () => {
    await using kit = await buildKit();
    const { plan, workspace } = await scene(kit, {
      base: BASE,
      out: { action: 'ALLOW', peerSelector: {}, egress: [{}] },
      'db-in': { action: 'ALLOW', peerSelector: DB, ingress: [{ from: from('bot') }] },
      'lap-in': { action: 'ALLOW', peerSelector: { matchLabels: { role: 'web' } }, ingress: [{}] },
    });
    const boss = identity('boss', { policyPreset: 'inherit' });
    const child = identity('child', { policyPreset: 'inherit', parentRef: { name: 'boss', namespace: 'ns' } });
    const records = [
      boss,
      child,
      peer('boss-peer', { agentRef: 'boss', labels: agentLabels(boss, undefined), address: '10.96.0.50' }),
      peer('child-peer', {
        agentRef: 'child',
        labels: { ...agentLabels(child, boss), role: 'bot' },
        address: '10.96.0.51',
      }),
    ];
    const why = { actor: 'system:test', reason: 'seed', requestId: 'seed' };
    const ops = records.map((record) => ({ op: 'create', record: draftOf(record) }) as const);
    await kit.services.store.commit(workspace, ops, why);
    const allowed = await plan({ do: 'allow', from: ['boss-peer'], to: ['db-1'], ports: ['tcp/443'] });
    expect(allowed.unmet.join()).toContain('it would open child-peer to db-1 on TCP 443, which is not in your orders');
    const denied = await plan({ do: 'deny', from: ['boss-peer'], to: ['web-1'], ports: ['tcp/443'] });
    expect([denied.unmet, denied.questions.join()]).toEqual([[], expect.stringContaining('close child-peer to web-1')]);
  });

  it('go both ways', async () => {
    await using kit = await buildKit();
    const { plan } = await scene(kit);
    const { effect } = await plan({ do: 'deny', from: ['web-1'], to: ['db-1'], both_ways: true, ports: ['icmp'] });
    expect(rows(effect.closed)).toEqual(['db-1 web-1 ICMP', 'web-1 db-1 ICMP']);
  });

  it('are approved and carried out as typed changes are', async () => {
    await using kit = await buildKit();
    const { plan, as, workspace } = await scene(kit, { base: BASE });
    const { plan_id, diff_markdown } = await plan({ do: 'allow', ...webToDb });
    expect(diff_markdown).toContain('## The effect matches these orders\n\n- allow role=web to role=db on tcp/5432');
    const why = { actor: 'system:test', reason: 'members', requestId: 'r' };
    await kit.services.store.commit(workspace, [{ op: 'create', record: memberDraft('ada', 'admin') }], why);
    const { workflow_id: id } = await kit.call('apply_network_change', { plan_id }, { as, workspace, face: 'mcp' });
    const ada = { as: person('admin', workspace, 'ada'), workspace, face: 'rest' } as const;
    expect(JSON.stringify(await kit.call('get_workflow', { id }, ada))).toContain(
      'allow role=web to role=db on tcp/5432',
    );
    const { status } = await kit.call('approve_workflow', { id }, ada);
    const { policies } = await kit.services.states.current(workspace);
    expect([status, [...policies.keys()].sort()]).toEqual(['executed', ['allow-from-web', 'allow-to-db', 'base']]);
  });

  it('stand in their plan and its workflow as they were sent, with ids where a name means somebody else', async () => {
    await using kit = await buildKit();
    const { plan, as, workspace } = await scene(kit, { base: BASE });
    await seedPeers(kit.services, workspace, { outside: {} });
    const { peers } = await kit.services.states.current(workspace);
    const uid = peers.get('outside')?.uid;
    const order = { do: 'allow', from: ['web-1', uid], to: ['role=db'], ports: ['tcp/22'], except_to: ['db-1'] };
    const sent = { ...order, to: ['role=db', 'lap'], until: '2099-01-01T00:00:00Z' };
    const { plan_id, orders } = await plan(sent);
    expect(orders).toEqual([sent]);
    const { workflow_id: id } = await kit.call('apply_network_change', { plan_id }, { as, workspace, face: 'mcp' });
    expect(await kit.call('get_workflow', { id }, { as, workspace })).toMatchObject({ orders: [sent] });
  });

  it('stand beside an intent, or without one, and not beside changes', async () => {
    await using kit = await buildKit();
    const { as, workspace } = await scene(kit, { base: BASE });
    const call = (raw: Order) => kit.call('plan_network_change', raw, { as, workspace });
    const orders = [{ do: 'allow', ...webToDb }];
    expect(await call({ intent: 'let role=web reach role=db on port 5432', orders })).toMatchObject({
      check: 'matches',
    });
    expect(await call({ intent: 'let role=web reach role=db on port 22', orders })).toMatchObject({ check: 'differs' });
    await expect(call({ orders, revert: 'last' })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(call({})).rejects.toThrow('Give orders, an intent, or hold.');
  });
});
