import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { formatSecond, parseInstant } from '../../core/base/time.ts';
import { connectivity } from '../../core/history/connectivity.ts';
import { describeDenial } from '../../core/history/denial.ts';
import { blockerSchema } from '../../core/reachability/answers.ts';
import type { NetworkState } from '../../core/state/state.ts';
import { defineHeavyOperation } from '../define.ts';
import { isAboutPast, pastFields, stateFor } from '../past.ts';
import { allowedPorts, pairQuery, withProtocol, wouldFixField } from './connectivity-fields.ts';

export const explainDenial = defineHeavyOperation({
  name: 'explain_denial',
  title: 'Explain a denial',
  description: 'Why a connection is or was refused, and what opens it.',
  input: z.strictObject({ ...pairQuery, ...pastFields }),
  output: z.strictObject({
    denied: z.boolean(),
    explanation: z.string(),
    allowed: allowedPorts,
    valid_from: z.string().nullable(),
    blocked_by: z.array(blockerSchema.extend({ expires_at: z.string().optional() })),
    would_fix: wouldFixField,
  }),
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  proWhen: isAboutPast,
  effects: READ,
  cost: 'heavy',
  problems: ['invalid_input', 'not_found', 'expired'],
  http: { method: 'get', path: '/api/v1/connectivity/explain' },
  async run(input, context) {
    const { services, workspace } = context;
    const query = withProtocol(input);
    // A moment that nothing is known of is refused: there is no denial to explain.
    const { state, at } = await stateFor(context, query);
    const answer = await connectivity(services, workspace, query);
    const { valid_from, at_least_from } = answer;
    const since = at_least_from === undefined ? '' : ` It is so at least since ${secondText(at_least_from)}.`;
    const when = isAboutPast(query) ? `At ${secondText(answer.at)}: ` : '';
    const why = describeDenial(services, { state, at }, query, answer);
    return {
      denied: answer.verdict !== 'reachable',
      explanation: `${when}${why}${since}${answer.note ? ` ${answer.note}` : ''}`,
      allowed: answer.allowed as z.input<typeof allowedPorts>,
      valid_from,
      blocked_by: answer.blocked_by.map((blocker) => ({ ...blocker, ...expiryOf(state, blocker) })),
      would_fix: answer.would_fix,
    };
  },
});

function secondText(instant: string): string {
  return formatSecond(parseInstant(instant));
}

/** Until when a temporary policy stands in the way. */
function expiryOf({ policies }: NetworkState, { policy }: { readonly policy: string | null }) {
  const end = policy === null ? undefined : policies.get(policy)?.spec.expiresAt;
  return end === undefined ? {} : { expires_at: end };
}
