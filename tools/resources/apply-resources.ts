import { z } from 'zod';
import { UPDATE } from '../../core/base/operation.ts';
import { TEXT_LIMITS } from '../../core/base/text.ts';
import { MAX_DOCUMENTS } from '../../core/changes/manifest.ts';
import { appliedDocuments } from '../../core/identity/apply.ts';
import { type AppliedAgent, applyAgents } from '../../core/identity/apply-agents.ts';
import { submitChanges } from '../../core/workflow/submit.ts';
import { defineOperation } from '../define.ts';
import { answerOf, pointingAt } from '../submitted.ts';

const item = z.strictObject({
  kind: z.string(),
  name: z.string(),
  result: z.enum(['created', 'updated', 'unchanged', 'deleted']),
  token: z.string().optional().describe('Of a root agent that was made: its token, shown this once'),
  enrollmentToken: z.string().optional().describe('Of a sub-agent that was made: with it the agent enrols, once'),
  expiresAt: z.string().optional().describe('Of an agent that was made: when it ends'),
});

export const applyResources = defineOperation({
  name: 'apply_resources',
  title: 'Apply resources',
  description:
    'Creates or updates policies and networks, and labels and networks of peers, and makes agents, from several YAML or JSON documents. All of them or none.',
  input: z.strictObject({
    manifest: z
      .string()
      .max(TEXT_LIMITS.manifest)
      .optional()
      .describe('YAML documents; also by Content-Type: application/yaml'),
    documents: z.array(z.unknown()).max(MAX_DOCUMENTS).optional().describe('Custom resource objects'),
  }),
  output: z.strictObject({
    items: z.array(item),
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
    const { changes, changePlaces, agents, agentPlaces } = await appliedDocuments(context, input);
    const count = changes.length + agents.length;
    let applied: readonly AppliedAgent[] = [];
    const besides = async () => {
      const asked = await applyAgents(context, agents, (index) => `/documents/${agentPlaces[index]}`);
      applied = asked.applied;
      return asked.ops;
    };
    const submitted = await pointingAt(
      (index) => `/documents/${changePlaces[index]}`,
      submitChanges(context, changes, `applied ${count} ${count === 1 ? 'document' : 'documents'}`, besides),
    );
    return answerOf(submitted, ({ outcomes, after }) => {
      const items = [
        ...outcomes.map(({ name, outcome }, index) => ({
          place: changePlaces[index] ?? 0,
          item: { kind: changes[index]?.resource ?? '', name, result: outcome },
        })),
        ...applied.map((agent, index) => ({
          place: agentPlaces[index] ?? 0,
          item: { kind: 'AgentIdentity', ...agent },
        })),
      ];
      return {
        items: items.toSorted((a, b) => a.place - b.place).map(({ item }) => item),
        revision: after.revision,
      };
    });
  },
});
