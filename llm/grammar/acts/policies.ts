import { nearest } from '../../../core/base/nearest.ts';
import type { NetworkChange } from '../../../core/changes/changes.ts';
import type { RecordExpectation } from '../../../core/intent/verify/expectation.ts';
import type { PolicyRecord } from '../../../core/model/resources.ts';
import { NAME_PATTERN } from '../../../core/model/resources.ts';
import type { NetworkState } from '../../../core/state/state.ts';
import { enumerated, quoted, Refusal } from '../refusal.ts';
import type { Act } from './ask.ts';

/** Deletes one policy by name. */
export function deletePolicy(state: NetworkState, name: string): Act {
  const found = policyNamed(state, name);
  const change: NetworkChange = { action: 'delete', resource: 'MeshPolicy', name: found.name };
  const records: RecordExpectation[] = [{ kind: 'absent', resource: 'MeshPolicy', name: found.name }];
  return { changes: [change], expectations: [], records, summary: `Delete the policy ${quoted(found.name)}.` };
}

/** The same policy under another name. */
export function renamePolicy(state: NetworkState, name: string, next: string): Act {
  const { spec, labels, annotations, name: old } = policyNamed(state, name);
  if (!NAME_PATTERN.test(next))
    throw new Refusal(`${quoted(next)} is no name: a name is 1 to 63 letters, digits, ".", "_" or "-".`);
  const taken = [...state.policies.values()].some((policy) => policy.name.toLowerCase() === next);
  if (taken) throw new Refusal(`There is a policy ${quoted(next)} already.`, ['Which other name should it have?']);
  return {
    changes: [
      { action: 'create', resource: 'MeshPolicy', name: next, spec, labels, annotations },
      { action: 'delete', resource: 'MeshPolicy', name: old },
    ],
    expectations: [],
    records: [{ kind: 'absent', resource: 'MeshPolicy', name: old }],
    summary: `Rename the policy ${quoted(old)} to ${quoted(next)}.`,
  };
}

function policyNamed(state: NetworkState, name: string): PolicyRecord {
  const found = [...state.policies.values()].find((policy) => policy.name.toLowerCase() === name);
  if (found) return found;
  const near = nearest(name, state.policies.keys());
  if (near.length > 0)
    throw new Refusal(`There is no policy ${quoted(name)}.`, [`Did you mean ${enumerated(near.map(quoted))}?`]);
  const known = enumerated([...state.policies.keys()].sort().map(quoted));
  throw new Refusal(`There is no policy ${quoted(name)}.`, [`Which policy? ${known || 'There is none'}.`]);
}
