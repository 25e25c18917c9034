import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { ownPeer } from '../../core/enrolment/own-device.ts';
import { peerSchema, peerView } from '../../core/views/peer-view.ts';
import { defineOperation } from '../define.ts';

export const getOwnDevice = defineOperation({
  name: 'get_own_device',
  title: 'Show this device',
  description: 'The peer of the device whose token is sent.',
  input: z.strictObject({}),
  output: peerSchema,
  access: 'device',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['not_found'],
  http: { method: 'get', path: '/api/v1/devices/self' },
  async run(_input, context) {
    const { peer, state } = await ownPeer(context);
    return peerView(peer, state, context.services.liveness);
  },
});
