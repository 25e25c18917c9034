import { z } from 'zod';
import { connectivity } from '../core/history/connectivity.ts';
import { READ } from '../core/operation.ts';
import { connectivityAnswer, pairQuery, withProtocol } from './connectivity-fields.ts';
import { defineHeavyOperation } from './define.ts';
import { pastFields } from './past.ts';

export const checkConnectivityAt = defineHeavyOperation({
  name: 'check_connectivity_at',
  title: 'Check connectivity in the past',
  description:
    'Whether one peer could reach another at an instant or a snapshot, which rule decided it, and what changed since.',
  input: z.strictObject({ ...pairQuery, ...pastFields }),
  output: connectivityAnswer,
  access: 'snapshots:read',
  workspace: 'scoped',
  edition: 'pro',
  effects: READ,
  cost: 'heavy',
  problems: ['invalid_input', 'not_found', 'expired'],
  http: { method: 'get', path: '/api/v1/connectivity/check-at' },
  run: (query, { services, workspace }) => connectivity(services, workspace, withProtocol(query)) as never,
});
