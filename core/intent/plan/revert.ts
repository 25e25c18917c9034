import type { StoredRecord } from '../../base/record.ts';
import { hasEnded } from '../../base/time.ts';
import type { NetworkChange } from '../../changes/changes.ts';
import { lookUpById } from '../../model/find.ts';
import { beginOf, waits } from '../../model/policy-match.ts';
import { isOfAgent, isReserved } from '../../model/presets.ts';
import { DEFAULT_NETWORK, type NetworkRecord, type PeerRecord, type PolicyRecord } from '../../model/resources.ts';
import { BEGIN_SLACK_MS } from '../../state/begins.ts';
import { type NetworkState, writtenPolicies } from '../../state/state.ts';
import type { RecordName } from '../verify/expectation.ts';
import { inBoth, sameMeaning } from '../verify/record-expectations.ts';

/** The changes that restore records, and the records that they cannot restore. */
export interface Reversal {
  readonly changes: readonly NetworkChange[];
  /** Records that will be as they were: those the changes are about. */
  readonly restored: readonly RecordName[];
  /** Records that differ and that no change can bring back, each with the reason. */
  readonly left: readonly (RecordName & { readonly why: string })[];
}

/**
 * The changes that make records mean again what they meant in an earlier state of the same workspace: policies and
 * networks come back, go or change; of a peer its labels and its network. Peers themselves neither come nor go, and the
 * policies that hold an agent to its preset live and end with the agent. Pure, so a planner may call it with states of its
 * own; one that has none answers a plan question with `{outcome: 'revert'}` and leaves the rest to the loop.
 *
 * @param names which records; all that either state has, when left out.
 * @param at milliseconds; a policy that has ended by then stays away.
 */
export function reversal(now: NetworkState, then: NetworkState, at: number, names?: readonly RecordName[]): Reversal {
  const changes: NetworkChange[] = [];
  const restored: RecordName[] = [];
  const left: (RecordName & { why: string })[] = [];
  for (const name of names ?? namesOfBoth(now, then)) {
    const [is, was] = inBoth(now, then, name);
    if (sameMeaning(is, was) || isOfAgent(is) || isOfAgent(was)) continue;
    const change = changeBack(name, is, was, at);
    if (typeof change === 'string') {
      if (change !== '') left.push({ ...name, why: change });
      continue;
    }
    changes.push(change);
    // One that waited then and cannot wait again is not as it was: who may reach whom is.
    if (!was || change.action !== 'delete') restored.push(name);
  }
  return { changes, restored, left };
}

function namesOfBoth(now: NetworkState, then: NetworkState): RecordName[] {
  const of = (resource: RecordName['resource'], names: readonly string[]) =>
    [...new Set(names)].sort().map((name) => ({ resource, name }));
  const gone = [...then.peers.values()].filter(({ uid }) => !lookUpById(now.peers, uid));
  return [
    ...of('MeshNetwork', [...then.networks.keys(), ...now.networks.keys()]),
    ...of('MeshPeer', [...gone.map(({ name }) => name), ...now.peers.keys()]),
    ...of('MeshPolicy', [...writtenPolicies(then).keys(), ...writtenPolicies(now).keys()]),
  ];
}

/** A text instead of a change says why there is none; an empty one that nobody would expect one. */
function changeBack(
  { resource, name }: RecordName,
  is: NetworkRecord | PeerRecord | PolicyRecord | undefined,
  was: NetworkRecord | PeerRecord | PolicyRecord | undefined,
  at: number,
): NetworkChange | string {
  if (!was) {
    if (resource === 'MeshPeer') return '';
    if (resource === 'MeshNetwork' && name === DEFAULT_NETWORK) return 'new devices join it';
    return { action: 'delete', resource, name };
  }
  const meta = { action: is ? 'update' : 'create', name, labels: was.labels, annotations: was.annotations } as const;
  switch (was.kind) {
    case 'MeshPeer':
      return peerChange(is, was);
    case 'MeshNetwork':
      return { ...meta, resource: was.kind, spec: was.spec };
    case 'MeshPolicy': {
      if (hasEnded(was.spec, at)) return 'the policy has ended since';
      // It counted for nothing then, and would at once now.
      if (waits(was.spec) && beginOf(was.spec) <= at + BEGIN_SLACK_MS)
        return is ? { action: 'delete', resource: was.kind, name } : 'its begin has passed since';
      return { ...meta, resource: was.kind, spec: was.spec };
    }
    default:
      return was satisfies never;
  }
}

function peerChange(is: StoredRecord | undefined, was: PeerRecord): NetworkChange | string {
  if (is?.kind !== 'MeshPeer' || is.uid !== was.uid) return 'the peer is gone: it has to join again';
  const moved = is.spec.network !== was.spec.network;
  return {
    action: 'update',
    resource: 'MeshPeer',
    name: is.name,
    labels: ownLabels(was),
    ...(moved && { network: was.spec.network }),
  };
}

function ownLabels({ labels }: StoredRecord): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !isReserved(key)));
}
