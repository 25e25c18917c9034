import { z } from 'zod';
import { DELETE } from '../../core/base/operation.ts';
import { addressedFields } from '../../core/state/expecting.ts';
import { defineOperation } from '../define.ts';
import { deletedAnswer } from '../resources/resource-fields.ts';
import { submitDeletion } from '../submitted.ts';

export const deleteNetwork = defineOperation({
  name: 'delete_network',
  title: 'Delete a network',
  description: 'Deletes a network that has no peers and that no policy names.',
  input: z.strictObject({ ...addressedFields }),
  output: deletedAnswer,
  access: 'network:write',
  workspace: 'scoped',
  edition: 'community',
  effects: DELETE,
  addresses: 'MeshNetwork',
  problems: ['not_found', 'conflict'],
  http: { method: 'delete', path: '/api/v1/networks/:id' },
  run: ({ id }, context) => submitDeletion(context, 'MeshNetwork', id, `deleted network ${id}`),
});
