import { READ } from '../../core/base/operation.ts';
import { simulate, simulateInputSchema, simulateOutputSchema } from '../../core/reachability/simulate.ts';
import { defineHeavyOperation } from '../define.ts';

export const simulateConnectivity = defineHeavyOperation({
  name: 'simulate_connectivity',
  title: 'Simulate connectivity',
  description:
    'Who may reach whom in a network given in the request; `sources` narrows a long answer. Stores nothing and reads nothing.',
  input: simulateInputSchema,
  output: simulateOutputSchema,
  access: 'network:read',
  workspace: 'any',
  edition: 'community',
  effects: READ,
  cost: 'heavy',
  problems: ['invalid_input', 'payload_too_large'],
  http: { method: 'post', path: '/api/v1/connectivity/simulate' },
  run: async (input, { services }) => simulate(input, services.clock.now()),
});
