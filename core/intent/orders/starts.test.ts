import { describe, expect, it } from 'vitest';
import { agent, buildKit, type Kit, person } from '../../../test/kits/plane/kit.ts';
import { orderedNetwork } from '../../../test/kits/plane/ordered-network.ts';
import { beginPolicies } from '../../authority/begin-policies.ts';
import type { PolicySpec } from '../../model/policy.ts';
import { expireWorkflows } from '../../workflow/upkeep.ts';

type Order = Record<string, unknown>;

const _WHY = { actor: 'system:test', reason: 'seed', requestId: 'seed' };
const HOUR = 3_600_000;
const ISOLATED: PolicySpec = { action: 'ALLOW', peerSelector: { matchLabels: { role: 'db' } }, ingress: [] };
const LAP_IN: PolicySpec = { ...ISOLATED, ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'lap' } } }] }] };
const webToDb = { from: ['role=web'], to: ['role=db'], ports: ['tcp/5432'] };
const allow = { do: 'allow', ...webToDb };
const deny = { do: 'deny', from: ['lap'], to: ['web-1'] };
const ROLES = ['network:read', 'intents:plan', 'intents:apply'] as const;

async function scene(kit: Kit, base: Readonly<Record<string, PolicySpec>> = { base: ISOLATED }) {
  const workspace = await orderedNetwork(kit, base, { role: 'lap' });
  const bob = person('admin', workspace, 'bob');
  const robot = agent([...ROLES], workspace);
  const at = (ms: number) => new Date(kit.services.clock.now() + ms).toISOString();
  /** As orders take it. */
  const time = (ms: number) => at(ms).replace('.000', '');
  const call = (name: string, raw: Order, as = bob) => kit.call(name, raw, { as, workspace, face: 'rest' });
  const plan = (...orders: Order[]) => call('plan_network_change', { orders }, robot);
  const carriedOut = async (...orders: Order[]) => {
    const { plan_id } = await plan(...orders);
    const { workflow_id: id } = await call('apply_network_change', { plan_id, approved_by: 'bob' }, robot);
    expect(await call('approve_workflow', { id })).toMatchObject({ status: 'executed' });
    return id as string;
  };
  const reaches = async (src: string, dst: string, port: number, then?: string) => {
    const raw = { src, dst, protocol: 'TCP', port, ...(then && { at: then }) };
    return (await call(then ? 'check_connectivity_at' : 'check_connectivity', raw)).verdict === 'reachable';
  };
  const policies = async () =>
    Object.fromEntries(
      ((await call('list_policies', {})).items as { name: string; spec: PolicySpec }[]).map((one) => [
        one.name,
        one.spec,
      ]),
    );
  const passed = async (ms: number) => {
    kit.clock.time += ms;
    return beginPolicies(kit.services, workspace);
  };
  return { workspace, robot, at, time, call, plan, carriedOut, reaches, policies, passed };
}

const failure = (reason: unknown) =>
  JSON.stringify(reason instanceof Error ? [reason.message, (reason as { details?: unknown }).details] : reason);

it.each([allow, deny])('the same order again is so already, and nothing says otherwise: %j', async (order) => {
  await using kit = await buildKit();
  const { time, plan, carriedOut } = await scene(kit);
  const later = { ...order, starts: time(2 * HOUR), for: '1h' };
  await carriedOut(later);
  const again = await plan(later);
  expect(again).toMatchObject({ already: true, expectations_hold: true, unmet: [] });
  expect(again.not_changed ?? []).toEqual([]);
});

it('a begin may be written as answers have it', async () => {
  await using kit = await buildKit();
  const { at, time, plan } = await scene(kit);
  const { orders } = await plan({ ...allow, starts: at(HOUR), for: '1h' });
  expect(orders).toMatchObject([{ starts: time(HOUR) }]);
});

it('an earlier window beside one that waits says that both count', async () => {
  await using kit = await buildKit();
  const { time, plan, carriedOut } = await scene(kit);
  await carriedOut({ ...allow, starts: time(3 * HOUR), for: '2h' });
  const { warnings } = await plan({ ...allow, starts: time(2 * HOUR), for: '2h' });
  expect(warnings).toContainEqual(
    'allow-to-db waits too and does the same, from 2026-01-05T15:00:00Z to 2026-01-05T17:00:00Z: if allow-to-db-2 is to take its place, delete it',
  );
});

