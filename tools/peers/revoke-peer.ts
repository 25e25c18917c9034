import { z } from 'zod';
import { DELETE } from '../../core/base/operation.ts';
import { revokePeer as revoke } from '../../core/peers/peers.ts';
import { addressedFields } from '../../core/state/expecting.ts';
import { currentPeer } from '../../core/views/peer-answer.ts';
import { peerSchema } from '../../core/views/peer-view.ts';
import { defineOperation } from '../define.ts';

export const revokePeer = defineOperation({
  name: 'revoke_peer',
  title: 'Revoke a peer',
  description: 'Shuts a peer out at once: its token is refused and no other peer hears it. Approval lets it in again.',
  input: z.strictObject({ ...addressedFields }),
  output: peerSchema,
  access: 'peers:approve',
  workspace: 'scoped',
  edition: 'community',
  effects: DELETE,
  addresses: 'MeshPeer',
  shows: 'MeshPeer',
  whenFull: 'works',
  problems: ['not_found', 'conflict'],
  http: { method: 'post', path: '/api/v1/peers/:id/revoke' },
  async run({ id }, context) {
    const { uid } = await revoke(context, id);
    return currentPeer(context, uid);
  },
});
