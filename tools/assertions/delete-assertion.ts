import { z } from 'zod';
import { deleteAssertion as remove } from '../../core/assertions/manage.ts';
import { DELETE } from '../../core/base/operation.ts';
import { addressedFields } from '../../core/state/expecting.ts';
import { defineOperation } from '../define.ts';
import { deletedAnswer } from '../resources/resource-fields.ts';

export const deleteAssertion = defineOperation({
  name: 'delete_assertion',
  title: 'Delete an assertion',
  description: 'Deletes a standing assertion. Nothing opens or closes by it; changes that it stopped become possible.',
  input: z.strictObject({ ...addressedFields }),
  output: deletedAnswer,
  access: 'network:write',
  workspace: 'scoped',
  edition: 'community',
  effects: DELETE,
  addresses: 'PolicyAssertion',
  problems: ['not_found', 'conflict'],
  http: { method: 'delete', path: '/api/v1/assertions/:id' },
  async run({ id }, context) {
    return { deleted: await remove(context, id) };
  },
});
