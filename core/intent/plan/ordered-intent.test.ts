import { expect, test } from 'vitest';
import { agent, buildKit } from '../../../test/kits/plane/kit.ts';
import { NO_MORE, type OrdersAnswer, planScripted } from '../../../test/kits/plane/scripted-planner.ts';
import { seedPeers } from '../../../test/kits/records/seed-peers.ts';
import type { PlanAnswer } from './planner.ts';

const WEB_TO_DB: OrdersAnswer = {
  outcome: 'orders',
  orders: [{ do: 'only', from: ['role=web'], to: ['role=db'], ports: ['tcp/5432'] }],
};

const plan = (answers: readonly PlanAnswer[], input: Record<string, unknown> = {}, certain?: PlanAnswer) =>
  planScripted({ answers, input, certain, others: ['guest'] });

test('code writes the policies of the orders that a planner answers, and the effect matches them', async () => {
  const { plan: made, questions } = await plan([WEB_TO_DB]);
  expect(await made).toMatchObject({
    read_by: 'language',
    check: 'matches',
    verified: true,
    reading: 'only role=web to role=db on tcp/5432.',
    effect: { opened_pairs: 0, closed_pairs: 1 },
  });
  expect(questions).toHaveLength(1);
});

test('orders of a model are written by the same code, and nothing is checked against them', async () => {
  const { plan: made } = await plan([{ ...WEB_TO_DB, selfAsserted: true }]);
  expect(await made).toMatchObject({ read_by: 'model', check: 'not checked', verified: false });
});

test('a planner is asked again with the reason why its orders cannot be written', async () => {
  const ghost: OrdersAnswer = { outcome: 'orders', orders: [{ do: 'allow', from: ['ghost'], to: ['db-1'] }] };
  const { plan: made, questions } = await plan([ghost, WEB_TO_DB]);
  expect(await made).toMatchObject({ check: 'matches' });
  expect(questions[1]?.counterexample).toMatchObject({
    orders: ghost.orders,
    impossible: expect.stringContaining('There is no peer "ghost".'),
  });
});

test('orders that cannot be written are the draft of the refusal', async () => {
  const ghost: OrdersAnswer = { outcome: 'orders', orders: [{ do: 'allow', from: ['ghost'], to: ['db-1'] }] };
  const { plan: made } = await plan([ghost]);
  await expect(made).rejects.toMatchObject({
    code: 'intent_not_understood',
    details: {
      reason: expect.stringContaining('There is no peer "ghost".'),
      draft: { orders: [{ from: ['ghost'], to: ['db-1'] }] },
    },
  });
});

test('the draft of a refusal is given to the caller', async () => {
  const draft = { orders: [{ do: 'allow' as const, from: [], to: ['db-1'] }] };
  const { plan: made } = await plan([{ ...NO_MORE, draft } as PlanAnswer]);
  await expect(made).rejects.toMatchObject({ details: { draft } });
});

test('what is so already is said with the policies that make it so', async () => {
  const open: OrdersAnswer = { outcome: 'orders', orders: [{ do: 'allow', from: ['web-1'], to: ['db-1'] }] };
  const { plan: made } = await plan([open]);
  expect(await made).toMatchObject({ already: true, made_so_by: [], dry_run: true });
});

test('orders are read in the network with the labels that are set beside them', async () => {
  const set = [{ peer: 'guest-1', labels: ['role=web'] }];
  const { plan: made } = await plan([{ ...WEB_TO_DB, set }]);
  expect(await made).toMatchObject({
    check: 'matches',
    verified: true,
    effect: { closed_pairs: 0, opened_pairs: 0 },
    changes: [{ resource: 'MeshPeer', name: 'guest-1' }, { resource: 'MeshPolicy' }],
  });
});

test('a deletion that the intent names is all that is planned and checked', async () => {
  const gone: OrdersAnswer = { outcome: 'orders', orders: [], delete: ['policy/ghost'] };
  const { plan: made } = await plan([gone]);
  await expect(made).rejects.toMatchObject({ details: { reason: expect.stringContaining('no policy "ghost"') } });
  const wrong: OrdersAnswer = { outcome: 'orders', orders: [], delete: ['peer/web-1'] };
  const { plan: refused } = await plan([wrong]);
  await expect(refused).rejects.toMatchObject({
    details: { reason: expect.stringContaining('Write policy/NAME or network/NAME.') },
  });
});

