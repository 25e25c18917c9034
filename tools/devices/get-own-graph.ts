import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { ownGraph } from '../../core/enrolment/own-device.ts';
import { fullGraphShape } from '../../core/model/graph.ts';
import { defineOperation } from '../define.ts';
import { schemaOf } from '../schema-of.ts';

export const getOwnGraph = defineOperation({
  name: 'get_own_graph',
  title: 'Get the network graph of this device',
  description:
    'The peers this device has to do with, the firewall rules it enforces, and its relay. Never an empty map.',
  input: z.strictObject({}),
  output: schemaOf(fullGraphShape),
  access: 'device',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['peer_pending', 'forbidden', 'not_found'],
  http: { method: 'get', path: '/api/v1/devices/self/graph' },
  run: (_input, context) => ownGraph(context),
});
