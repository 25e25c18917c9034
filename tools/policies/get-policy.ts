import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { findRecord } from '../../core/model/find.ts';
import { writtenPolicies } from '../../core/state/state.ts';
import { policySchema, policyView } from '../../core/views/policy-view.ts';
import { defineOperation } from '../define.ts';
import { idField } from '../resources/resource-fields.ts';

export const getPolicy = defineOperation({
  name: 'get_policy',
  title: 'Get a policy',
  description: 'One access policy, by id or name.',
  input: z.strictObject({ id: idField }),
  output: policySchema,
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  addresses: 'MeshPolicy',
  shows: 'MeshPolicy',
  problems: ['not_found'],
  http: { method: 'get', path: '/api/v1/policies/:id' },
  async run({ id }, { services, workspace }) {
    const state = await services.states.current(workspace);
    return policyView(findRecord(writtenPolicies(state), 'policy', id), state, services.clock.now());
  },
});