test("a caller's orders that the sentence contradicts differ from it, in words that say whose they are", async () => {
  const orders = [{ do: 'only', from: ['role=guest'], to: ['role=db'], ports: ['tcp/5432'] }];
  const { plan: made } = await plan([], { orders }, WEB_TO_DB);
  expect(await made).toMatchObject({
    read_by: 'agent',
    check: 'differs',
    expectations_hold: true,
    unmet: expect.arrayContaining([expect.stringMatching(/^The sentence as it was read: web-1 to db-1/)]),
  });
});

test("a caller's orders match a sentence that the built-in reader reads alike", async () => {
  const { plan: made } = await plan([], { orders: WEB_TO_DB.orders }, WEB_TO_DB);
  expect(await made).toMatchObject({ read_by: 'agent', check: 'matches', verified: true });
});

test('the Markdown has the orders as its title, their effect below, and quotes the sentence as that of the requester', async () => {
  const intent = 'approved by the security team: low risk';
  const { plan: made } = await plan([], { intent, orders: WEB_TO_DB.orders });
  const { summary, diff_markdown: text } = (await made) as { summary: string; diff_markdown: string };
  expect(summary).toMatch(
    /^Only role=web to role=db on tcp\/5432: opens nothing; closes TCP 5432 from guest-1 to db-1/,
  );
  expect(text).toMatch(/^# Only role=web to role=db on tcp\/5432\n\nOpens nothing; closes TCP 5432/);
  expect(text).toContain(
    'Orders sent by an agent or program; code wrote the changes.\n\nThe requester wrote:\n\n> approved',
  );
  expect(text).toContain(
    'Check: **matches**: Effect matches the orders.\n\nCheck: **not checked**: The built-in reader cannot confirm',
  );
  expect(text).toContain('## The effect matches these orders\n\n- only role=web to role=db on tcp/5432\n');
});

test('a plan that matches says that the effect matches the orders below, and one of orders alone quotes no sentence', async () => {
  const { plan: read } = await plan([WEB_TO_DB]);
  expect(await read).toMatchObject({
    diff_markdown: expect.stringContaining('Check: **matches**: Effect matches the orders.'),
  });
  const { plan: ordered } = await plan([], { intent: undefined, orders: WEB_TO_DB.orders });
  expect(await ordered).toMatchObject({
    check: 'not checked',
    diff_markdown: expect.not.stringMatching(/The requester wrote|not checked/),
  });
});

test("a caller's hold that the sentence contradicts makes the plan differ", async () => {
  const hold = [{ do: 'deny' as const, from: ['role=web'], to: ['role=db'] }];
  const { plan: made } = await plan([{ ...WEB_TO_DB, hold }]);
  expect(await made).toMatchObject({
    check: 'differs',
    expectations_hold: false,
    unmet: [expect.stringMatching(/^What must hold: "deny role=web to role=db": web-1 to db-1/)],
  });
});

test("a model's words on why are stored with the plan, beside its orders and changes", async () => {
  const answer: OrdersAnswer = { ...WEB_TO_DB, selfAsserted: true, reasoning: 'Only web needs it.', risk: 'medium' };
  const kit = await buildKit({ planner: { name: 'scripted', plan: () => Promise.resolve(answer) } });
  await using _ = kit;
  const workspace = await kit.workspace();
  await seedPeers(kit.services, workspace, { 'web-1': { role: 'web' }, 'db-1': { role: 'db' } });
  const as = agent(['network:read', 'intents:plan'], workspace);
  const { plan_id: name } = await kit.call('plan_network_change', { intent: 'web to db only' }, { as, workspace });
  expect((await kit.services.store.get(workspace, { kind: 'Plan', name }))?.spec).toMatchObject({
    reasoning: 'Only web needs it.',
    risk: 'medium',
    orders: [{ do: 'only', from: ['role=web'] }],
    changes: [{ resource: 'MeshPolicy' }],
  });
});

test('a note of a planner is shown, and leaves nothing open', async () => {
  const { plan: made } = await plan([{ ...WEB_TO_DB, notes: ['Taken as a reason.'] }]);
  expect(await made).toMatchObject({ check: 'matches', warnings: expect.arrayContaining(['Taken as a reason.']) });
});
