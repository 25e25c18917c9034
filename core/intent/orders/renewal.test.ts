import { describe, expect, it } from 'vitest';
import { agent, buildKit, type Kit, person } from '../../../test/kits/plane/kit.ts';
import { orderedNetwork } from '../../../test/kits/plane/ordered-network.ts';
import { agent as identity, peer, policy, stateWith } from '../../../test/kits/records/records.ts';
import { draftOf } from '../../base/record.ts';
import type { PolicySpec } from '../../model/policy.ts';
import { ORDERED_BY, WRITTEN_BY } from '../../model/written-by.ts';
import { compile } from '../../reachability/engine.ts';
import { modelOf } from '../../state/network-model.ts';
import type { NetworkState } from '../../state/state.ts';
import { compileOrders } from './compile-orders.ts';
import { orderInputSchema } from './order.ts';
import { readOrders } from './read-orders.ts';

type Order = Record<string, unknown>;

const WHY = { actor: 'system:test', reason: 'seed', requestId: 'seed' };
const HOUR = 3_600_000;
const NOW = Date.parse('2030-01-01T00:00:00Z');
const ISOLATED: PolicySpec = { action: 'ALLOW', peerSelector: { matchLabels: { role: 'db' } }, ingress: [] };
const webToDb = { from: ['role=web'], to: ['role=db'], ports: ['tcp/5432'] };
const allow = { do: 'allow', ...webToDb };
const ROLES = ['network:read', 'intents:plan', 'intents:apply'] as const;

async function scene(kit: Kit, base: Readonly<Record<string, PolicySpec>> = { base: ISOLATED }) {
  const workspace = await orderedNetwork(kit, base);
  const [ada, bob] = [person('admin', workspace, 'ada'), person('admin', workspace, 'bob')];
  const robot = agent([...ROLES], workspace);
  const plan = (as: typeof robot, ...orders: Order[]) => kit.call('plan_network_change', { orders }, { as, workspace });
  /** Plans orders, and has a person approve them. */
  const carriedOut = async (as: typeof robot, ...orders: Order[]) => {
    const { plan_id } = await plan(as, ...orders);
    const { workflow_id: id } = await kit.call('apply_network_change', { plan_id }, { as, workspace, face: 'mcp' });
    const { status } = await kit.call('approve_workflow', { id }, { as: bob, workspace, face: 'rest' });
    expect(status).toBe('executed');
  };
  const ends = async () => {
    const { policies } = await kit.services.states.current(workspace);
    const made = [...policies.values()].filter(({ name }) => !Object.hasOwn(base, name));
    return Object.fromEntries(made.map(({ name, spec }) => [name, spec.expiresAt]));
  };
  const at = (ms: number) => new Date(kit.services.clock.now() + ms).toISOString();
  return { workspace, ada, bob, robot, plan, carriedOut, ends, at };
}

/** As sentences have it. */
const second = (instant: string) => instant.replace('.000', '');
const written = (changes: { action: string; name: string }[]) => changes.map(({ action, name }) => `${action} ${name}`);

