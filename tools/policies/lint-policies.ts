import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { formatInstant } from '../../core/base/time.ts';
import { comparesRules, LINT_CODES, lint, type Warning } from '../../core/reachability/lint.ts';
import { defineHeavyOperation } from '../define.ts';
import { pageOf, pageQuery } from '../page.ts';

export const findingSchema = z.strictObject({
  code: z.enum(LINT_CODES),
  policies: z.array(z.string()).readonly().describe('The policy it is about, then those that it meets'),
  direction: z.enum(['ingress', 'egress']).nullable(),
  rule_index: z.int().nullable().describe('From 0; null for the policy as a whole'),
  why: z.string(),
  fix: z.string().describe('What to do'),
});

export function findingView({ code, policies, direction, rule_index, message: why, fix }: Warning) {
  return { code, policies, direction, rule_index, why, fix };
}

export const lintPolicies = defineHeavyOperation({
  name: 'lint_policies',
  title: 'Check the policies for mistakes',
  description:
    'What about the policies is allowed and probably not meant: rules that do nothing, that others take away or do anyway, that are about nobody or about everyone.',
  input: z.strictObject(pageQuery),
  output: z.strictObject({
    at: z.string(),
    revision: z.int(),
    count: z.int().describe('Findings on all pages'),
    rules_compared: z.boolean().describe('False where there is too much to compare rules with each other'),
    items: z.array(findingSchema),
    next_cursor: z.string().optional(),
  }),
  columns: { Code: 'code', Policies: 'policies', Direction: 'direction', Rule: 'rule_index', Why: 'why', Fix: 'fix' },
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  cost: 'heavy',
  problems: ['invalid_input'],
  http: { method: 'get', path: '/api/v1/workspaces/:workspaceId/policy-lint' },
  async run(query, { services, workspace }) {
    const { states, clock } = services;
    const state = await states.current(workspace);
    const at = clock.now();
    const reach = states.reachability(state, at);
    const found = numberedWarnings(lint(reach, undefined, (name) => state.policies.get(name)?.createdAt ?? 0));
    const { items, next_cursor } = pageOf(found, query, findingView);
    return {
      at: formatInstant(at),
      revision: state.revision,
      count: found.length,
      rules_compared: comparesRules(reach),
      items,
      ...(next_cursor !== undefined && { next_cursor }),
    };
  },
});

/** Each with its place among all, which no change of other policies moves: what cursors are made of. */
function numberedWarnings(warnings: readonly Warning[]): (Warning & { readonly name: string })[] {
  const counts = new Map<string, number>();
  return warnings.map((warning) => {
    const { policy, direction, rule_index: index, code } = warning;
    const key = [policy, direction ?? '', String(index ?? 0).padStart(4, '0'), code].join(' ');
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return { ...warning, name: `${key} ${String(count).padStart(4, '0')}` };
  });
}
