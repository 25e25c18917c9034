import type { StoredRecord } from '../../base/record.ts';
import { lookUpById } from '../../model/find.ts';
import { sameAccess } from '../../model/peer-access.ts';
import type { NetworkRecord, PeerRecord, PolicyRecord } from '../../model/resources.ts';
import { sameValue } from '../../model/value.ts';
import type { NetworkState } from '../../state/state.ts';
import type { RecordExpectation, RecordName } from './expectation.ts';

const MAX_NAMED = 3;

/**
 * Returns why each expectation that does not hold does not.
 *
 * @param past the state of each revision that an expectation names
 */
export function unmetRecords(
  expectations: readonly RecordExpectation[],
  after: NetworkState,
  past: ReadonlyMap<number, NetworkState>,
): string[] {
  return expectations.flatMap(({ revision, records }) => {
    const then = past.get(revision);
    const differing = records.filter((name) => !then || !sameMeaning(...inBoth(after, then, name)));
    if (differing.length === 0) return [];
    const more = differing.length > MAX_NAMED ? ` and ${differing.length - MAX_NAMED} more` : '';
    const names = differing.slice(0, MAX_NAMED).map(({ name }) => name);
    return [`${names.join(', ')}${more} would not be as at revision ${revision}`];
  });
}

/** Returns the revisions whose states are read to judge the expectations. */
export function revisionsOf(expectations: readonly RecordExpectation[]): number[] {
  return [...new Set(expectations.map(({ revision }) => revision))];
}

export function recordOf(
  state: NetworkState,
  { resource, name }: RecordName,
): PolicyRecord | NetworkRecord | PeerRecord | undefined {
  switch (resource) {
    case 'MeshPolicy':
      return state.policies.get(name) ?? state.waiting.get(name);
    case 'MeshNetwork':
      return state.networks.get(name);
    case 'MeshPeer':
      return state.peers.get(name);
    default:
      return resource satisfies never;
  }
}

type NamedRecord = ReturnType<typeof recordOf>;

/** The record that a name means now, or meant then, as it is now and as it was then: a renamed peer is the same one. */
export function inBoth(
  now: NetworkState,
  then: NetworkState,
  name: RecordName,
): readonly [is: NamedRecord, was: NamedRecord] {
  const [is, was] = [recordOf(now, name), recordOf(then, name)];
  if (name.resource !== 'MeshPeer') return [is, was];
  return is ? [is, lookUpById(then.peers, is.uid) ?? was] : [was && lookUpById(now.peers, was.uid), was];
}

/** Equal in what changes of the network can say of a record; of a peer that is its labels and its network. */
export function sameMeaning(a: StoredRecord | undefined, b: StoredRecord | undefined): boolean {
  if (!a || !b) return a === b;
  if (a.kind === 'MeshPeer' && b.kind === 'MeshPeer') return sameAccess(a, b);
  return sameValue([a.spec, a.labels, a.annotations], [b.spec, b.labels, b.annotations]);
}
