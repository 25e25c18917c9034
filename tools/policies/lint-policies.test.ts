import { expect, test } from 'vitest';
import { draftOf } from '../../core/base/record.ts';
import { buildHistoryKit } from '../../test/kits/plane/history-kit.ts';
import { agent, person } from '../../test/kits/plane/kit.ts';
import { policy } from '../../test/kits/records/records.ts';

const role = (name: string) => ({ peerSelector: { matchLabels: { role: name } } });
const allow = (to: string, ...from: string[]) => ({
  action: 'ALLOW',
  ...role(to),
  ingress: [{ from: from.map(role) }],
});

async function scene() {
  const kit = await buildHistoryKit();
  for (const name of ['web', 'db', 'job']) await kit.join(`${name}-1`, { role: name });
  await kit.ask('create_policy', { name: 'db-in', spec: allow('db', 'web', 'job') });
  await kit.ask('create_policy', { name: 'again', spec: allow('db', 'job') });
  await kit.ask('create_policy', { name: 'none', spec: { action: 'DENY', ...role('gone') } });
  return kit;
}

test('a finding names the policies, the rule, why, and what to do', async () => {
  await using kit = await scene();
  const { items, count, rules_compared } = await kit.ask('lint_policies');
  expect([count, rules_compared]).toEqual([2, true]);
  expect(items).toEqual([
    {
      code: 'RULE_IS_SHADOWED',
      policies: ['again', 'db-in'],
      direction: 'ingress',
      rule_index: 0,
      why: 'other ALLOW rules already allow all of it: db-in',
      fix: 'Remove the rule; a DENY that has no other rule goes as a whole.',
    },
    {
      code: 'SELECTS_NO_PEER',
      policies: ['none'],
      direction: null,
      rule_index: null,
      why: 'its peerSelector matches no peer',
      fix: 'Correct its peerSelector, or delete it.',
    },
  ]);
});

test('10,000 findings come in pages, each once, also where a policy is deleted between two', async () => {
  await using kit = await buildHistoryKit();
  const from = Array.from({ length: 100 }, () => ({ from: [role('gone')] }));
  const ops = Array.from({ length: 100 }, (_, index) => {
    const name = `p-${String(index).padStart(3, '0')}`;
    const record = draftOf(policy(name, { action: 'ALLOW', peerSelector: {}, ingress: from }));
    return { op: 'create', record } as const;
  });
  await kit.services.store.commit(kit.workspace, ops, { actor: 'user:ada', reason: 'test', requestId: 'r' });
  const seen = new Set<string>();
  let answer = await kit.ask('lint_policies', { limit: 200 });
  // Each rule is about nobody, and each policy selects nobody.
  expect(answer.count).toBe(10_100);
  await kit.ask('delete_policy', { id: 'p-000' });
  for (;;) {
    for (const { policies, rule_index } of answer.items) seen.add(`${policies[0]} ${rule_index}`);
    if (answer.next_cursor === undefined) break;
    answer = await kit.ask('lint_policies', { limit: 200, cursor: answer.next_cursor });
  }
  expect(seen.size).toBe(10_100);
}, 60_000);

test('a list of policies tells of its own page on demand, and a plan of what it makes, as the lint does', async () => {
  await using kit = await scene();
  const { items, findings } = await kit.ask('list_policies', { lint: true, limit: 1 });
  expect([items.map(({ name }: { name: string }) => name), findings.map(({ code }: { code: string }) => code)]).toEqual(
    [['again'], ['RULE_IS_SHADOWED']],
  );
  expect((await kit.ask('list_policies')).findings).toBeUndefined();
  const change = { action: 'create', resource: 'MeshPolicy', name: 'more', spec: allow('db', 'web') };
  const plan = await kit.ask('plan_network_change', { intent: 'more', changes: [change] });
  expect(plan.warnings).toContainEqual(
    'more: other ALLOW rules already allow all of it: db-in. Remove the rule; a DENY that has no other rule goes as a whole',
  );
});

test('the lint needs the right to read the network, and says nothing of another workspace', async () => {
  await using kit = await scene();
  const narrow = { as: agent(['snapshots:read'], kit.workspace) };
  await expect(kit.call('lint_policies', {}, narrow)).rejects.toMatchObject({ code: 'forbidden' });
  const stranger = { as: person('admin', await kit.addWorkspace()), workspace: kit.workspace };
  await expect(kit.call('lint_policies', {}, stranger)).rejects.toMatchObject({ code: 'not_found' });
});
