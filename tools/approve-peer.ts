import { z } from 'zod';
import { addressedFields } from '../core/expected-revision.ts';
import { peerNow } from '../core/network/peer-answer.ts';
import { peerView } from '../core/network/peer-view.ts';
import { approvePeer as approve } from '../core/network/peers.ts';
import { UPDATE } from '../core/operation.ts';
import { defineOperation } from './define.ts';

export const approvePeer = defineOperation({
  name: 'approve_peer',
  title: 'Approve a peer',
  description: 'Lets a pending or revoked peer in: it gets an address and its network graph.',
  input: z.strictObject({ ...addressedFields }),
  output: peerView,
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
    return peerNow(context, uid);
  },
});