describe('an order that repeats a former one with a later end', () => {
  it('moves the end of the policy that the former wrote, and says what stays open', async () => {
    await using kit = await buildKit();
    const { robot, plan, carriedOut, ends, at } = await scene(kit);
    await carriedOut(robot, { ...allow, for: '2h' });
    const planned = await plan(robot, { ...allow, for: '4h' });
    expect(planned).toMatchObject({ effect: { opened: [], closed: [] }, unmet: [], expectations_hold: true });
    expect(written(planned.changes)).toEqual(['update allow-to-db']);
    expect(planned.warnings).toContainEqual(
      `stays open until ${second(at(4 * HOUR))}, and not just ${second(at(2 * HOUR))}: web-1 to db-1 on TCP 5432`,
    );
    await carriedOut(robot, { ...allow, for: '4h' });
    expect(await ends()).toEqual({ 'allow-to-db': at(4 * HOUR) });
    await carriedOut(robot, { ...allow });
    expect(await ends()).toEqual({ 'allow-to-db': undefined });
  });

  it('closes nothing later, and is no higher a risk than what it keeps open, where both ends are isolated too', async () => {
    await using kit = await buildKit();
    const { robot, plan, carriedOut } = await scene(kit, { base: { action: 'DENY', peerSelector: {} } });
    await carriedOut(robot, { ...allow, for: '2h' });
    const planned = await plan(robot, { ...allow, for: '4h' });
    expect(written(planned.changes)).toEqual(['update allow-to-db', 'update allow-from-web']);
    expect([planned.risk_level, planned.warnings.join()]).toEqual(['low', expect.not.stringContaining('close')]);
  });

  it('extends what deny and only closed as well', async () => {
    await using kit = await buildKit();
    const { ada, plan, carriedOut, ends, at } = await scene(kit, {});
    const orders = [
      { do: 'deny', from: ['lap'], to: ['web-1'], ports: ['icmp'] },
      { do: 'only', ...webToDb },
    ];
    await carriedOut(ada, ...orders.map((order) => ({ ...order, for: '2h' })));
    const longer = orders.map((order) => ({ ...order, for: '4h' }));
    expect((await plan(ada, ...longer)).warnings).toContainEqual(
      expect.stringMatching(/^stays closed until .*: .*lap/),
    );
    await carriedOut(ada, ...longer);
    expect(await ends()).toEqual({ 'deny-to-web-1': at(4 * HOUR), 'only-to-db': at(4 * HOUR) });
    expect(await plan(ada, ...orders.map((order) => ({ ...order, for: '1h' })))).toMatchObject({ already: true });
  });

  it('is written beside the policy of another owner, and beside one that somebody has changed since', async () => {
    await using kit = await buildKit();
    const { workspace, ada, bob, robot, plan, carriedOut } = await scene(kit);
    await carriedOut(robot, { ...allow, for: '2h' });
    const longer = { ...allow, for: '4h' };
    for (const other of [ada, agent([...ROLES], workspace, { id: 'agt_other', name: 'other' })])
      expect(written((await plan(other, longer)).changes)).toEqual(['create allow-to-db-2']);
    const { policies } = await kit.services.states.current(workspace);
    const spec = policies.get('allow-to-db')?.spec;
    await kit.call('update_policy', { id: 'allow-to-db', spec, labels: { team: 'db' } }, { as: bob, workspace });
    expect(written((await plan(robot, longer)).changes)).toEqual(['create allow-to-db-2']);
  });

  it("moves the end of what an agent wrote by itself too, which is a person's once a person approves that", async () => {
    await using kit = await buildKit();
    const { workspace, ada, robot, plan, carriedOut, ends, at } = await scene(kit);
    const settings = { autoApprove: { maxRisk: 'critical', from: ['agent'] } };
    await kit.call('update_workspace', { settings }, { as: ada, workspace, face: 'rest' });
    const made = identity('agent', { scopes: [...ROLES], reach: [{ to: [{ peerSelector: {} }] }] });
    const record = draftOf({ ...made, uid: robot.id });
    await kit.services.store.commit(workspace, [{ op: 'create', record }], WHY);
    const order = { ...allow, from: ['web-1'], to: ['db-1'] };
    const annotations = async () => {
      const { policies } = await kit.services.states.current(workspace);
      return policies.get('allow-to-db-1')?.annotations;
    };
    const { plan_id, changes } = await plan(robot, { ...order, for: '2h' });
    expect(changes[0]?.after).toContain(`${WRITTEN_BY}: ${robot.id}`);
    await kit.call('apply_network_change', { plan_id }, { as: robot, workspace, face: 'mcp' });
    expect(await annotations()).toEqual({ [ORDERED_BY]: robot.id, [WRITTEN_BY]: robot.id });
    await carriedOut(robot, { ...order, for: '4h' });
    expect([await annotations(), await ends()]).toEqual([
      { [ORDERED_BY]: robot.id },
      { 'allow-to-db-1': at(4 * HOUR) },
    ]);
  });

  it('is written beside a policy that holds for another order too', async () => {
    await using kit = await buildKit();
    const { robot, plan, carriedOut } = await scene(kit);
    await carriedOut(robot, { ...allow, for: '2h' }, { ...allow, from: ['lap'], ports: ['tcp/22'], for: '2h' });
    expect(written((await plan(robot, { ...allow, for: '4h' })).changes)).toEqual(['create allow-to-db-2']);
  });
});

