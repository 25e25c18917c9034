import { z } from 'zod';
import { invalidInput } from '../../core/base/errors.ts';
import { READ } from '../../core/base/operation.ts';
import { defineHeavyOperation } from '../define.ts';
import { pastFields } from '../past.ts';
import { answerConnectivity, briefConnectivity, groupQuery, pairOrGroups } from './connectivity-fields.ts';
import { answerHistory, historyAnswer, rangeFields } from './history-fields.ts';

/** Intervals, or rows, of one page. */
const PAGE = 50;

export const checkConnectivityAt = defineHeavyOperation({
  name: 'check_connectivity_at',
  title: 'Check connectivity in the past',
  description: 'As check_connectivity, in the past; what changed since. With from: intervals of a pair or peer.',
  input: z.strictObject({ ...groupQuery, ...pastFields, ...rangeFields }),
  output: z.union([...pairOrGroups.options, ...historyAnswer.options]),
  brief: (answer) => ('verdict' in answer ? briefConnectivity(answer) : answer),
  access: 'snapshots:read',
  workspace: 'scoped',
  edition: 'pro',
  effects: READ,
  cost: 'heavy',
  problems: ['invalid_input', 'not_found', 'expired', 'payload_too_large'],
  http: { method: 'get', path: '/api/v1/connectivity/check-at' },
  run: ({ from, to, ...query }, context) => {
    if (from === undefined && to === undefined) return answerConnectivity(query, context) as never;
    const at = query.at ?? query.snapshot_id;
    if (from !== undefined && at === undefined) {
      return answerHistory({ ...query, from, to, limit: PAGE }, context) as never;
    }
    const pointer = from === undefined ? '/from' : '/at';
    const detail = from === undefined ? 'A range needs its begin.' : 'Name a moment or a range, not both.';
    throw invalidInput([{ pointer, detail }], `${pointer}: ${detail}`);
  },
});
