import { expect, test } from 'vitest';
import { seedPeers } from '../kits/records/seed-peers.ts';
import { buildScene } from './scene.ts';

const SCOPES = ['network:read', 'intents:plan', 'intents:apply'] as const;
const NAMES = ['n-1', 'n-2', 'n-3', 'n-4', 'n-5', 'n-6'];
/** Every pair but those of a ring, so that each peer keeps some. */
const PAIRS = NAMES.flatMap((src, at) =>
  NAMES.flatMap((dst, to) => (at === to || to === (at + 1) % NAMES.length ? [] : [{ src, dst }])),
);
/** Closing one more is closing a quarter of the 72 pairs, those of three more peers among them. */
const MOST = 17;
const DAY_MS = 24 * 3_600_000;

/** Six peers that reach each other, in a workspace whose plans of low risk wait for nobody, and an agent that closes pairs. */
async function scene() {
  const at = await buildScene();
  const labels = Object.fromEntries(NAMES.map((name) => [name, { role: 'node' }]));
  await seedPeers(at.kit.services, at.workspace, labels);
  await at.call(at.ada, 'delete_policy', { id: 'base' });
  const agent = (name: string) => at.agent(name, SCOPES, { reach: [], ttl: '48h' });
  const [bot, mate] = [await agent('bot'), await agent('mate')];
  await at.kit.haveSettings(at.workspace, {
    requireApproval: true,
    selfApproval: false,
    autoApprove: { maxRisk: 'low', from: ['agent'] },
  });
  async function plan(token: string, { src, dst }: (typeof PAIRS)[number]) {
    const orders = [{ do: 'deny', from: [src], to: [dst] }];
    const planned = await at.call(token, 'plan_network_change', { orders });
    expect(planned).toMatchObject({ risk_level: 'low', unmet: [] });
    return planned.plan_id;
  }
  const apply = (token: string, plan_id: string) =>
    at.call(token, 'apply_network_change', { plan_id, approved_by: 'grace' });
  /** Closes pairs one after the other until one waits. */
  async function closeUntilOneWaits(token: string, pairs: typeof PAIRS) {
    for (const [done, pair] of pairs.entries()) {
      const answer = await apply(token, await plan(token, pair));
      if (answer.status !== 'executed') return { done, answer };
    }
    return { done: pairs.length, answer: undefined };
  }
  return { at, bot, mate, plan, apply, closeUntilOneWaits, [Symbol.asyncDispose]: () => at[Symbol.asyncDispose]() };
}

test('closings that an agent makes one by one come to no less than one closing of all, and no longer after a day', async () => {
  await using on = await scene();
  const { done, answer } = await on.closeUntilOneWaits(on.bot.token, PAIRS);
  expect(done).toBe(MOST);
  expect(answer).toMatchObject({ status: 'pending_approval', auto_approve: false });
  const waiting = await on.at.call(on.at.ada, 'get_workflow', { id: answer.workflow_id });
  expect(waiting).toMatchObject({ riskLevel: 'medium' });
  expect(waiting.riskReasons[0]).toBe(
    `closes ${done + 1} pairs of peers together with what was carried out without a person in the last 24 hours`,
  );
  on.at.kit.clock.time += DAY_MS;
  expect((await on.closeUntilOneWaits(on.bot.token, PAIRS.slice(done + 1, done + 2))).done).toBe(1);
});

test('an agent closes no more by another one of the same person, nor by closings at the same moment', async () => {
  await using on = await scene();
  const plans: string[] = [];
  for (const [index, pair] of PAIRS.entries())
    plans.push(await on.plan([on.bot, on.mate][index % 2]?.token ?? '', pair));
  const answers = await Promise.all(
    plans.map((id, index) => on.apply([on.bot, on.mate][index % 2]?.token ?? '', id).catch(() => undefined)),
  );
  const done = answers.filter((answer) => answer?.auto_approve === true).length;
  expect(done).toBe(MOST);
});
