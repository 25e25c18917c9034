import { READ } from '../core/operation.ts';
import { simulate, simulateInputSchema, simulateOutputSchema } from '../core/reachability/simulate.ts';
import { defineOperation } from './define.ts';

export const simulateConnectivity = defineOperation({
  name: 'simulate_connectivity',
  title: 'Simulate connectivity',
  description: 'Who may reach whom in a network given in the request. Stores nothing and reads nothing.',
  input: simulateInputSchema,
  output: simulateOutputSchema,
  access: 'authenticated',
  workspace: 'none',
  edition: 'community',
  effects: READ,
  problems: ['invalid_input'],
  http: { method: 'post', path: '/api/v1/connectivity/simulate' },
  run: async (input, { services }) => simulate(input, services.clock.now()),
});
