import { z } from 'zod';
import { DELETE } from '../../core/base/operation.ts';
import { ownPeer } from '../../core/enrolment/own-device.ts';
import { deletePeer } from '../../core/peers/peers.ts';
import { defineOperation } from '../define.ts';
import { deletedAnswer } from '../resources/resource-fields.ts';

export const leaveNetwork = defineOperation({
  name: 'leave_network',
  title: 'Leave the network',
  description: 'Removes the device that calls. Its token ends.',
  input: z.strictObject({}),
  output: deletedAnswer,
  access: 'device',
  workspace: 'scoped',
  edition: 'community',
  effects: DELETE,
  problems: ['not_found', 'conflict'],
  http: { method: 'delete', path: '/api/v1/devices/self' },
  async run(_input, context) {
    const { peer } = await ownPeer(context);
    await deletePeer(context, peer.uid);
    return { deleted: peer.name };
  },
});
