import { deleteAssertion as remove } from '../../core/assertions/manage.ts';
import { defineOperation } from '../define.ts';
import { assertionWrites } from './assertion-writes.ts';

export const deleteAssertion = defineOperation({
  name: 'delete_assertion',
  title: 'Delete an assertion',
  description: 'Deletes a standing assertion. Nothing opens or closes by it; changes that it stopped become possible.',
  ...assertionWrites.delete,
  async run({ id }, context) {
    return { deleted: await remove(context, id) };
  },
});
