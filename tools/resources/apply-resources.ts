import { z } from 'zod';
import { UPDATE } from '../../core/base/operation.ts';
import type { Op } from '../../core/base/ports.ts';
import type { ChangePlan } from '../../core/changes/changes.ts';
import { documentChanges } from '../../core/identity/apply.ts';
import { type AgentResult, applyAgents } from '../../core/identity/apply-agents.ts';
import { submitChanges } from '../../core/workflow/submit.ts';
import { defineOperation } from '../define.ts';
import { answerOf } from '../submit.ts';
import { appliedItem, applyFields, documentAt, inDocuments, itemsOf, reasonOf } from './applied-items.ts';

export const applyResources = defineOperation({
  name: 'apply_resources',
  title: 'Apply resources',
  description:
    'Creates or updates policies and networks, and labels and networks of peers, and makes agents, from several YAML or JSON documents. All of them or none. With prune the documents say all there is: the other policies or networks are deleted.',
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
    const { changes, agents, agentPlaces } = asked;
    let applied: readonly AgentResult[] = [];
    const whole = async (ops: readonly Op[]) => {
      const made = await applyAgents(context, agents, (index) => documentAt(agentPlaces[index]));
      applied = made.applied;
      return made.ops.length === 0 ? ops : [...ops, ...made.ops];
    };
    const reason = (outcomes: ChangePlan['outcomes']) => reasonOf('applied', asked, outcomes);
    const submitted = await inDocuments(asked, submitChanges(context, changes, reason, whole));
    return answerOf(submitted, ({ outcomes, after }) => {
      const items = itemsOf(asked, outcomes, applied);
      return { items, revision: after.revision };
    });
  },
});
