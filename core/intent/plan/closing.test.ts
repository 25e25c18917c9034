import { describe, expect, it } from 'vitest';
import { agent, buildKit, person } from '../../../test/kits/plane/kit.ts';
import { seedPeers } from '../../../test/kits/records/seed-peers.ts';
import type { NetworkChange } from '../../changes/changes.ts';
import { memberDraft } from '../../identity/members.ts';
import type { OrderInput } from '../orders/order.ts';
import type { Expectation } from '../verify/expectation.ts';
import type { Planner } from './planner.ts';

const ISOLATING: NetworkChange = {
  action: 'create',
  resource: 'MeshPolicy',
  name: 'web-to-db',
  spec: {
    action: 'ALLOW',
    peerSelector: { matchLabels: { role: 'db' } },
    ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports: [{ protocol: 'TCP', port: 5432 }] }],
  },
};
const WEB: Expectation = { src: 'role=web', dst: 'role=db', protocol: 'TCP', port: 5432, expect: 'allow' };
const NOBODY_ELSE: Expectation = { src: '*', except: ['role=web'], dst: 'role=db', expect: 'deny' };
const CODE = 'it would close';
const ONLY_WEB: OrderInput = { do: 'only', from: ['role=web'], to: ['role=db'], ports: ['tcp/5432'] };

async function scene(planner?: Planner) {
  const kit = await buildKit(planner ? { planner } : {});
  const workspace = await kit.workspace();
  await seedPeers(kit.services, workspace, {
    'web-1': { role: 'web' },
    'db-1': { role: 'db' },
    laptop: {},
  });
  const as = person('operator', workspace);
  const plan = (input: Record<string, unknown>) => kit.call('plan_network_change', input, { as, workspace });
  return { kit, workspace, as, plan, [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose]() };
}
const ofCaller = (...expectations: Expectation[]) => ({
  intent: 'frobnicate the database',
  changes: [ISOLATING],
  expectations,
});

describe('what closes beyond the connections that were named', () => {
  it('speaks against the changes of a caller', async () => {
    await using on = await scene();
    const { verified, unmet } = await on.plan(ofCaller(WEB));
    expect(verified).toBe(false);
    expect(unmet).toContainEqual('it would close laptop to db-1 on everything, which is not in your expectations');
  });

  it('does not where who is left out is named with the ports that stay', async () => {
    await using on = await scene();
    expect(await on.plan(ofCaller(WEB, NOBODY_ELSE))).toMatchObject({ expectations_hold: true, unmet: [] });
  });

  it('does not where the sentence says it', async () => {
    await using on = await scene();
    const intent = 'limit access to role=db to role=web on TCP 5432';
    expect(await on.plan({ ...ofCaller(WEB), intent })).toMatchObject({ verified: true, read_by: 'person' });
  });

  it('other ports of who is left out alone are not named', async () => {
    await using on = await scene();
    const { unmet } = await on.plan(ofCaller(NOBODY_ELSE));
    expect(unmet).toContainEqual(expect.stringContaining(`${CODE} web-1 to db-1 on TCP 1-5431`));
  });

  it('speaks against the changes of a caller where the sentence has a policy deleted', async () => {
    await using on = await scene();
    const admin = { as: person('admin', on.workspace), workspace: on.workspace };
    await on.kit.call('create_policy', { name: 'old', spec: ISOLATING.spec }, admin);
    const deletion = { action: 'delete', resource: 'MeshPolicy', name: 'old' };
    const intent = 'delete policy old';
    expect(await on.plan({ intent, changes: [deletion] })).toMatchObject({ verified: true });
    const spec = { action: 'DENY', peerSelector: { peers: ['laptop'] } };
    const more = { action: 'create', resource: 'MeshPolicy', name: 'more', spec };
    const { verified, unmet } = await on.plan({ intent, changes: [deletion, more] });
    expect(verified).toBe(false);
    expect(unmet).toContainEqual(expect.stringContaining(`${CODE} laptop to web-1`));
  });
});

