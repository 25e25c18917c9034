import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { defineHeavyOperation } from '../define.ts';
import { answerConnectivity, briefConnectivity, groupQuery, pairOrGroups } from './connectivity-fields.ts';

export const checkConnectivity = defineHeavyOperation({
  name: 'check_connectivity',
  title: 'Check connectivity now',
  description:
    'Whether a peer may reach another now, on which ports, by which rule. No src: who can reach dst. No dst: what src can reach. Labels: groups.',
  input: z.strictObject(groupQuery),
  output: pairOrGroups,
  brief: briefConnectivity,
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  cost: 'heavy',
  problems: ['invalid_input', 'not_found', 'expired'],
  http: { method: 'get', path: '/api/v1/connectivity/check' },
  run: (query, context) => answerConnectivity(query, context) as never,
});
