import { z } from 'zod';
import { changeInputSchema, MAX_CHANGES, parseChanges } from '../core/intent/change-input.ts';
import { viewOfEffect } from '../core/intent/effect-view.ts';
import { planNetworkChange as planChange } from '../core/intent/plan.ts';
import { CREATE } from '../core/operation.ts';
import { formatInstant } from '../core/time.ts';
import { defineOperation } from './define.ts';
import { effectFields, effectFieldsOf, riskLevel, shownChange } from './plan-fields.ts';

const MAX_INTENT = 2_000;

export const planNetworkChange = defineOperation({
  name: 'plan_network_change',
  title: 'Plan a network change',
  description:
    'Preview a change from plain language: what it would open and close, and its risk. Executes nothing. Pass `changes` to write them yourself. Then use apply_network_change.',
  input: z.strictObject({
    intent: z
      .string()
      .trim()
      .min(1)
      .max(MAX_INTENT)
      .describe('e.g. let the web servers reach the database on port 5432 and nobody else'),
    dry_run: z.boolean().default(false).describe('Preview only: the plan cannot be applied'),
    changes: z.array(changeInputSchema).min(1).max(MAX_CHANGES).optional(),
  }),
  output: z.strictObject({
    plan_id: z.string(),
    summary: z.string(),
    risk_level: riskLevel,
    risk_reasons: z.array(z.string()),
    verified: z.boolean().describe('Whether the effect is what was asked for'),
    unmet: z.array(z.string()).describe('What is not achieved'),
    effect: effectFields,
    changes: z.array(shownChange),
    warnings: z.array(z.string()),
    diff_markdown: z.string(),
    base_revision: z.int(),
    expires_at: z.string(),
    dry_run: z.boolean(),
  }),
  access: 'intents:plan',
  workspace: 'scoped',
  edition: 'pro',
  effects: CREATE,
  problems: ['invalid_input', 'intent_not_understood', 'not_found', 'conflict'],
  http: { method: 'post', path: '/api/v1/ai/intent/plan' },
  async run({ intent, dry_run: dryRun, changes }, context) {
    const typed = changes && parseChanges(changes);
    const { id, spec, assessment } = await planChange(context, { intent, dryRun, changes: typed });
    return {
      plan_id: id,
      summary: spec.summary,
      risk_level: assessment.risk.level,
      risk_reasons: [...assessment.risk.reasons],
      verified: assessment.unmet.length === 0,
      unmet: assessment.unmet.map(({ detail }) => detail),
      effect: effectFieldsOf(viewOfEffect(assessment.effect)),
      changes: [...assessment.shown],
      warnings: [...assessment.warnings],
      diff_markdown: assessment.diffMarkdown,
      base_revision: spec.baseRevision,
      expires_at: formatInstant(spec.expiresAt),
      dry_run: dryRun,
    };
  },
});
