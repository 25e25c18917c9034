import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { resourceChange } from '../../core/changes/resource-input.ts';
import { findRecord } from '../../core/model/find.ts';
import { policyInputSchema } from '../../core/model/policy.ts';
import { policySchema, policyView } from '../../core/views/policy-view.ts';
import { defineOperation } from '../define.ts';
import { resourceFields, ttlField } from '../resources/resource-fields.ts';
import { answerOf, submitOne } from '../submitted.ts';

export const createPolicy = defineOperation({
  name: 'create_policy',
  title: 'Create a policy',
  description: 'Creates an access policy, from JSON fields, a custom resource object, or YAML.',
  input: z.strictObject({ ...resourceFields, spec: policyInputSchema.optional(), ttl: ttlField }),
  output: policySchema,
  access: 'network:write',
  workspace: 'scoped',
  edition: 'community',
  effects: CREATE,
  shows: 'MeshPolicy',
  problems: ['invalid_input', 'conflict', 'payload_too_large'],
  http: { method: 'post', path: '/api/v1/policies', status: 201, yamlField: 'manifest' },
  async run(input, context) {
    const change = await resourceChange(context, 'MeshPolicy', input);
    const submitted = await submitOne(context, change, `created policy ${change.name}`);
    return answerOf(submitted, ({ outcomes, after }) =>
      policyView(findRecord(after.policies, 'policy', outcomes[0]?.name ?? ''), after, context.services.clock.now()),
    );
  },
});
