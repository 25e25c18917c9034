import { newId } from '../base/ids.ts';
import type { Change } from '../base/ports.ts';
import { effectOf } from '../effect/effect.ts';
import { lookUpById } from '../model/find.ts';
import type { Selector } from '../model/policy.ts';
import { DEFAULT_NETWORK, type PeerRecord } from '../model/resources.ts';
import { sameValue } from '../model/value.ts';
import { afterCommit, type NetworkState } from '../state/state.ts';
import type { NetworkStates } from '../state/states.ts';
import type { Compared } from './excess.ts';

/**
 * The same change as it would meet a peer that joins later, one for each policy that is written: one with the labels that
 * the policy selects, or, where it lists peers, those of them that are not let in today. A policy that shuts nobody off
 * today may shut off who comes tomorrow.
 */
export function* newcomerViews(
  { before, after, now }: Pick<Compared, 'before' | 'after' | 'now'>,
  states: Pick<NetworkStates, 'reachability'>,
): Generator<Compared> {
  for (const { name, spec } of after.policies.values()) {
    if (sameValue(before.policies.get(name)?.spec, spec)) continue;
    const listed = spec.peerSelector?.peers;
    const peers = listed
      ? letIn(listed, before)
      : [newcomer({ labels: labelsOf(spec.peerSelector ?? {}), network: spec.network ?? DEFAULT_NETWORK }, before)];
    if (peers.length === 0) continue;
    const [old, next] = [joined(before, peers), joined(after, peers)];
    const [was, is] = [states.reachability(old, now), states.reachability(next, now)];
    yield { before: old, after: next, was, is, effect: effectOf(was, is), now };
  }
}

/** The fewest labels that a selector means. */
function labelsOf({ matchLabels, matchExpressions = [] }: Selector): Record<string, string> {
  const named = matchExpressions.flatMap(({ key, operator, values = [] }) => {
    if (operator === 'In') return [[key, values[0] ?? '']];
    return operator === 'Exists' ? [[key, 'any']] : [];
  });
  return { ...Object.fromEntries(named), ...matchLabels };
}

/** The listed peers that wait or were turned away, as they are once they are let in. */
function letIn(ids: readonly string[], { peers }: NetworkState): PeerRecord[] {
  return ids.flatMap((id) => {
    const peer = lookUpById(peers, id);
    if (!peer || peer.status.phase === 'ready') return [];
    return [{ ...peer, status: { ...peer.status, phase: 'ready' as const } }];
  });
}

/** A state with these peers in it, new ones or others of the same id. */
export function joined(state: NetworkState, records: readonly PeerRecord[]): NetworkState {
  const changes = records.map((record): Change => {
    const old = lookUpById(state.peers, record.uid);
    return { type: old ? 'updated' : 'created', record, ...(old && { before: old }) };
  });
  return afterCommit(state, { revision: state.revision + 1, changes });
}

/** A ready peer that is not there yet. Its name has a space, which no name of a peer has. */
export function newcomer(
  { name, labels = {}, network, address = null }: NewcomerInput,
  { workspace, revision }: NetworkState,
): PeerRecord {
  const uid = newId('p');
  const spec = { displayName: '', hostname: '', platform: 'linux', publicKey: '', network } as const;
  const status = { phase: 'ready', address } as const;
  const base = { kind: 'MeshPeer', name: name ?? `newcomer ${uid}`, uid, labels, annotations: {}, unique: [] } as const;
  return { ...base, spec, status, workspace, revision, createdAt: 0, generation: 1 };
}

interface NewcomerInput {
  /** With a space in it. */
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly network: string;
  readonly address?: string | null;
}
