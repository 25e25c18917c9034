import { z } from 'zod';
import { policyInputSchema } from '../../core/model/policy.ts';
import { addressedFields } from '../../core/state/expecting.ts';
import { defineOperation } from '../define.ts';
import { resourceFields, ttlField } from '../resources/resource-fields.ts';
import { policyWrites } from './policy-writes.ts';

export const updatePolicy = defineOperation({
  name: 'update_policy',
  title: 'Replace a policy',
  description: 'Replaces the spec of a policy; labels and annotations stay unless they are sent.',
  input: z.strictObject({ ...addressedFields, ...resourceFields, spec: policyInputSchema.optional(), ttl: ttlField }),
  ...policyWrites.update,
});
