import { z } from 'zod';
import { nameSchema } from '../core/network/manifest.ts';
import { ownPeer } from '../core/network/own-device.ts';
import { peerNow } from '../core/network/peer-answer.ts';
import { peerView } from '../core/network/peer-view.ts';
import { renamePeer } from '../core/network/peers.ts';
import { UPDATE } from '../core/operation.ts';
import { defineOperation } from './define.ts';

export const renameOwnDevice = defineOperation({
  name: 'rename_own_device',
  title: 'Rename this device',
  description: 'Gives the device another name. A device never sets its own labels or network.',
  input: z.strictObject({ name: nameSchema }),
  output: peerView,
  access: 'device',
  workspace: 'scoped',
  edition: 'community',
  effects: UPDATE,
  problems: ['invalid_input', 'not_found', 'conflict', 'policy_assertion_failed'],
  http: { method: 'patch', path: '/api/v1/devices/self' },
  async run({ name }, context) {
    const { peer } = await ownPeer(context);
    await renamePeer(context, peer.uid, name);
    return peerNow(context, peer.uid);
  },
});
