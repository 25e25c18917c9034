import { z } from 'zod';
import { DELETE } from '../../core/base/operation.ts';
import { addressedFields } from '../../core/state/expecting.ts';
import { defineOperation } from '../define.ts';
import { deletedAnswer } from '../resources/resource-fields.ts';
import { submitDeletion } from '../submitted.ts';

export const deletePolicy = defineOperation({
  name: 'delete_policy',
  title: 'Delete a policy',
  description: 'Deletes an access policy. What it alone allowed or denied changes at once.',
  input: z.strictObject({ ...addressedFields }),
  output: deletedAnswer,
  access: 'network:write',
  workspace: 'scoped',
  edition: 'community',
  effects: DELETE,
  addresses: 'MeshPolicy',
  problems: ['not_found', 'conflict'],
  http: { method: 'delete', path: '/api/v1/policies/:id' },
  run: ({ id }, context) => submitDeletion(context, 'MeshPolicy', id, `deleted policy ${id}`),
});
