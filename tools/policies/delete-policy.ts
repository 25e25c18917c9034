import { defineOperation } from '../define.ts';
import { policyWrites } from './policy-writes.ts';

export const deletePolicy = defineOperation({
  name: 'delete_policy',
  title: 'Delete a policy',
  description: 'Deletes an access policy. What it alone allowed or denied changes at once.',
  ...policyWrites.delete,
});
