import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { code } from '../../core/effect/markdown.ts';
import { documentChanges } from '../../core/identity/apply.ts';
import { applyAgents } from '../../core/identity/apply-agents.ts';
import { applyRules } from '../../core/identity/apply-rules.ts';
import { changesText, type ShownChange } from '../../core/intent/plan/diff-markdown.ts';
import { previewChanges } from '../../core/workflow/preview.ts';
import { defineOperation } from '../define.ts';
import { changeSchema, effectSchema, riskLevel } from '../intents/plan-view.ts';
import { appliedItem, applyFields, documentAt, inDocuments, itemsOf, reasonOf } from './applied-items.ts';

export const previewResources = defineOperation({
  name: 'preview_resources',
  title: 'Preview what applying resources would change',
  description:
    'Says of the documents that apply takes what would be created, updated and deleted, which connections that opens and closes, and who would have to approve. Refuses what apply would refuse; writes nothing.',
  input: z.strictObject(applyFields),
  output: z.strictObject({
    items: z.array(appliedItem.omit({ token: true, enrollmentToken: true, expiresAt: true, joinToken: true })),
    revision: z.int().describe('Of the workspace that it was compared with'),
    would_change: z.boolean(),
    changes: z.array(changeSchema),
    effect: effectSchema,
    connections: z
      .array(
        z.strictObject({
          change: z.enum(['opened', 'closed']),
          src: z.array(z.string()).readonly(),
          dst: z.array(z.string()).readonly().describe('Each src to each of them other than itself'),
          ports: z.string(),
        }),
      )
      .readonly()
      .describe('The effect whole, by what changes alike'),
    omitted_connections: z.int().describe('Left out of connections where they name too many'),
    risk_level: riskLevel,
    risk_reasons: z.array(z.string()),
    warnings: z.array(z.string()),
    waits_for: z.array(z.string()).describe('Why a person would have to approve it first; none: it is made at once'),
    diff_markdown: z.string(),
  }),
  columns: { Kind: 'kind', Name: 'name', Result: 'result' },
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['invalid_input', 'forbidden', 'beyond_delegation', 'not_found', 'conflict', 'policy_assertion_failed'],
  http: { method: 'post', path: '/api/v1/apply/preview', yamlField: 'manifest' },
  async run(input, context) {
    const asked = await documentChanges(context, input);
    const { changes, agents, agentPlaces, rulePlaces } = asked;
    const made = await inDocuments(
      asked,
      applyAgents(context, agents, (index) => documentAt(agentPlaces[index])),
    );
    const rules = await inDocuments(
      asked,
      applyRules(context, asked.rules, (index) => documentAt(rulePlaces[index])),
    );
    const { assessment, waitsFor } = await inDocuments(
      asked,
      previewChanges(context, changes, reasonOf('would apply', asked), [...made.ops, ...rules.ops]),
    );
    const { outcomes, readSet, shown, effect, risk, warnings, diffMarkdown } = assessment;
    const items = itemsOf(
      asked,
      outcomes,
      made.applied.map(({ name, result }) => ({ name, result })),
      rules.applied.map(({ name, result }) => ({ name, result })),
    );
    return {
      items,
      revision: readSet.revision,
      would_change: items.some(({ result }) => result !== 'unchanged' && result !== 'ended'),
      changes: [...shown, ...rules.changes],
      effect,
      connections: assessment.blocks?.blocks ?? [],
      omitted_connections: assessment.blocks?.omitted ?? 0,
      risk_level: risk.level,
      risk_reasons: [...risk.reasons],
      warnings: [...warnings],
      waits_for: [...waitsFor],
      diff_markdown: [
        ...(rules.changes.length > 0 ? [`# ${rulesTitle(rules.changes)}`, ''] : []),
        ...(rules.changes.length === 0 || shown.length > 0 ? [diffMarkdown] : []),
        ...(rules.changes.length > 0 ? changesText(rules.changes, 'Rules for workloads') : []),
      ].join('\n'),
    };
  },
});

const VERBS = { create: 'adds', update: 'changes', delete: 'removes' } as const;

/** `Rules for workloads: adds ci; removes old`. */
function rulesTitle(changes: readonly Pick<ShownChange, 'action' | 'name'>[]): string {
  const texts = Object.entries(VERBS).flatMap(([action, verb]) => {
    const names = changes.filter((change) => change.action === action).map(({ name }) => code(name));
    return names.length === 0 ? [] : [`${verb} ${names.join(', ')}`];
  });
  return `Rules for workloads: ${texts.join('; ')}`;
}