it('what takes a renewal back is called after the end that it moves', async () => {
  await using kit = await buildKit();
  const { workspace, robot, carriedOut } = await scene(kit);
  await carriedOut(robot, { ...allow, for: '2h' });
  await carriedOut(robot, { ...allow, for: '4h' });
  const undo = await kit.call('plan_network_change', { revert: 'last' }, { as: robot, workspace });
  expect(undo.summary).toMatch(
    /^Moves the end of allow-to-db to Monday 2026-01-05 14:00 UTC; opens nothing; closes no/,
  );
});

it('an order that repeats a former one with an earlier end is so already, until the end of the former', async () => {
  await using kit = await buildKit();
  const { robot, plan, carriedOut, at } = await scene(kit);
  await carriedOut(robot, { ...allow, for: '2h' });
  expect(await plan(robot, { ...allow, for: '1h' })).toMatchObject({
    already: true,
    made_so_by: expect.arrayContaining(['allow-to-db']),
    changes: [],
    warnings: [expect.stringContaining(`allow-to-db makes it so until ${second(at(2 * HOUR))} and keeps that end`)],
  });
});

it('a delegated agent renews by itself what it wrote by itself, and is given a new policy beside what a person approved', () => {
  const sub = identity('sub', { parentRef: { name: 'boss', namespace: 'default' } });
  const made = (annotations: Record<string, string>) => {
    const state = stateWith(
      peer('web-1', { labels: { role: 'web' }, address: '10.96.0.1' }),
      peer('db-1', { labels: { role: 'db' }, address: '10.96.0.2' }),
      policy('base', ISOLATED),
      sub,
    );
    const reachOf = (of: NetworkState) => compile(modelOf(of, NOW));
    const ordered = (on: NetworkState, length: string) => {
      const orders = readOrders([orderInputSchema.parse({ ...allow, for: length })], on, { now: NOW, timeZone: 'UTC' });
      return compileOrders(orders, on, { now: NOW, joins: [], isPersons: false, owner: sub.uid, reachOf });
    };
    const { after } = ordered(state, '2h');
    const policies = new Map([...after.policies].map(([name, one]) => [name, { ...one, annotations }]));
    return written([...ordered({ ...after, policies }, '4h').changes]);
  };
  expect(made({ [ORDERED_BY]: sub.uid, [WRITTEN_BY]: sub.uid })).toEqual(['update allow-to-db']);
  expect(made({ [ORDERED_BY]: sub.uid })).toEqual(['create allow-to-db-2']);
});

it('a plan shows the annotations that it writes: of orders, of their renewal, and of what takes that back', async () => {
  await using kit = await buildKit();
  const { workspace, ada, bob } = await scene(kit);
  const shownAndWritten = async (raw: Record<string, unknown>) => {
    const { plan_id, changes } = await kit.call('plan_network_change', raw, { as: ada, workspace });
    const { workflow_id: id } = await kit.call(
      'apply_network_change',
      { plan_id },
      { as: ada, workspace, face: 'mcp' },
    );
    await kit.call('approve_workflow', { id }, { as: bob, workspace, face: 'rest' });
    const { policies } = await kit.services.states.current(workspace);
    const written = policies.get('allow-to-db')?.annotations[ORDERED_BY];
    return [changes[0]?.after.includes(`${ORDERED_BY}: ${ada.id}`), written];
  };
  expect(await shownAndWritten({ orders: [{ ...allow, for: '2h' }] })).toEqual([true, ada.id]);
  expect(await shownAndWritten({ orders: [{ ...allow, for: '4h' }] })).toEqual([true, ada.id]);
  expect(await shownAndWritten({ revert: 'last' })).toEqual([false, undefined]);
});

it('nobody but the control plane says whose orders wrote a policy', async () => {
  await using kit = await buildKit();
  const { workspace, ada, ends } = await scene(kit);
  const document = {
    apiVersion: 'mesh.internal/v1alpha1',
    kind: 'MeshPolicy',
    metadata: { name: 'mine', annotations: { 'mesh.internal/ordered-by': ada.id } },
    spec: ISOLATED,
  };
  await kit.call('apply_resources', { documents: [document] }, { as: ada, workspace });
  expect(await ends()).toHaveProperty('mine');
  const { policies } = await kit.services.states.current(workspace);
  expect(policies.get('mine')?.annotations).toEqual({});
});
