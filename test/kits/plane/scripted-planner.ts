import type { PlanAnswer, Planner, PlanQuestion } from '../../../core/intent/plan/planner.ts';
import { seedPeers } from '../records/seed-peers.ts';
import { agent, buildKit } from './kit.ts';

export type OrdersAnswer = Extract<PlanAnswer, { outcome: 'orders' }>;

export const NO_MORE: PlanAnswer = { outcome: 'refused', reason: 'no idea', questions: ['Which one?'], choices: [] };

interface Script {
  /** Answers of the planner, one a question. */
  readonly answers: readonly PlanAnswer[];
  readonly input?: Record<string, unknown>;
  /** Reading of any intent beside orders. */
  readonly certain?: PlanAnswer | undefined;
  /** Peers with a role of their own, beside web-1 and db-1. */
  readonly others: readonly string[];
}

/** Plans with a planner that gives these answers, and returns its questions beside the plan. */
export async function planScripted({
  answers,
  input = {},
  certain,
  others,
}: Script): Promise<{ questions: readonly PlanQuestion[]; plan: Promise<Record<string, unknown>> }> {
  const questions: PlanQuestion[] = [];
  const planner: Planner = {
    name: 'scripted',
    plan: (question) => Promise.resolve(answers[questions.push(question) - 1] ?? NO_MORE),
    ...(certain && { certain: () => certain }),
  };
  const kit = await buildKit({ planner });
  const workspace = await kit.workspace();
  const peers = ['web', 'db', ...others].map((role) => [`${role}-1`, { role }] as const);
  await seedPeers(kit.services, workspace, Object.fromEntries(peers));
  const as = agent(['network:read', 'intents:plan'], workspace);
  const plan = kit.call('plan_network_change', { intent: 'web to db only', ...input }, { as, workspace });
  await plan.catch(() => undefined);
  await kit[Symbol.asyncDispose]();
  return { plan, questions };
}
