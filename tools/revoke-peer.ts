import { z } from 'zod';
import { addressedFields } from '../core/expected-revision.ts';
import { peerNow } from '../core/network/peer-answer.ts';
import { peerView } from '../core/network/peer-view.ts';
import { revokePeer as revoke } from '../core/network/peers.ts';
import { DELETE } from '../core/operation.ts';
import { defineOperation } from './define.ts';

export const revokePeer = defineOperation({
  name: 'revoke_peer',
  title: 'Revoke a peer',
  description: 'Shuts a peer out at once: its token is refused and no other peer hears it. Approval lets it in again.',
  input: z.strictObject({ ...addressedFields }),
  output: peerView,
  access: 'peers:approve',
  workspace: 'scoped',
  edition: 'community',
  effects: DELETE,
  addresses: 'MeshPeer',
  shows: 'MeshPeer',
  problems: ['not_found', 'conflict'],
  http: { method: 'post', path: '/api/v1/peers/:id/revoke' },
  async run({ id }, context) {
    const { uid } = await revoke(context, id);
    return peerNow(context, uid);
  },
});
