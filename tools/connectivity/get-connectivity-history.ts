import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { defineHeavyOperation } from '../define.ts';
import { pageQuery } from '../page.ts';
import { instant } from '../snapshots/snapshot-fields.ts';
import { groupQuery } from './connectivity-fields.ts';
import { answerHistory, historyAnswer } from './history-fields.ts';

export const getConnectivityHistory = defineHeavyOperation({
  name: 'get_connectivity_history',
  title: 'History of a connection',
  description:
    'How a connection was over a range: intervals with verdict, ports, presence, and the change that began each. With src or dst alone: whom that peer could reach, or who could reach it, and when.',
  input: z.strictObject({
    ...groupQuery,
    src: groupQuery.src.describe('Peer, or an address, CIDR or outside; none: any peer'),
    dst: groupQuery.dst.describe('Likewise; one end is a peer'),
    ...pageQuery,
    from: instant,
    to: instant.optional().describe('None: now'),
  }),
  output: historyAnswer,
  access: 'snapshots:read',
  workspace: 'scoped',
  edition: 'pro',
  effects: READ,
  cost: 'heavy',
  problems: ['invalid_input', 'not_found', 'expired', 'payload_too_large'],
  http: { method: 'get', path: '/api/v1/connectivity/history' },
  run: (query, context) => answerHistory(query, context) as never,
});
