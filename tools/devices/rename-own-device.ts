import { z } from 'zod';
import { UPDATE } from '../../core/base/operation.ts';
import { nameSchema } from '../../core/changes/manifest.ts';
import { ownPeer } from '../../core/enrolment/own-device.ts';
import { renameOwnPeer } from '../../core/peers/peers.ts';
import { currentPeer } from '../../core/views/peer-answer.ts';
import { peerSchema } from '../../core/views/peer-view.ts';
import { defineOperation } from '../define.ts';

export const renameOwnDevice = defineOperation({
  name: 'rename_own_device',
  title: 'Rename this device',
  description:
    'Gives the device another name; where the workspace has requireApproval, once a person has approved it. A device never sets its own labels or network.',
  input: z.strictObject({ name: nameSchema }),
  output: peerSchema,
  access: 'device',
  workspace: 'scoped',
  edition: 'community',
  effects: UPDATE,
  mayWait: true,
  problems: ['invalid_input', 'peer_pending', 'not_found', 'conflict', 'policy_assertion_failed'],
  http: { method: 'patch', path: '/api/v1/devices/self' },
  async run({ name }, context) {
    const { peer } = await ownPeer(context);
    await renameOwnPeer(context, peer.uid, name);
    return currentPeer(context, peer.uid);
  },
});
