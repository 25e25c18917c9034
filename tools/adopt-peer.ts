import { z } from 'zod';
import { peerNow } from '../core/network/peer-answer.ts';
import { peerView } from '../core/network/peer-view.ts';
import { adoptPeer as adopt } from '../core/network/peers.ts';
import { UPDATE } from '../core/operation.ts';
import { defineOperation } from './define.ts';
import { idField } from './resource-fields.ts';

export const adoptPeer = defineOperation({
  name: 'adopt_peer',
  title: 'Adopt a peer',
  description:
    'Makes a peer that came with the join token of an agent an ordinary peer: it stays when the agent ends, and the reach of the agent bounds it no more. Only a signed-in person may.',
  input: z.strictObject({ id: idField }),
  output: peerView,
  access: 'peers:approve',
  workspace: 'scoped',
  edition: 'community',
  effects: UPDATE,
  problems: ['not_found', 'conflict', 'policy_assertion_failed'],
  http: { method: 'post', path: '/api/v1/peers/:id/adopt' },
  async run({ id }, context) {
    const { uid } = await adopt(context, id);
    return peerNow(context, uid);
  },
});
