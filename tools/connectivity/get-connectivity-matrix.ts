import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { formatInstant } from '../../core/base/time.ts';
import { allowedSchema } from '../../core/reachability/answers.ts';
import { countPairs, groupRows } from '../../core/reachability/matrix.ts';
import { defineHeavyOperation } from '../define.ts';
import { isAboutPast, pastFields, stateFor } from '../past.ts';

/** Groups shown; beyond it the answer says how many were left out. */
const MAX_GROUPS = 2_000;
/** Names in the groups shown, all together: about 3 MB of usual names. */
const MAX_NAMES = 200_000;

export const getConnectivityMatrix = defineHeavyOperation({
  name: 'get_connectivity_matrix',
  title: 'Get the connectivity matrix',
  description:
    'Who may reach whom on which ports, by groups of peers that share it; pairs that are not listed are denied.',
  input: z.strictObject(pastFields),
  output: z.strictObject({
    at: z.string(),
    revision: z.int(),
    pairs: z.int().describe('Ordered pairs of peers that are not fully denied'),
    groups: z.array(z.strictObject({ src: z.array(z.string()), dst: z.array(z.string()), allowed: allowedSchema })),
    omitted_groups: z.int(),
  }),
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  proWhen: isAboutPast,
  effects: READ,
  cost: 'heavy',
  problems: ['invalid_input', 'not_found', 'expired'],
  http: { method: 'get', path: '/api/v1/connectivity/matrix' },
  async run(query, context) {
    const { state, at } = await stateFor(context, query);
    const reach = context.services.states.reachability(state, at);
    const groups = [];
    let [omitted, names] = [0, 0];
    for (const group of groupRows(reach)) {
      names += group.src.length + group.dst.length;
      if (groups.length < MAX_GROUPS && names <= MAX_NAMES)
        groups.push({ src: [...group.src], dst: [...group.dst], allowed: group.allowed });
      else omitted += 1;
    }
    return {
      at: formatInstant(at),
      revision: state.revision,
      pairs: countPairs(reach),
      groups,
      omitted_groups: omitted,
    };
  },
});
