import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { lint } from '../../core/reachability/lint.ts';
import { writtenPolicies } from '../../core/state/state.ts';
import { briefPolicy, policySchema, policyView } from '../../core/views/policy-view.ts';
import { defineHeavyOperation } from '../define.ts';
import { pageOf, pageQuery } from '../page.ts';
import { isAboutPast, pastCost, pastFields, stateFor } from '../past.ts';
import { findingSchema, findingView } from './lint-policies.ts';

export const listPolicies = defineHeavyOperation({
  name: 'list_policies',
  title: 'List policies',
  description: 'Access policies, with how many peers each is about and what is odd about it.',
  input: z.strictObject({
    ...pageQuery,
    ...pastFields,
    lint: z.boolean().optional().describe('With findings'),
  }),
  output: z.strictObject({
    items: z.array(policySchema),
    findings: z.array(findingSchema).optional().describe('About the policies of this page'),
    next_cursor: z.string().optional(),
  }),
  brief: ({ items, ...page }) => ({ items: items.map(briefPolicy), ...page }),
  columns: {
    Name: 'name',
    Rule: 'status.summary',
    Peers: 'status.matchedPeers',
    Expires: 'spec.expiresAt',
    Warnings: 'status.warnings',
  },
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  proWhen: isAboutPast,
  effects: READ,
  shows: 'MeshPolicy',
  cost: (raw) => (raw['lint'] === undefined ? pastCost(raw) : 'heavy'),
  problems: ['invalid_input', 'not_found', 'expired'],
  http: { method: 'get', path: '/api/v1/policies' },
  async run(query, context) {
    const { state, at } = await stateFor(context, query);
    const page = pageOf([...writtenPolicies(state).values()], query, (policy) => policyView(policy, state, at));
    if (!query.lint) return page;
    const names = new Set(page.items.map(({ name }) => name));
    const found = lint(context.services.states.reachability(state, at), names);
    return { ...page, findings: found.map(findingView) };
  },
});
