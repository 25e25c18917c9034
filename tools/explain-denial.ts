import { z } from 'zod';
import { connectivity } from '../core/history/connectivity.ts';
import { READ } from '../core/operation.ts';
import { allowedPorts, pairQuery, withProtocol } from './connectivity-fields.ts';
import { defineOperation } from './define.ts';

export const explainDenial = defineOperation({
  name: 'explain_denial',
  title: 'Explain a denial',
  description:
    'Why a connection is refused now: each obstacle with its policy and rule, and the smallest change that removes it.',
  input: z.strictObject(pairQuery),
  output: z.strictObject({
    denied: z.boolean(),
    explanation: z.string(),
    allowed: allowedPorts,
    blocked_by: z.array(z.looseObject({})),
    would_fix: z.array(z.looseObject({})),
  }),
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['invalid_input'],
  http: { method: 'get', path: '/api/v1/connectivity/explain' },
  async run(query, { services, workspace }) {
    const { verdict, allowed, blocked_by, would_fix } = await connectivity(services, workspace, withProtocol(query));
    const obstacles = blocked_by.map(
      ({ stage, reason_code: code, policy, rule_index: rule }) =>
        `${stage}: ${code}${policy === null ? '' : ` by ${policy}`}${rule === null ? '' : ` rule ${rule}`}`,
    );
    const explanation =
      verdict === 'reachable'
        ? `${query.src} may reach ${query.dst}.`
        : `${query.src} -> ${query.dst} is ${verdict}: ${obstacles.join('; ')}.`;
    return {
      denied: verdict !== 'reachable',
      explanation,
      allowed: allowed as z.input<typeof allowedPorts>,
      blocked_by: blocked_by.map((blocker) => ({ ...blocker })),
      would_fix: would_fix.map((fix) => ({ ...fix })),
    };
  },
});
