import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { busAccess } from '../../core/enrolment/own-device.ts';
import { defineOperation } from '../define.ts';

export const getBusAccess = defineOperation({
  name: 'get_bus_access',
  title: 'Show how this device gets to the bus',
  description: 'Where the bus is now, and what the device signs in with where the bus knows nodes by a key.',
  input: z.strictObject({}),
  output: z.strictObject({
    signalingUrl: z.string(),
    busJwt: z.string().optional().describe('User JWT of NATS for 24 hours, of use to who holds the key of the device'),
  }),
  access: 'device',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['forbidden', 'not_found'],
  http: { method: 'get', path: '/api/v1/devices/self/bus' },
  run: (_input, context) => busAccess(context),
});
