import { z } from 'zod';
import { appliedChanges } from '../core/network/apply.ts';
import { MAX_DOCUMENTS } from '../core/network/manifest.ts';
import { UPDATE } from '../core/operation.ts';
import { TEXT_LIMITS } from '../core/text.ts';
import { submitChanges } from '../core/workflow/submit.ts';
import { defineOperation } from './define.ts';
import { answerOf, pointingAt } from './submitted.ts';

export const applyResources = defineOperation({
  name: 'apply_resources',
  title: 'Apply resources',
  description:
    'Creates or updates policies and networks, and labels and networks of peers, from several YAML or JSON documents. All of them or none.',
  input: z.strictObject({
    manifest: z
      .string()
      .max(TEXT_LIMITS.manifest)
      .optional()
      .describe('YAML documents; also by Content-Type: application/yaml'),
    documents: z.array(z.unknown()).max(MAX_DOCUMENTS).optional().describe('Custom resource objects'),
  }),
  output: z.strictObject({
    items: z.array(
      z.strictObject({
        kind: z.string(),
        name: z.string(),
        result: z.enum(['created', 'updated', 'unchanged', 'deleted']),
      }),
    ),
    revision: z.int().describe('The workspace is at this revision now'),
  }),
  access: 'network:write',
  workspace: 'scoped',
  edition: 'community',
  effects: UPDATE,
  problems: ['invalid_input', 'not_found', 'conflict', 'payload_too_large'],
  http: { method: 'post', path: '/api/v1/apply', yamlField: 'manifest' },
  async run(input, context) {
    const changes = await appliedChanges(context, input);
    const reason = `applied ${changes.length} ${changes.length === 1 ? 'document' : 'documents'}`;
    const submitted = await pointingAt((index) => `/documents/${index}`, submitChanges(context, changes, reason));
    return answerOf(submitted, ({ outcomes, after }) => ({
      items: outcomes.map(({ name, outcome }, index) => ({
        kind: changes[index]?.resource ?? '',
        name,
        result: outcome,
      })),
      revision: after.revision,
    }));
  },
});
