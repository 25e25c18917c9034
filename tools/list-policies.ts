import { z } from 'zod';
import { policyView, viewOfPolicy } from '../core/network/policy-view.ts';
import { READ } from '../core/operation.ts';
import { defineOperation } from './define.ts';
import { pageOf, pageQuery } from './page.ts';

export const listPolicies = defineOperation({
  name: 'list_policies',
  title: 'List policies',
  description: 'Access policies of the workspace by name, with how many peers each is about and what is odd about it.',
  input: z.strictObject(pageQuery),
  output: z.strictObject({ items: z.array(policyView), next_cursor: z.string().optional() }),
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['invalid_input'],
  http: { method: 'get', path: '/api/v1/policies' },
  async run(query, { services, workspace }) {
    const state = await services.states.current(workspace);
    const now = services.clock.now();
    return pageOf([...state.policies.values()], query, (policy) => viewOfPolicy(policy, state, now));
  },
});
