import { z } from 'zod';
import { DELETE } from '../../core/base/operation.ts';
import { deletePeer as remove } from '../../core/peers/peers.ts';
import { addressedFields } from '../../core/state/expecting.ts';
import { currentPeer } from '../../core/views/peer-answer.ts';
import { defineOperation } from '../define.ts';
import { deletedAnswer } from '../resources/resource-fields.ts';

export const deletePeer = defineOperation({
  name: 'delete_peer',
  title: 'Delete a peer',
  description:
    'Removes a peer with its presence and token. Its address is given again last; its name and key are free.',
  input: z.strictObject({ ...addressedFields }),
  output: deletedAnswer,
  access: 'network:write',
  workspace: 'scoped',
  edition: 'community',
  effects: DELETE,
  addresses: 'MeshPeer',
  problems: ['not_found', 'conflict'],
  http: { method: 'delete', path: '/api/v1/peers/:id' },
  async run({ id }, context) {
    const { id: uid, name } = await currentPeer(context, id);
    await remove(context, uid);
    return { deleted: name };
  },
});
