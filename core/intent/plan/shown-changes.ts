import { draftOf } from '../../base/record.ts';
import type { ChangePlan } from '../../changes/changes.ts';
import { decidedFields } from '../../model/grants.ts';
import type { PeerRecord } from '../../model/resources.ts';
import { type Authorship, authoredAnnotations } from '../../model/written-by.ts';
import type { NetworkState } from '../../state/state.ts';
import { resourceYaml } from '../../views/render-yaml.ts';
import { recordOf } from '../verify/record-expectations.ts';
import type { Proposal } from './assessment.ts';
import type { ShownChange } from './diff-markdown.ts';

/** Returns the policies of a proposal that are written for its orders, with the id of who gave them; undefined without orders. */
export function orderedPolicies(
  { orders, edits = [], changes }: Pick<Proposal, 'orders' | 'edits' | 'changes'>,
  by: string,
): Authorship['ordered'] {
  return orders && { by, policies: changes.slice(edits.length).map(({ name }) => name) };
}

/** Returns the changes that write or delete something, as people read them. */
export function shownChanges(
  { changes, outcomes, after }: Pick<ChangePlan, 'changes' | 'outcomes' | 'after'>,
  state: NetworkState,
  namespace: string,
): ShownChange[] {
  return changes.flatMap(({ action, resource }, index) => {
    const { outcome, name } = outcomes[index] ?? {};
    if (outcome === 'unchanged' || name === undefined) return [];
    const yaml = (of: NetworkState) => resourceYaml(recordOf(of, { resource, name }), namespace, of);
    return [{ action, resource, name, before: yaml(state), after: yaml(after) }];
  });
}

/** Returns shown changes with the annotations that their policies are written with. */
export function withAuthorship(
  shown: readonly ShownChange[],
  after: NetworkState,
  namespace: string,
  authorship: Authorship,
): ShownChange[] {
  return shown.map((change) => {
    const { action, resource, name } = change;
    const record = resource === 'MeshPolicy' ? recordOf(after, { resource, name }) : undefined;
    if (!record || action === 'delete') return change;
    const annotations = authoredAnnotations(action, record, authorship);
    return { ...change, after: resourceYaml({ ...record, annotations }, namespace, after) };
  });
}

/**
 * Returns the parts of shown changes that the digest binds: the annotations of authorship follow from who asks, and a device
 * changes its own name and key without a decision.
 */
export function boundChanges(
  shown: readonly ShownChange[],
  before: NetworkState,
  after: NetworkState,
): readonly unknown[] {
  const decided = (peer: PeerRecord | undefined) => (peer ? decidedFields(draftOf(peer)) : null);
  return shown.map((change) => {
    const { action, resource, name } = change;
    if (resource !== 'MeshPeer') return change;
    const [was, is] = [before.peers.get(name), after.peers.get(name)];
    return [action, resource, is?.uid ?? was?.uid, decided(was), decided(is)];
  });
}
