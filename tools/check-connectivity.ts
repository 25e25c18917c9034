import { z } from 'zod';
import { connectivity } from '../core/history/connectivity.ts';
import { READ } from '../core/operation.ts';
import { connectivityAnswer, pairQuery, withProtocol } from './connectivity-fields.ts';
import { defineHeavyOperation } from './define.ts';

export const checkConnectivity = defineHeavyOperation({
  name: 'check_connectivity',
  title: 'Check connectivity now',
  description: 'Whether one peer may reach another now, on which ports, and the policy and rule that decide it.',
  input: z.strictObject(pairQuery),
  output: connectivityAnswer,
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  cost: 'heavy',
  problems: ['invalid_input', 'not_found', 'expired'],
  http: { method: 'get', path: '/api/v1/connectivity/check' },
  run: (query, { services, workspace }) => connectivity(services, workspace, withProtocol(query)) as never,
});
