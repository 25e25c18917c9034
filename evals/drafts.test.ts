import { expect, test } from 'vitest';
import { intentNotUnderstood } from '../core/intent/plan/not-understood.ts';
import { planByGrammar } from '../llm/grammar/builtin.ts';
import { planNetworkChange } from '../tools/intents/plan-network-change.ts';
import { EVAL_NOW } from './case.ts';
import { ALL_CASES } from './cases.ts';
import { stateOfNetwork } from './networks.ts';
import { trialsOf } from './score.ts';

const NOTHING = { labels: [], near: [] };

test('no order of a draft of a refused sentence can be sent as it is', () => {
  const drafts = trialsOf(ALL_CASES).flatMap(({ one, network, says }) => {
    const question = { intent: says, state: stateOfNetwork(network), now: EVAL_NOW, history: one.history ?? [] };
    const answer = planByGrammar(question);
    if (answer.outcome !== 'refused') return [];
    const { draft } = intentNotUnderstood(answer, NOTHING).details as { draft: { orders: readonly unknown[] } };
    return [{ says, orders: draft.orders }];
  });
  const isTaken = (orders: readonly unknown[]) => planNetworkChange.input.safeParse({ orders }).success;
  expect(drafts.length).toBeGreaterThan(100);
  expect(drafts.flatMap(({ orders }) => orders).length).toBeGreaterThan(50);
  expect(drafts.filter(({ orders }) => orders.some((order) => isTaken([order])))).toEqual([]);
});
