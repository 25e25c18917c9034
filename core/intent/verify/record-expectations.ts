import type { StoredRecord } from '../../base/record.ts';
import { lookUpById } from '../../model/find.ts';
import { sameAccess } from '../../model/peer-access.ts';
import { DIRECTIONS } from '../../model/policy-match.ts';
import type { NetworkRecord, PeerRecord, PolicyRecord } from '../../model/resources.ts';
import { sameValue } from '../../model/value.ts';
import { NO_PORTS } from '../../reachability/port-sets.ts';
import type { Reachability } from '../../reachability/reachability.ts';
import type { NetworkState } from '../../state/state.ts';
import { namesOf } from '../../state/terms.ts';
import type { RecordExpectation, RecordName } from './expectation.ts';

/** The states in which the expectations are checked; `past` has the state of each revision that one of them names. */
export interface RecordView {
  readonly after: NetworkState;
  readonly is: Reachability;
  readonly past: ReadonlyMap<number, NetworkState>;
}

const MAX_NAMED = 3;

/** Why each expectation that does not hold does not; none for those that do. */
export function unmetRecords(expectations: readonly RecordExpectation[], view: RecordView): string[] {
  return expectations.flatMap((expectation) => flawOf(expectation, view) ?? []);
}

/** The revisions whose states have to be read to judge the expectations. */
export function revisionsOf(expectations: readonly RecordExpectation[]): number[] {
  return [...new Set(expectations.flatMap((one) => (one.kind === 'restored' ? [one.revision] : [])))];
}

function flawOf(expectation: RecordExpectation, { after, is, past }: RecordView): string | undefined {
  switch (expectation.kind) {
    case 'absent':
      return recordOf(after, expectation) ? `${expectation.name} is still there` : undefined;
    case 'closed-by-default':
      return openByDefault(expectation.who, after, is);
    case 'restored': {
      const then = past.get(expectation.revision);
      const differing = expectation.records.filter((name) => !then || !sameMeaning(...inBoth(after, then, name)));
      if (differing.length === 0) return undefined;
      const more = differing.length > MAX_NAMED ? ` and ${differing.length - MAX_NAMED} more` : '';
      const names = differing.slice(0, MAX_NAMED).map(({ name }) => name);
      return `${names.join(', ')}${more} would not be as at revision ${expectation.revision}`;
    }
    default:
      return expectation satisfies never;
  }
}

/** Peers of one class and network are closed or open together. */
function openByDefault(who: string, after: NetworkState, is: Reachability): string | undefined {
  const names = namesOf(who, after);
  if (names.length === 0) return `no peer that is ready is meant by ${who}`;
  const seen = new Set<string>();
  for (const name of names) {
    const place = is.placeOf(name);
    const endpoint = place === undefined ? undefined : is.parts.endpoints[place];
    if (!endpoint || seen.has(endpoint.unit)) continue;
    seen.add(endpoint.unit);
    for (const direction of DIRECTIONS) {
      if (is.parts.table.fallbackOf(direction, endpoint.classIndex) !== NO_PORTS) {
        return `${name} is open by default (${direction})`;
      }
    }
  }
  return undefined;
}

export function recordOf(
  state: NetworkState,
  { resource, name }: RecordName,
): PolicyRecord | NetworkRecord | PeerRecord | undefined {
  switch (resource) {
    case 'MeshPolicy':
      return state.policies.get(name);
    case 'MeshNetwork':
      return state.networks.get(name);
    case 'MeshPeer':
      return state.peers.get(name);
    default:
      return resource satisfies never;
  }
}

type Found = ReturnType<typeof recordOf>;

/** The record that a name means now, or meant then, as it is now and as it was then: a renamed peer is the same one. */
export function inBoth(now: NetworkState, then: NetworkState, name: RecordName): readonly [is: Found, was: Found] {
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
