import { z } from 'zod';
import { schemaNames } from '../../core/base/schema-names.ts';
import { formatInstant } from '../../core/base/time.ts';
import { effectView } from '../../core/effect/effect-view.ts';
import { MAX_ORDERS, orderInputSchema } from '../../core/intent/orders/order.ts';
import { MAX_NAMED, MAX_TOLD } from '../../core/intent/orders/order-result.ts';
import { orderInputsOf } from '../../core/intent/orders/order-view.ts';
import { CHECKS, READERS } from '../../core/intent/plan/check.ts';
import { alreadyText } from '../../core/intent/plan/diff-markdown.ts';
import type { ProposedPlan } from '../../core/intent/plan/plan.ts';
import { RISK_LEVELS } from '../../core/intent/verify/risk-table.ts';
import { needsAnotherPerson } from '../../core/workflow/approvers.ts';

export const riskLevel = z.enum(RISK_LEVELS);

export const changeSchema = z.strictObject({
  action: z.enum(['create', 'update', 'delete']),
  resource: z.string(),
  name: z.string(),
  before: z.string().describe('YAML; empty for a creation'),
  after: z.string().describe('YAML; empty for a deletion'),
});

const row = z.strictObject({
  src: z.string().describe('A peer; or addresses that are no peer: a CIDR, or outside for all, with what is left out'),
  dst: z.string(),
  protocol: z.string(),
  from: z.int().nullable(),
  to: z.int().nullable(),
});

const route = z.strictObject({
  text: z.string(),
  network: z.string(),
  block: z.string().describe('Block that nodes route from then on'),
  block_before: z.string().nullable(),
  peers: z.int(),
  is_public: z.boolean(),
});

export const effectSchema = z
  .strictObject({
    routes: z.array(route).optional().describe('Route changes, public blocks first'),
    opened: z.array(row),
    closed: z.array(row),
    opened_pairs: z.int().describe('Pairs of peers'),
    closed_pairs: z.int(),
    opened_outside: z.int().optional().describe('Pairs of a peer and a CIDR or outside'),
    closed_outside: z.int().optional(),
    unchanged_count: z.int().describe('Pairs that may talk before and after alike'),
    omitted: z.int().describe('Rows left out'),
  })
  .register(schemaNames, { name: 'Effect' });

export const readBy = z.enum(READERS).describe('Who turned the intent into the change');

export const check = z.enum(CHECKS).describe('The effect against what the built-in reader understood, if it did');

export const expectationsHold = z
  .boolean()
  .nullable()
  .describe("Whether the caller's orders and hold are met; null without any");

/** `both_ways` makes two of one. */
export const orders = z
  .array(orderInputSchema)
  .max(2 * MAX_ORDERS)
  .optional()
  .describe('Orders from which code wrote the changes');

/** A plan as answers show it. */
export const planSchema = z.strictObject({
  plan_id: z.string(),
  summary: z.string(),
  orders,
  read_by: readBy,
  reading: z.string().describe('What whoever read it says of it, not checked'),
  risk_level: riskLevel,
  risk_reasons: z.array(z.string()),
  verified: z.boolean().describe('The effect matches the intent, and nothing speaks against it'),
  check,
  expectations_hold: expectationsHold,
  unmet: z.array(z.string()).describe('What speaks against it: with any, applying it needs intents:override'),
  effect: effectSchema,
  changes: z.array(changeSchema),
  warnings: z.array(z.string()),
  questions: z.array(z.string()),
  diff_markdown: z.string(),
  base_revision: z.int(),
  expires_at: z.string(),
  dry_run: z.boolean(),
  not_changed: z
    .array(z.string())
    .max(MAX_TOLD)
    .optional()
    .describe('What stays otherwise than ordered, and the stage that holds it'),
  already: z.literal(true).optional().describe('It is so already, as far as it can be: nothing to apply'),
  made_so_by: z
    .array(z.string())
    .max(MAX_NAMED)
    .optional()
    .describe('Policies that make it so; none where it is the default'),
  undo: z.array(orderInputSchema).max(MAX_ORDERS).optional().describe('Orders that bring back who could reach whom'),
  another_person: z.literal(true).optional().describe('You may not approve it'),
});

export async function planView(
  context: Parameters<typeof needsAnotherPerson>[0],
  { id, spec, assessment, already, undo, isKept, isTooLarge }: ProposedPlan,
): Promise<z.input<typeof planSchema>> {
  const { notChanged } = assessment;
  const { objections, risk, effect, shown, warnings, diffMarkdown } = assessment;
  const shownEffect = effectView(effect);
  const judged = { ...assessment, effect: shownEffect };
  return {
    plan_id: id,
    summary: spec.summary,
    ...(spec.orders?.length && { orders: orderInputsOf(spec.orders, assessment.state) }),
    read_by: assessment.view.readBy,
    reading: assessment.view.sentence,
    risk_level: risk.level,
    risk_reasons: [...risk.reasons],
    verified: assessment.check === 'matches' && objections.length === 0,
    check: assessment.check,
    expectations_hold: assessment.expectationsHold ?? null,
    unmet: [...objections],
    effect: shownEffect,
    changes: [...shown],
    warnings: isTooLarge ? [TOO_LARGE, ...warnings] : [...warnings],
    questions: questionsOf(assessment.view.beyondNamed, spec.questions),
    diff_markdown: (already ? alreadyText(already) : '') + diffMarkdown + (spec.words ?? ''),
    base_revision: spec.baseRevision,
    expires_at: formatInstant(spec.expiresAt),
    dry_run: !isKept,
    ...(notChanged && { not_changed: [...notChanged] }),
    ...(already && { already: true as const, made_so_by: [...already] }),
    ...(undo && { undo: [...undo] }),
    ...((await needsAnotherPerson(context, judged)) && { another_person: true as const }),
  };
}

const TOO_LARGE = 'the plan is too large to be kept, so it cannot be applied: plan it in smaller parts';

/** Returns the questions that the approver of a plan answers. */
export function questionsOf(beyondNamed: readonly string[], asked: readonly string[] = []): string[] {
  return [...beyondNamed.map((text) => `Is it meant that ${text}?`), ...asked];
}

/** Said in the Markdown, which is as short as they are long. */
const IN_MARKDOWN = new Set(['summary', 'orders', 'risk_reasons', 'verified', 'unmet', 'changes', 'warnings']);

export function briefPlan(plan: z.output<typeof planSchema>): Record<string, unknown> {
  const { opened: _opened, closed: _closed, ...counts } = plan.effect;
  const fields = Object.entries(plan).filter(([name]) => !IN_MARKDOWN.has(name));
  return Object.fromEntries(fields.map(([name, value]) => [name, name === 'effect' ? counts : value]));
}
