import { z } from 'zod';
import { policyInputSchema } from '../../core/model/policy.ts';
import { defineOperation } from '../define.ts';
import { resourceFields, ttlField } from '../resources/resource-fields.ts';
import { policyWrites } from './policy-writes.ts';

export const createPolicy = defineOperation({
  name: 'create_policy',
  title: 'Create a policy',
  description: 'Creates an access policy, from JSON fields, a custom resource object, or YAML.',
  input: z.strictObject({ ...resourceFields, spec: policyInputSchema.optional(), ttl: ttlField }),
  ...policyWrites.create,
});