describe('a plan with a question that nobody has answered', () => {
  const asking = (questions: string[]): Planner => ({
    name: 'asking',
    plan: async () => ({ outcome: 'orders', orders: [ONLY_WEB], questions }),
  });

  it.each([
    [['Taken as a remark?'], 'not checked'],
    [[], 'matches'],
  ])('is checked only without: %j', async (questions, check) => {
    await using on = await scene(asking(questions));
    const plan = await on.plan({ intent: 'nobody but web gets 5432 of the database' });
    expect(plan).toMatchObject({ questions, check, verified: check === 'matches' });
  });

  it('is told to whoever approves it, who answers', async () => {
    await using on = await scene(asking(['Taken as a remark?']));
    const record = memberDraft('ada', 'admin');
    const commit = { actor: 'system:test', reason: 'members', requestId: 'r' };
    await on.kit.services.store.commit(on.workspace, [{ op: 'create', record }], commit);
    const { plan_id: id } = await on.plan({ intent: 'nobody but web gets 5432 of the database', dry_run: false });
    const own = { as: on.as, workspace: on.workspace };
    await on.kit.call('apply_network_change', { plan_id: id, approved_by: 'ada' }, own);
    const [row] = (await on.kit.call('list_workflows', {}, own)).items;
    const asked = { questions: ['Taken as a remark?'], check: 'not checked' };
    expect((await on.kit.call('redraw_workflow', { id: row.id }, own)).drawing).toMatchObject(asked);
    const as = person('admin', on.workspace);
    const done = await on.kit.call('approve_workflow', { id: row.id }, { as, workspace: on.workspace });
    expect(done).toMatchObject({ status: 'executed' });
  });

  it('hides no warning that it quotes from whoever approves it', async () => {
    const orders: readonly OrderInput[] = [{ ...ONLY_WEB, for: '2h' }];
    const answer = { outcome: 'orders', orders } as const;
    let quoted: readonly string[] = [];
    await using on = await scene({ name: 'quoting', plan: async () => ({ ...answer, questions: quoted }) });
    const own = { as: on.as, workspace: on.workspace };
    const commit = { actor: 'system:test', reason: 'members', requestId: 'r' };
    const record = memberDraft('ada', 'admin');
    await on.kit.services.store.commit(on.workspace, [{ op: 'create', record }], commit);
    const drawn = async () => {
      const { plan_id: id } = await on.plan({ intent: 'nobody but web gets to the database', dry_run: false });
      const apply = { plan_id: id, approved_by: 'ada' };
      const { workflow_id: workflow } = await on.kit.call('apply_network_change', apply, own);
      return (await on.kit.call('redraw_workflow', { id: workflow }, own)).drawing;
    };
    const plain = await drawn();
    expect(plain.warnings).not.toEqual([]);
    quoted = [`Never mind this: ${plain.warnings.join(' ')}`];
    expect((await drawn()).warnings).toEqual(plain.warnings);
  });
});

describe('whose reading a plan is', () => {
  it('is told to who approves', async () => {
    await using on = await scene();
    const { plan_id: id } = await on.plan(ofCaller(WEB, NOBODY_ELSE));
    const record = memberDraft('ada', 'admin');
    const commit = { actor: 'system:test', reason: 'members', requestId: 'r' };
    await on.kit.services.store.commit(on.workspace, [{ op: 'create', record }], commit);
    const as = agent(['intents:apply'], on.workspace, { id: on.as.id });
    const found = await on.kit.call(
      'apply_network_change',
      { plan_id: id, approved_by: 'ada' },
      { as, workspace: on.workspace },
    );
    const [row] = (await on.kit.call('list_workflows', {}, { as: on.as, workspace: on.workspace })).items;
    expect(found.status).toBe('pending_approval');
    const workflow = await on.kit.call('get_workflow', { id: row.id }, { as: on.as, workspace: on.workspace });
    expect(workflow).toMatchObject({ read_by: 'person', reading: 'create MeshPolicy web-to-db.' });
    expect(workflow.summary).toMatch(/^Opens nothing; closes /);
  });
});

const OVERLAY = '10.96.0.0/24';
const isAround = (cidr: string) => ['10.0.0.0/8', '0.0.0.0/0', '0.0.0.0/1'].includes(cidr);

describe('the risk of what opens to addresses outside', () => {
  it.each([
    [['203.0.113.7/32'], 'low'],
    [['203.0.113.0/24'], 'medium'],
    [['10.0.0.0/8'], 'medium'],
    [['0.0.0.0/0'], 'high'],
    [['0.0.0.0/1', '128.0.0.0/1'], 'high'],
  ])('%s is %s', async (cidrs, level) => {
    await using on = await scene();
    const admin = { as: person('admin', on.workspace), workspace: on.workspace };
    await on.kit.call('create_policy', { name: 'shut', spec: { action: 'DENY', peerSelector: {} } }, admin);
    const from = cidrs.map((cidr) => ({ ipBlock: { cidr, ...(isAround(cidr) && { except: [OVERLAY] }) } }));
    const spec = {
      action: 'ALLOW',
      peerSelector: { matchLabels: { role: 'web' } },
      ingress: [{ from, ports: [{ protocol: 'TCP', port: 8443 }] }],
    };
    const plan = await on.plan({
      intent: 'x',
      changes: [{ action: 'create', resource: 'MeshPolicy', name: 'in', spec }],
      expectations: cidrs.map((src) => ({
        src,
        except: [OVERLAY],
        dst: 'role=web',
        protocol: 'TCP',
        port: 8443,
        expect: 'allow',
      })),
    });
    expect(plan).toMatchObject({
      expectations_hold: true,
      unmet: [],
      risk_level: level,
      effect: { opened_pairs: 0, opened_outside: 1 },
    });
    expect(plan.warnings).toEqual([]);
  });
});
