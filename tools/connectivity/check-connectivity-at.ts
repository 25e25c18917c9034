import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { defineHeavyOperation } from '../define.ts';
import { pastFields } from '../past.ts';
import { answerConnectivity, briefConnectivity, groupQuery, pairOrGroups } from './connectivity-fields.ts';

export const checkConnectivityAt = defineHeavyOperation({
  name: 'check_connectivity_at',
  title: 'Check connectivity in the past',
  description: 'As check_connectivity, at an instant or a snapshot; for a pair, with what changed since.',
  input: z.strictObject({ ...groupQuery, ...pastFields }),
  output: pairOrGroups,
  brief: briefConnectivity,
  access: 'snapshots:read',
  workspace: 'scoped',
  edition: 'pro',
  effects: READ,
  cost: 'heavy',
  problems: ['invalid_input', 'not_found', 'expired'],
  http: { method: 'get', path: '/api/v1/connectivity/check-at' },
  run: (query, context) => answerConnectivity(query, context) as never,
});
