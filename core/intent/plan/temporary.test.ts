import { expect, it } from 'vitest';
import { buildKit, person } from '../../../test/kits/plane/kit.ts';
import { seedPeers } from '../../../test/kits/records/seed-peers.ts';
import { memberDraft } from '../../identity/members.ts';

async function scene() {
  const kit = await buildKit();
  const workspace = await kit.workspace();
  await seedPeers(kit.services, workspace, { 'web-1': { role: 'web' }, 'db-1': { role: 'db' }, laptop: {} });
  const as = person('admin', workspace);
  const record = memberDraft('ada', 'admin');
  const commit = { actor: 'system:test', reason: 'members', requestId: 'r' };
  await kit.services.store.commit(workspace, [{ op: 'create', record }], commit);
  const call = (name: string, input: Record<string, unknown>) => kit.call(name, input, { as, workspace });
  return { call, [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose]() };
}

it('a rule for a time says in the plan and the approval who gets in when it ends', async () => {
  await using on = await scene();
  const plan = await on.call('plan_network_change', { intent: 'only laptop may reach web-1 on port 22 for 2 hours' });
  const again = /ends, this opens again: .*db-1.* to web-1 on TCP 22/;
  expect(plan.warnings).toContainEqual(expect.stringMatching(again));
  expect(plan.diff_markdown).toMatch(again);
  const { workflow_id: id } = await on.call('apply_network_change', { plan_id: plan.plan_id, approved_by: 'ada' });
  expect((await on.call('get_workflow', { id })).warnings).toContainEqual(expect.stringMatching(again));
});

it('a policy that loses its last rule is named as the isolation that it stays', async () => {
  await using on = await scene();
  const spec = {
    action: 'ALLOW',
    peerSelector: { peers: ['db-1'] },
    ingress: [{ from: [{ peerSelector: { peers: ['laptop'] } }] }],
  };
  await on.call('create_policy', { name: 'grant', spec });
  const plan = await on.call('plan_network_change', { intent: 'take back laptop access to db-1' });
  expect(plan.effect.opened_pairs).toBe(0);
  expect(plan.warnings).toContainEqual('the peers of grant stay closed to everyone: it has no rule left and isolates');
});
