import { z } from 'zod';
import { UPDATE } from '../../core/base/operation.ts';
import { approvePeer as approve } from '../../core/peers/peers.ts';
import { addressedFields } from '../../core/state/expecting.ts';
import { currentPeer } from '../../core/views/peer-answer.ts';
import { peerSchema } from '../../core/views/peer-view.ts';
import { defineOperation } from '../define.ts';

export const approvePeer = defineOperation({
  name: 'approve_peer',
  title: 'Approve a peer',
  description: 'Lets a pending or revoked peer in: it gets an address and its network graph.',
  input: z.strictObject({ ...addressedFields }),
  output: peerSchema,
  access: 'peers:approve',
  workspace: 'scoped',
  edition: 'community',
  effects: UPDATE,
  addresses: 'MeshPeer',
  shows: 'MeshPeer',
  problems: ['not_found', 'conflict'],
  http: { method: 'post', path: '/api/v1/peers/:id/approve' },
  async run({ id }, context) {
    const { uid } = await approve(context, id);
    return currentPeer(context, uid);
  },
});
