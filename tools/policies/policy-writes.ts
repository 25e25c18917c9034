import { findRecord } from '../../core/model/find.ts';
import { writtenPolicies } from '../../core/state/state.ts';
import { policySchema, policyView } from '../../core/views/policy-view.ts';
import { changeWrites } from '../resources/change-writes.ts';

export const policyWrites = changeWrites({
  kind: 'MeshPolicy',
  noun: 'policy',
  path: '/api/v1/policies',
  output: policySchema,
  view: (name, after, now) => policyView(findRecord(writtenPolicies(after), 'policy', name), after, now),
});
