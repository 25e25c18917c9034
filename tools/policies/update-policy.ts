import { z } from 'zod';
import { UPDATE } from '../../core/base/operation.ts';
import { resourceChange } from '../../core/changes/resource-input.ts';
import { findRecord } from '../../core/model/find.ts';
import { policyInputSchema } from '../../core/model/policy.ts';
import { addressedFields } from '../../core/state/expecting.ts';
import { policySchema, policyView } from '../../core/views/policy-view.ts';
import { defineOperation } from '../define.ts';
import { resourceFields, ttlField } from '../resources/resource-fields.ts';
import { answerOf, submitOne } from '../submitted.ts';

export const updatePolicy = defineOperation({
  name: 'update_policy',
  title: 'Replace a policy',
  description: 'Replaces the spec of a policy; labels and annotations stay unless they are sent.',
  input: z.strictObject({ ...addressedFields, ...resourceFields, spec: policyInputSchema.optional(), ttl: ttlField }),
  output: policySchema,
  access: 'network:write',
  workspace: 'scoped',
  edition: 'community',
  effects: UPDATE,
  addresses: 'MeshPolicy',
  shows: 'MeshPolicy',
  problems: ['invalid_input', 'not_found', 'conflict', 'payload_too_large'],
  http: { method: 'put', path: '/api/v1/policies/:id', yamlField: 'manifest' },
  async run({ id, ...input }, context) {
    const change = await resourceChange(context, 'MeshPolicy', input, id);
    const submitted = await submitOne(context, change, `updated policy ${change.name}`);
    return answerOf(submitted, ({ outcomes, after }) =>
      policyView(findRecord(after.policies, 'policy', outcomes[0]?.name ?? ''), after, context.services.clock.now()),
    );
  },
});
