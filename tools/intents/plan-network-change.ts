import { z } from 'zod';
import { invalidInput } from '../../core/base/errors.ts';
import { listOf } from '../../core/base/list.ts';
import { CREATE } from '../../core/base/operation.ts';
import { quotaKeysOf } from '../../core/base/quotas.ts';
import { readYaml } from '../../core/base/read-yaml.ts';
import { lineOfText, linesOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { requireDocumentCount } from '../../core/changes/manifest.ts';
import { holdInputSchema, MAX_ORDERS, orderInputSchema } from '../../core/intent/orders/order.ts';
import { changeInputSchema, MAX_CHANGES, parseChanges } from '../../core/intent/plan/change-input.ts';
import { editFields } from '../../core/intent/plan/edits.ts';
import { expectationInputSchema, expectationOf, MAX_EXPECTATIONS } from '../../core/intent/plan/expectation-input.ts';
import { planNetworkChange as planChange, planOrders } from '../../core/intent/plan/plan.ts';
import type { RevertTarget } from '../../core/intent/plan/planner.ts';
import { defineHeavyOperation } from '../define.ts';
import { buildYaml } from '../yaml.ts';
import { briefPlan, planSchema, planView } from './plan-view.ts';

const MAX_HISTORY = 10;

export const planNetworkChange = defineHeavyOperation({
  name: 'plan_network_change',
  title: 'Plan a network change',
  description:
    'Preview a change: what it opens and closes, and its risk. Executes nothing: apply_network_change does. Give `orders`: allow opens from→to and closes nothing; deny closes and wins over each allow; only lets `from` in to `to` on these ports and nobody else; remove takes away what policies give. Other changes: set, delete, documents. In place of these a sentence in `intent`.',
  input: z.strictObject({
    intent: linesOfText(TEXT_LIMITS.intent)
      .trim()
      .min(1)
      .optional()
      .describe('A sentence: read where no orders say it better'),
    orders: listOf(orderInputSchema, MAX_ORDERS)
      .min(1)
      .optional()
      .describe('What to open and close; orders together may not contradict each other'),
    hold: listOf(holdInputSchema, MAX_ORDERS)
      .min(1)
      .optional()
      .describe('As orders: must be so afterwards, among other things; writes nothing'),
    ...editFields,
    dry_run: z.boolean().default(false).describe('Preview only'),
    changes: listOf(changeInputSchema, MAX_CHANGES)
      .min(1)
      .optional()
      .meta({ deprecated: true })
      .describe('Typed changes: send orders, documents, set or delete instead'),
    expectations: listOf(expectationInputSchema, MAX_EXPECTATIONS)
      .optional()
      .meta({ deprecated: true })
      .describe('Send hold instead'),
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
  // A model may take half a minute, for which a computing thread would only wait: few of these are under way at once.
  cost: (input, { planner }) => (planner.modelTurns && isSentenceAlone(input) ? 'light' : 'heavy'),
  problems: ['invalid_input', 'intent_not_understood', 'not_found', 'conflict', 'expired'],
  http: { method: 'post', path: '/api/v1/ai/intent/plan', tellsStages: true },
  async run(input, context) {
    const { intent, hold, dry_run: dryRun, changes, history, revert } = input;
    const expectations = input.expectations?.map(expectationOf);
    if (isOrdered(input) || (intent ?? changes ?? revert) === undefined) {
      if (changes ?? revert) throw misfit('/orders', 'changes and revert stand alone: leave out the other fields.');
      if (!isOrdered(input) && hold === undefined) throw misfit('/orders', 'Give orders, an intent, or hold.');
      const { orders = [], set, delete: deleted } = input;
      const documents = input.documents === undefined ? [] : documentsIn(input.documents);
      const written = { orders, hold, documents, set, delete: deleted };
      return planView(context, await planOrders(context, { ...written, intent, dryRun, expectations }));
    }
    if (intent === undefined && revert === undefined) throw misfit('/intent', 'Give an intent beside changes.');
    const { modelTurns } = context.services.planner;
    const turns = isSentenceAlone(input) ? modelTurns : undefined;
    const release = turns?.take(quotaKeysOf(context.caller, [context.workspace]));
    try {
      const plan = await planChange(context, {
        intent: intent ?? `Undo: ${revert}`,
        dryRun,
        history,
        changes: changes && parseChanges(changes),
        expectations,
        hold,
        revert: revert === undefined ? undefined : revertTargetOf(revert),
      });
      return planView(context, plan);
    } finally {
      release?.();
    }
  },
});

type Input = Partial<Record<'orders' | 'documents' | 'set' | 'delete' | 'changes' | 'revert' | 'intent', unknown>>;

function isOrdered({ orders, documents, set, delete: deleted }: Input): boolean {
  return [orders, documents, set, deleted].some((given) => given !== undefined);
}

/** Returns true where nothing but a sentence says what to change. */
function isSentenceAlone(input: Input): boolean {
  return input.intent !== undefined && !isOrdered(input) && (input.changes ?? input.revert) === undefined;
}

function documentsIn(text: string): unknown[] {
  const documents = readYaml(buildYaml(), text);
  requireDocumentCount(documents);
  return documents;
}

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
