import { z } from 'zod';
import { invalidInput } from '../../core/base/errors.ts';
import { listOf } from '../../core/base/list.ts';
import { CREATE } from '../../core/base/operation.ts';
import { lineOfText, linesOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { MAX_ORDERS, orderInputSchema } from '../../core/intent/orders/order.ts';
import { changeInputSchema, MAX_CHANGES, parseChanges } from '../../core/intent/plan/change-input.ts';
import { expectationInputSchema, expectationOf, MAX_EXPECTATIONS } from '../../core/intent/plan/expectation-input.ts';
import { planNetworkChange as planChange, planOrders } from '../../core/intent/plan/plan.ts';
import type { RevertTarget } from '../../core/intent/plan/planner.ts';
import { defineHeavyOperation } from '../define.ts';
import { briefPlan, planSchema, planView } from './plan-view.ts';

const MAX_HISTORY = 10;

export const planNetworkChange = defineHeavyOperation({
  name: 'plan_network_change',
  title: 'Plan a network change',
  description:
    'Preview a change by `orders` or plain language: what it opens and closes, its risk. Executes nothing. allow closes nothing; deny wins; only keeps other ports. Then use apply_network_change.',
  input: z.strictObject({
    intent: linesOfText(TEXT_LIMITS.intent).trim().min(1).optional().describe('In plain words'),
    orders: listOf(orderInputSchema, MAX_ORDERS).min(1).optional().describe('What should hold'),
    dry_run: z.boolean().default(false).describe('Preview only'),
    changes: listOf(changeInputSchema, MAX_CHANGES).min(1).optional().describe('In place of the reading'),
    expectations: listOf(expectationInputSchema, MAX_EXPECTATIONS).optional().describe('What must hold afterwards'),
    history: listOf(linesOfText(TEXT_LIMITS.intent), MAX_HISTORY).optional().describe('Earlier intents'),
    revert: lineOfText(TEXT_LIMITS.id)
      .min(1)
      .optional()
      .describe('Undo: last, or an id of a workflow, revision or snapshot'),
  }),
  output: planSchema,
  brief: briefPlan,
  access: 'intents:plan',
  workspace: 'scoped',
  edition: 'pro',
  effects: CREATE,
  // A model may take half a minute, for which a computing thread would only wait.
  cost: ({ orders, changes, revert }, { planner }) =>
    planner.asksModel && (orders ?? changes ?? revert) === undefined ? 'light' : 'heavy',
  problems: ['invalid_input', 'intent_not_understood', 'not_found', 'conflict', 'expired'],
  http: { method: 'post', path: '/api/v1/ai/intent/plan', tellsStages: true },
  async run({ intent, orders, dry_run: dryRun, changes, expectations, history, revert }, context) {
    if (orders) {
      if (changes ?? revert) throw misfit('/orders', 'Give orders, changes or revert, not several of them.');
      const held = expectations?.map(expectationOf);
      return planView(context, await planOrders(context, { intent, orders, dryRun, expectations: held }), dryRun);
    }
    const said = intent ?? (revert === undefined ? undefined : `Undo: ${revert}`);
    if (said === undefined) throw misfit('/intent', 'Give an intent or orders.');
    const plan = await planChange(context, {
      intent: said,
      dryRun,
      history,
      changes: changes && parseChanges(changes),
      expectations: expectations?.map(expectationOf),
      revert: revert === undefined ? undefined : revertTargetOf(revert),
    });
    return planView(context, plan, dryRun);
  },
});

function misfit(pointer: string, detail: string) {
  return invalidInput([{ pointer, detail }], detail);
}

/** Parses the target of a revert. @throws MeshError `invalid_input` */
function revertTargetOf(text: string): RevertTarget {
  if (text === 'last') return { to: 'before-last' };
  if (text.startsWith('wf_')) return { to: 'before-workflow', id: text };
  if (text.startsWith('snap_')) return { to: 'snapshot', id: text };
  if (/^[0-9]{1,15}$/.test(text)) return { to: 'revision', revision: Number(text) };
  const detail = 'Name what to undo: last, the id of a workflow, or a revision or the id of a snapshot to go back to.';
  throw invalidInput([{ pointer: '/revert', detail }], `/revert: ${detail}`);
}
