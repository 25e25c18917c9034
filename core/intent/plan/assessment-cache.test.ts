import { expect, test, vi } from 'vitest';
import { buildKit, person } from '../../../test/kits/plane/kit.ts';
import { seedPeers } from '../../../test/kits/records/seed-peers.ts';
import type { NetworkChange } from '../../changes/changes.ts';
import type { NetworkStates } from '../../state/states.ts';
import { assess } from './assess.ts';
import type { Proposal } from './assessment.ts';

const HOUR_MS = 3_600_000;
const OPEN: NetworkChange = {
  action: 'create',
  resource: 'MeshPolicy',
  name: 'open',
  spec: { action: 'ALLOW', peerSelector: { matchLabels: { role: 'db' } }, ingress: [{ from: ['*'] }] },
};
const PROPOSAL: Proposal = {
  changes: [OPEN],
  expectations: [],
  records: [],
  plannedBy: 'caller',
  readBy: 'agent',
  sentence: 'open',
};

/** Counts assessments by the compiled states that they read: one that is known reads none. */
async function scene() {
  const kit = await buildKit();
  const workspace = await kit.workspace();
  await seedPeers(kit.services, workspace, { 'web-1': { role: 'web' }, 'db-1': { role: 'db' } });
  const as = person('admin', workspace);
  const call = (name: string, raw: Record<string, unknown>) => kit.call(name, raw, { as, workspace });
  let reads = 0;
  const states: NetworkStates = {
    ...kit.services.states,
    reachability: (...args) => {
      reads += 1;
      return kit.services.states.reachability(...args);
    },
  };
  /** Tells whether a request makes an assessment. */
  const makes = async (proposal = PROPOSAL, requester = { id: 'u_ada', peer: undefined as string | undefined }) => {
    const before = reads;
    await assess({ ...kit.services, states }, workspace, proposal, requester);
    return reads > before;
  };
  return { kit, workspace, call, makes, [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose]() };
}

test('the same proposal on the same network is assessed once, whatever else its plan or workflow says', async () => {
  await using scenario = await scene();
  const { makes, kit, workspace } = scenario;
  const stored = { ...PROPOSAL, digest: 'd', summary: 'x' };
  expect([await makes(), await makes(), await makes(stored)]).toEqual([true, false, false]);
  const [first, second] = [
    await assess(kit.services, workspace, PROPOSAL, undefined),
    await assess(kit.services, workspace, PROPOSAL, undefined),
  ];
  expect(second).toEqual({ ...first, state: second.state, view: second.view });
});

test('a known assessment rests on the revision of now', async () => {
  await using scenario = await scene();
  const { kit, workspace, call } = scenario;
  await assess(kit.services, workspace, PROPOSAL, undefined);
  await call('plan_network_change', { intent: 'open', changes: [OPEN] });
  const { state } = await assess(kit.services, workspace, PROPOSAL, undefined);
  expect(state.revision).toBe(await kit.services.store.revision(workspace));
});

test('a plan that is applied, reviewed and executed at once is compared with the network of today once', async () => {
  await using scenario = await scene();
  const { kit, call, workspace } = scenario;
  const compiled = vi.spyOn(kit.services.states, 'reachability');
  const changed = () => compiled.mock.calls.filter(([{ policies }]) => policies.has('open')).length;
  const { plan_id } = await call('plan_network_change', { intent: 'open', changes: [OPEN] });
  const planned = changed();
  const as = person('admin', workspace);
  const { workflow_id } = await kit.call('apply_network_change', { plan_id }, { as, workspace, face: 'mcp' });
  const applied = changed();
  await kit.call('approve_workflow', { id: workflow_id }, { as: person('admin', workspace, 'bob'), workspace });
  expect([planned > 0, applied, changed()]).toEqual([true, planned, planned]);
});

test('another caller, another statement, or another sentence is another assessment', async () => {
  await using scenario = await scene();
  const { makes } = scenario;
  await makes();
  const others = [
    await makes(PROPOSAL, { id: 'u_bob', peer: undefined }),
    await makes(PROPOSAL, { id: 'u_ada', peer: 'web-1' }),
    await makes({ ...PROPOSAL, sentence: 'other' }),
    await makes({ ...PROPOSAL, expectations: [{ src: 'web-1', dst: 'db-1', expect: 'deny' }] }),
  ];
  expect(others).toEqual([true, true, true, true]);
});

test.each([
  ['a policy', 'create_policy', { name: 'other', spec: { action: 'DENY', peerSelector: {} } }],
  ['an assertion', 'create_assertion', { name: 'shut', src: 'role=web', dst: 'role=db', expect: 'reachable' }],
  ['a token that gives labels', 'generate_join_token', { name: 'ci', expiry: '', labels: { role: 'web' } }],
])('%s that is made meanwhile makes a new assessment', async (_, operation, raw) => {
  await using scenario = await scene();
  const { makes, call } = scenario;
  await makes();
  await call(operation, raw);
  expect([await makes(), await makes()]).toEqual([true, false]);
});

test('an assessment holds until the first instant at which a policy of it ends', async () => {
  await using scenario = await scene();
  const { makes, call, kit } = scenario;
  await call('create_policy', { name: 'brief', spec: { action: 'DENY', peerSelector: {} }, ttl: '2h' });
  expect([await makes(), await makes()]).toEqual([true, false]);
  kit.clock.time += HOUR_MS;
  expect(await makes()).toBe(false);
  kit.clock.time += HOUR_MS;
  expect(await makes()).toBe(true);
});

test('a few assessments of one network are kept, the newest first', async () => {
  await using scenario = await scene();
  const { makes } = scenario;
  const proposals = Array.from({ length: 9 }, (_, index) => ({ ...PROPOSAL, sentence: String(index) }));
  for (const proposal of proposals) await makes(proposal);
  expect([await makes(proposals[8]), await makes(proposals[0])]).toEqual([false, true]);
});
