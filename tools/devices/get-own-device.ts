import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { ownPeer } from '../../core/enrolment/own-device.ts';
import { peerView, viewOfPeer } from '../../core/views/peer-view.ts';
import { defineOperation } from '../define.ts';

export const getOwnDevice = defineOperation({
  name: 'get_own_device',
  title: 'Show this device',
  description: 'The peer of the device whose token is sent.',
  input: z.strictObject({}),
  output: peerView,
  access: 'device',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['not_found'],
  http: { method: 'get', path: '/api/v1/devices/self' },
  async run(_input, context) {
    const { peer, state } = await ownPeer(context);
    return viewOfPeer(peer, state, context.services.liveness);
  },
});
