import { expect, it } from 'vitest';
import { agent, buildKit, type Kit, person } from '../../../test/kits/plane/kit.ts';
import { orderedNetwork } from '../../../test/kits/plane/ordered-network.ts';
import { seedPeers } from '../../../test/kits/records/seed-peers.ts';

const HOUR = 3_600_000;
const SHUT_ALL = 'action: DENY, peerSelector: {}, ingress: [{}]';
const TINY = 'action: DENY, peerSelector: { peers: [lap] }, ingress: [{ ports: [{ port: 1 }] }]';
const ROLES = ['network:read', 'network:write', 'intents:plan', 'intents:apply'] as const;

/** An agent whose small changes are carried out without a person. */
async function scene(kit: Kit) {
  const workspace = await orderedNetwork(kit, {}, { role: 'lap' });
  await kit.haveSettings(workspace, { autoApprove: { maxRisk: 'low', from: ['agent', 'person'] } });
  const robot = agent([...ROLES], workspace);
  const ada = person('admin', workspace, 'ada');
  const bob = person('admin', workspace, 'bob');
  const at = (ms: number) => new Date(kit.services.clock.now() + ms).toISOString();
  const policy = (name: string, spec: string, begin?: string) =>
    `apiVersion: mesh.internal/v1alpha1\nkind: MeshPolicy\nmetadata: { name: ${name} }\nspec: { ${spec}${begin ? `, startsAt: "${begin}"` : ''} }\n`;
  const call = (name: string, raw: Record<string, unknown>, as = bob) =>
    kit.call(name, raw, { as, workspace, face: 'rest' });
  const asked = async (raw: Record<string, unknown>, as = robot) => {
    const plan = await call('plan_network_change', raw, as);
    const { status } = await call('apply_network_change', { plan_id: plan.plan_id, approved_by: 'bob' }, as);
    return { plan, status };
  };
  return { workspace, ada, bob, at, policy, call, asked };
}

it.each([
  ['begins earlier', HOUR],
  ['begins at once', undefined],
])('a plan is judged at its second begin too, where a small change beside it %s', async (_, earlier) => {
  await using kit = await buildKit();
  const { at, policy, asked } = await scene(kit);
  const small = policy('tiny', TINY, earlier === undefined ? undefined : at(earlier));
  const { plan, status } = await asked({ documents: `${small}---\n${policy('shut-all', SHUT_ALL, at(2 * HOUR))}` });
  expect(status).toBe('pending_approval');
  expect(plan.risk_level).not.toBe('low');
  expect(plan.warnings).toContainEqual(expect.stringContaining('it closes more once policies have begun'));
  expect(plan.summary).toContain('it closes more');
});

it('a plan that edits a label and closes all later says so in its title, and waits for a person', async () => {
  await using kit = await buildKit();
  const { at, policy, asked } = await scene(kit);
  const documents = policy('shut-all', SHUT_ALL, at(HOUR));
  const { plan, status } = await asked({ documents, set: [{ peer: 'web-1', labels: ['x=z'] }] });
  expect([status, plan.summary]).toEqual([
    'pending_approval',
    expect.stringContaining('it closes more once policies have begun'),
  ]);
});

it('a DENY that waits is not taken away unseen beside an edit of now', async () => {
  await using kit = await buildKit();
  const { ada, bob, at, call, asked } = await scene(kit);
  await call(
    'create_policy',
    {
      name: 'deny-lap',
      spec: {
        action: 'DENY',
        peerSelector: { matchLabels: { role: 'db' } },
        ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'lap' } } }] }],
        startsAt: at(HOUR),
      },
    },
    ada,
  );
  await call(
    'create_policy',
    { name: 'closed', spec: { action: 'ALLOW', peerSelector: { matchLabels: { role: 'db' } }, ingress: [] } },
    ada,
  );
  const edit = { set: [{ peer: 'web-1', labels: ['x=y'] }] };
  const { plan, status } = await asked({ ...edit, delete: ['policy/deny-lap'] }, bob);
  expect(status).toBe('pending_approval');
  expect(plan.warnings).toContainEqual(expect.stringContaining('deny-lap'));
});

it('closings that begin at one later time count together, on whichever days they are asked for', async () => {
  await using kit = await buildKit();
  const { workspace, at, asked } = await scene(kit);
  await seedPeers(kit.services, workspace, Object.fromEntries(Array.from({ length: 14 }, (_, n) => [`n-${n}`, {}])));
  const starts = at(30 * 24 * HOUR).replace('.000', '');
  const answers: string[] = [];
  for (let n = 0; n < 14; n += 1) {
    const to = [1, 2, 3, 4, 5, 6].map((step) => `n-${(n + step) % 14}`);
    answers.push((await asked({ orders: [{ do: 'deny', from: [`n-${n}`], to, starts }] })).status);
    kit.clock.time += 25 * HOUR;
  }
  expect(new Set(answers)).toEqual(new Set(['executed', 'pending_approval']));
  expect(answers.lastIndexOf('executed')).toBeLessThan(answers.indexOf('pending_approval'));
});
