import { z } from 'zod';
import { UPDATE } from '../../core/base/operation.ts';
import type { Op } from '../../core/base/ports.ts';
import type { ChangePlan } from '../../core/changes/changes.ts';
import { documentChanges } from '../../core/identity/apply.ts';
import { type AgentResult, applyAgents } from '../../core/identity/apply-agents.ts';
import { applyRules, type RuleResult } from '../../core/identity/apply-rules.ts';
import { submitChanges } from '../../core/workflow/submit.ts';
import { defineOperation } from '../define.ts';
import { answerOf } from '../submit.ts';
import { appliedItem, applyFields, documentAt, inDocuments, itemsOf, reasonOf } from './applied-items.ts';

export const applyResources = defineOperation({
  name: 'apply_resources',
  title: 'Apply resources',
  description:
    'Creates or updates policies, networks, rules for workloads, and labels and networks of peers, and makes agents, from several YAML or JSON documents. All of them or none. With prune the documents say all there is of some kinds: what else there is of them is deleted.',
  input: z.strictObject(applyFields),
  output: z.strictObject({
    items: z.array(appliedItem),
    revision: z.int().describe('The workspace is at this revision now'),
  }),
  columns: { Kind: 'kind', Name: 'name', Result: 'result' },
  access: 'network:write',
  workspace: 'scoped',
  edition: 'community',
  effects: UPDATE,
  confidential: { answer: true },
  problems: ['invalid_input', 'forbidden', 'not_found', 'conflict', 'payload_too_large'],
  http: { method: 'post', path: '/api/v1/apply', yamlField: 'manifest' },
  async run(input, context) {
    const asked = await documentChanges(context, input);
    const { changes, agents, agentPlaces, rules, rulePlaces } = asked;
    let applied: readonly AgentResult[] = [];
    let ruled: readonly RuleResult[] = [];
    const whole = async (ops: readonly Op[]) => {
      const made = await applyAgents(context, agents, (index) => documentAt(agentPlaces[index]));
      const ruling = await applyRules(context, rules, (index) => documentAt(rulePlaces[index]));
      [applied, ruled] = [made.applied, ruling.applied];
      const others = [...made.ops, ...ruling.ops];
      return others.length === 0 ? ops : [...ops, ...others];
    };
    const reason = (outcomes: ChangePlan['outcomes']) =>
      reasonOf('applied', asked, [...outcomes, ...ruled.map(({ name, result }) => ({ name, outcome: result }))]);
    const submitted = await inDocuments(asked, submitChanges(context, changes, reason, whole));
    return answerOf(submitted, ({ outcomes, after }) => {
      const items = itemsOf(asked, outcomes, applied, ruled);
      return { items, revision: after.revision };
    });
  },
});