describe('an order that begins later', () => {
  it('is shown and judged as of its begin, waits, and counts from the revision at which it begins', async () => {
    await using kit = await buildKit();
    const { time, at, call, plan, carriedOut, reaches, policies, passed } = await scene(kit);
    const order = { ...allow, starts: time(2 * HOUR), for: '1h' };
    const [begin, before] = [at(2 * HOUR), at(HOUR)];
    const planned = await plan(order);
    expect(planned).toMatchObject({
      unmet: [],
      expectations_hold: true,
      effect: { opened: [expect.anything()], closed: [] },
      orders: [{ starts: begin.replace('.000', ''), until: time(3 * HOUR) }],
    });
    expect(planned.summary).toContain('beginning Monday 2026-01-05 14:00 UTC until Monday 2026-01-05 15:00 UTC');
    expect(planned.summary).toContain('15:00 UTC: then opens TCP 5432 from web-1 to db-1');
    expect(planned.warnings).toContainEqual(expect.stringContaining('nothing changes before 2026-01-05T14:00:00Z'));
    await carriedOut(order);
    expect((await policies())['allow-to-db']).toMatchObject({ startsAt: begin, expiresAt: at(3 * HOUR) });
    expect(await reaches('web-1', 'db-1', 5432)).toBe(false);
    expect(await passed(HOUR)).toBe(Date.parse(begin));
    expect(await reaches('web-1', 'db-1', 5432)).toBe(false);
    expect(await passed(HOUR)).toBeUndefined();
    expect(await reaches('web-1', 'db-1', 5432)).toBe(true);
    expect(await policies()).toMatchObject({ 'allow-to-db': { action: 'ALLOW', expiresAt: at(HOUR) } });
    expect((await policies())['allow-to-db']?.startsAt).toBeUndefined();
    expect(await reaches('web-1', 'db-1', 5432, before)).toBe(false);
    const causes = await call('find_cause', { src: 'web-1', dst: 'db-1', from: '2h ago' });
    expect(causes.summary).toContain(
      'because policy allow-to-db was updated, in revision 11 by system:begin ("the policy allow-to-db begins"), approved by user:bob',
    );
    kit.clock.time += 60_000;
    expect(await reaches('web-1', 'db-1', 5432, new Date(kit.clock.time - 30_000).toISOString())).toBe(true);
  });

  it('is of the same risk as one that begins now', async () => {
    await using kit = await buildKit();
    const { time, plan } = await scene(kit, { base: { action: 'DENY', peerSelector: {} } });
    for (const order of [allow, { ...allow, from: ['anyone'], ports: undefined }, deny])
      expect(await plan({ ...order, starts: time(HOUR) })).toMatchObject({
        risk_level: (await plan(order)).risk_level,
      });
  });

  it('is carried out under the approval that it had', async () => {
    await using kit = await buildKit();
    const { time, workspace, carriedOut, passed } = await scene(kit);
    await carriedOut({ ...allow, starts: time(HOUR) });
    const { revision } = await kit.services.states.current(workspace);
    await passed(HOUR);
    const [begun] = await kit.services.store.commits(workspace, revision, 1);
    expect(begun).toMatchObject({
      actor: 'system:begin',
      reason: 'the policy allow-to-db begins',
      approval: { reviewedBy: expect.stringContaining('bob') },
    });
  });

  it('denies, and lets only some in, from then on', async () => {
    await using kit = await buildKit();
    const { time, carriedOut, reaches, passed } = await scene(kit, {});
    const only = { do: 'only', from: ['role=web'], to: ['role=db'], ports: ['tcp/22'] };
    await carriedOut({ ...deny, starts: time(HOUR) }, { ...only, starts: time(HOUR), for: '2h' });
    expect([await reaches('lap', 'web-1', 80), await reaches('lap', 'db-1', 22)]).toEqual([true, true]);
    await passed(HOUR);
    expect([await reaches('lap', 'web-1', 80), await reaches('lap', 'db-1', 22)]).toEqual([false, false]);
    expect([await reaches('web-1', 'db-1', 22), await reaches('lap', 'db-1', 80)]).toEqual([true, true]);
  });

  it('is renewed and undone while it waits, and after a plain remove does not begin', async () => {
    await using kit = await buildKit();
    const { time, at, plan, carriedOut, policies, passed, reaches } = await scene(kit);
    const [starts, begin] = [time(HOUR), at(HOUR)];
    const { undo } = await plan({ ...allow, starts, for: '1h' });
    expect(undo).toEqual([{ ...allow, do: 'remove' }]);
    await carriedOut({ ...allow, starts, for: '1h' });
    await carriedOut({ ...allow, starts, for: '3h' });
    expect(await policies()).toMatchObject({ 'allow-to-db': { startsAt: begin, expiresAt: at(4 * HOUR) } });
    expect(Object.keys(await policies())).toEqual(['allow-to-db', 'base']);
    expect(await plan({ ...allow, starts, for: '2h' })).toMatchObject({ already: true });
    await carriedOut(...undo);
    await passed(HOUR);
    expect(await reaches('web-1', 'db-1', 5432)).toBe(false);
  });

  it('begins earlier by the same order with an earlier begin, or with none, and says that a later one does not move it', async () => {
    await using kit = await buildKit();
    const { time, at, plan, carriedOut, policies } = await scene(kit);
    await carriedOut({ ...allow, starts: time(2 * HOUR), for: '4h' });
    const { already, warnings } = await plan({ ...allow, starts: time(3 * HOUR), for: '1h' });
    expect([already, warnings]).toEqual([
      true,
      expect.arrayContaining([
        `allow-to-db begins at ${time(2 * HOUR)} already and keeps that begin: to have it begin later, delete allow-to-db and send the order again`,
      ]),
    ]);
    expect(await plan({ ...allow, starts: time(3 * HOUR), for: '9h' })).toMatchObject({
      warnings: expect.arrayContaining([expect.stringContaining('allow-to-db begins at')]),
    });
    const earlier = await plan({ ...allow, starts: time(HOUR), for: '9h' });
    expect(earlier).toMatchObject({ unmet: [], changes: [{ action: 'update', name: 'allow-to-db' }] });
    await carriedOut({ ...allow, starts: time(HOUR), for: '9h' });
    expect(await policies()).toMatchObject({ 'allow-to-db': { startsAt: at(HOUR), expiresAt: at(10 * HOUR) } });
    await carriedOut(allow);
    expect((await policies())['allow-to-db']).not.toHaveProperty('startsAt');
    expect(Object.keys(await policies()).sort()).toEqual(['allow-to-db', 'base']);
  });

  it('is written beside one that waits, where it ends before that one does', async () => {
    await using kit = await buildKit();
    const { time, plan, carriedOut } = await scene(kit);
    await carriedOut({ ...allow, starts: time(2 * HOUR), for: '2h' });
    for (const order of [
      { ...allow, for: '1h' },
      { ...allow, starts: time(6 * HOUR), for: '1h' },
    ])
      expect((await plan(order)).changes).toMatchObject([{ action: 'create', name: 'allow-to-db-2' }]);
  });

  it('is taken away whole by remove while it waits, so that nothing of it isolates anybody at its begin', async () => {
    await using kit = await buildKit();
    const { time, plan, carriedOut, policies, passed, reaches } = await scene(kit);
    await carriedOut({ ...allow, starts: time(HOUR) });
    const removal = { ...allow, do: 'remove' };
    expect((await plan(removal)).changes).toMatchObject([{ action: 'delete', name: 'allow-to-db' }]);
    await carriedOut({ ...removal, to: ['db-1'] });
    const waiting = Object.values(await policies()).filter(({ startsAt }) => startsAt !== undefined);
    expect(waiting.map(({ ingress }) => ingress)).toEqual([[expect.anything()]]);
    await passed(HOUR);
    expect(await reaches('web-1', 'db-1', 5432)).toBe(false);
  });

  it('has to be planned again once its begin has come, which its plan and its workflow say', async () => {
    await using kit = await buildKit();
    const { robot, workspace, time, call, plan, reaches } = await scene(kit);
    const [order, why] = [
      { ...allow, starts: time(HOUR) },
      `It had to be approved before its begin (${time(HOUR)}): plan the change again.`,
    ];
    const { plan_id, expires_at } = await plan(order);
    expect(Date.parse(expires_at as string)).toBeLessThan(Date.parse(time(HOUR)));
    const { workflow_id: id } = await call('apply_network_change', { plan_id, approved_by: 'bob' }, robot);
    const { plan_id: later } = await plan(order);
    kit.clock.time += HOUR - 10_000;
    expect(failure(await call('approve_workflow', { id }).catch((reason: unknown) => reason))).toContain(why);
    const applied = call('apply_network_change', { plan_id: later, approved_by: 'bob' }, robot);
    expect(failure(await applied.catch((reason: unknown) => reason))).toContain(why);
    await expireWorkflows(kit.services, workspace);
    expect(await call('get_workflow', { id })).toMatchObject({ status: 'expired', error: why });
    expect(await reaches('web-1', 'db-1', 5432)).toBe(false);
  });

  it('is deleted with its effect and risk shown as those of its begin', async () => {
    await using kit = await buildKit();
    const { robot, time, call, carriedOut } = await scene(kit, {});
    await carriedOut({ do: 'only', ...webToDb, starts: time(HOUR) });
    const { diff_markdown: text } = await call('plan_network_change', { delete: ['policy/only-to-db'] }, robot);
    const begin = 'from Monday 2026-01-05 13:00 UTC on';
    for (const said of [
      `Risk ${begin}: **critical**`,
      `## Opens ${begin} (1 pair`,
      'effect and risk are those of then',
    ])
      expect(text).toContain(said);
  });

  it('of which the removal waits for approval beyond its begin is not removed unseen', async () => {
    await using kit = await buildKit();
    const { robot, time, call, carriedOut } = await scene(kit);
    await carriedOut({ ...allow, starts: time(HOUR) });
    const { plan_id } = await call('plan_network_change', { delete: ['policy/allow-to-db'] }, robot);
    const { workflow_id: id } = await call('apply_network_change', { plan_id, approved_by: 'bob' }, robot);
    kit.clock.time += HOUR;
    expect(failure(await call('approve_workflow', { id }).catch((reason: unknown) => reason))).toContain(
      'It had to be approved before its begin',
    );
  });

  it('stands in files, and is taken back by a revert', async () => {
    await using kit = await buildKit();
    const { robot, at, time, call, carriedOut } = await scene(kit, {});
    await carriedOut({ ...deny, starts: time(HOUR) });
    const { resources } = await call('export_resources', {});
    expect(JSON.stringify(resources)).toContain(at(HOUR));
    const { changes, summary } = await call('plan_network_change', { revert: 'last' }, robot);
    expect(changes).toMatchObject([{ action: 'delete', name: 'deny-to-web-1' }]);
    expect(summary).toContain('From Monday 2026-01-05 13:00 UTC on, opens everything from lap to web-1');
  });

  it('is taken back after its begin too, by its workflow and with the network of a moment at which it waited', async () => {
    await using kit = await buildKit();
    const { workspace, robot, time, call, carriedOut, passed } = await scene(kit, {});
    const id = await carriedOut({ ...deny, starts: time(HOUR) });
    const { revision } = await kit.services.states.current(workspace);
    await passed(HOUR);
    for (const revert of [id, String(revision)]) {
      expect(await call('plan_network_change', { revert }, robot)).toMatchObject({
        changes: [{ action: 'delete', name: 'deny-to-web-1' }],
        summary: expect.stringContaining('Opens everything from lap to web-1'),
        unmet: [],
      });
    }
  });

  it('goes on as it was where a change of it while it waited is taken back after its begin', async () => {
    await using kit = await buildKit();
    const { robot, at, time, call, carriedOut, passed } = await scene(kit);
    const [starts, former] = [time(HOUR), at(3 * HOUR)];
    await carriedOut({ ...allow, starts, for: '2h' });
    const id = await carriedOut({ ...allow, starts, for: '4h' });
    await passed(HOUR);
    for (const revert of [id, 'last']) {
      const { changes, unmet } = await call('plan_network_change', { revert }, robot);
      expect(unmet).toEqual([]);
      expect(changes).toMatchObject([{ action: 'update', name: 'allow-to-db' }]);
      expect((changes as { after: string }[])[0]?.after).toContain(former);
    }
  });

  it('is not begun by a revert to a moment at which it waited, once it is gone', async () => {
    await using kit = await buildKit();
    const { workspace, robot, time, call, carriedOut, passed } = await scene(kit);
    await carriedOut({ ...allow, starts: time(HOUR) });
    const { revision } = await kit.services.states.current(workspace);
    await call('delete_policy', { id: 'allow-to-db' });
    await passed(HOUR);
    const reverted = await call('plan_network_change', { revert: String(revision) }, robot);
    expect(reverted).toMatchObject({ changes: [], unmet: [] });
    expect(JSON.stringify(reverted.warnings)).toContain('allow-to-db stays as it is: its begin has passed since');
  });

  it('begins at once where its begin is seconds away, or in the minute that passes', async () => {
    await using kit = await buildKit();
    const { time, plan } = await scene(kit);
    for (const starts of [time(-59_000), time(5_000)]) {
      const { changes } = await plan({ ...allow, starts });
      expect(JSON.stringify(changes)).not.toContain('startsAt');
    }
  });

  it('that stands in a file is said to begin at once where its begin has come', async () => {
    await using kit = await buildKit();
    const { at, call } = await scene(kit);
    const spec = `{ action: DENY, peerSelector: {}, startsAt: "${at(-HOUR)}", ingress: [{ ports: [{ port: 22 }] }] }`;
    const documents = `{ apiVersion: mesh.internal/v1alpha1, kind: MeshPolicy, metadata: { name: no-ssh }, spec: ${spec} }`;
    const { warnings } = await call('plan_network_change', { documents });
    expect(warnings).toContainEqual('no-ssh begins at once: its begin (2026-01-05T11:00:00Z) has come');
  });

  it.each([
    [
      'an end before the begin',
      [{ ...allow, starts: '2026-01-06T08:00', until: '2026-01-06T07:00' }],
      '/orders/0/until',
    ],
    [
      'an end that has passed',
      [{ ...allow, starts: '2026-01-06T08:00', until: '2026-01-05T07:00' }],
      '2026-01-05T07:00 has passed: it is Monday 2026-01-05 12:00 UTC. Name a later end.',
    ],
    [
      'a begin that has passed',
      [{ ...allow, starts: '2026-01-05T11:00', for: '2h' }],
      'Leave out starts to begin now, from when for counts then, or name a later begin.',
    ],
    ['a begin that is no time', [{ ...allow, starts: 'tomorrow' }], '/orders/0/starts'],
    ['remove', [{ ...allow, do: 'remove', starts: '2026-01-06T08:00' }], '/orders/0/starts'],
    ['a hole in a DENY', [{ ...allow, starts: '2026-01-06T08:00', through: ['no-lap'] }], 'leave out starts'],
    ['two begins', [{ ...allow, starts: '2026-01-06T08:00' }, deny], 'All orders of a call begin together'],
    [
      'only that takes access from others at once',
      [{ do: 'only', ...webToDb, starts: '2026-01-06T08:00' }],
      'would change the policy base at once',
    ],
  ])('is refused for %s', async (_, orders, said) => {
    await using kit = await buildKit();
    const closed: PolicySpec = { ...ISOLATED, action: 'DENY', ingress: [{ ports: [{ port: 1 }] }] };
    const { plan } = await scene(kit, { base: LAP_IN, 'no-lap': closed });
    expect(failure(await plan(...orders).catch((reason: unknown) => reason))).toContain(said);
  });

  it('is refused beside what changes at once', async () => {
    await using kit = await buildKit();
    const { time, call } = await scene(kit);
    const raw = { orders: [{ ...allow, starts: time(HOUR) }], set: [{ peer: 'lap', labels: ['role=web'] }] };
    expect(failure(await call('plan_network_change', raw).catch((reason: unknown) => reason))).toContain(
      'in calls of their own',
    );
  });
});

describe('what is written while an order waits', () => {
  it('is told what it opens once the order begins', async () => {
    await using kit = await buildKit();
    const { time, carriedOut, call } = await scene(kit, {});
    await carriedOut({ do: 'only', from: ['role=web'], to: ['role=db'], starts: time(HOUR) });
    const documents = `apiVersion: mesh.internal/v1alpha1
kind: MeshPolicy
metadata: { name: lap-in }
spec: { action: ALLOW, peerSelector: { matchLabels: { role: db } }, ingress: [{ from: [{ peerSelector: { matchLabels: { role: lap } } }] }] }
`;
    const { warnings, risk_level } = await call('plan_network_change', { documents });
    expect(risk_level).toBe('high');
    expect(warnings).toContainEqual(expect.stringMatching(/it opens more once policies have begun or ended: .*lap/));
  });
});
