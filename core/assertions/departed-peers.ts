import type { Change, Op, Store } from '../base/ports.ts';
import { draftOf, foldName } from '../base/record.ts';
import { lookUp } from '../model/find.ts';
import type { PeerRecord } from '../model/resources.ts';
import { afterCommit, type NetworkState } from '../state/state.ts';
import type { AssertionRecord, AssertionSpec, AssertionStatus, DepartedPeer } from './assertion.ts';

/*
 * An assertion that names a peer holds for that peer while it is away. What the peer was is kept with the assertion when the peer
 * goes, and every change is judged as if it were there.
 */

export const ENDS = ['src', 'dst'] as const;

/**
 * Keeps departing peers with the assertions that name them, in the commit that deletes the peer: whichever
 * operation or job deletes it. Nobody decides on what is kept, so it is added after the judgement.
 */
export async function keepDepartures<D extends { readonly workspace: string; readonly ops: readonly Op[] }>(
  draft: D,
  { store }: { readonly store: Pick<Store, 'get' | 'list'> },
): Promise<D> {
  const { workspace, ops } = draft;
  return ops.some(isPeerDeletion) ? { ...draft, ops: [...ops, ...(await departuresOf(store, workspace, ops))] } : draft;
}

function isPeerDeletion(op: Op): op is Op & { readonly op: 'delete' } {
  return op.op === 'delete' && op.key.kind === 'MeshPeer';
}

async function departuresOf(store: Pick<Store, 'get' | 'list'>, workspace: string, ops: readonly Op[]): Promise<Op[]> {
  const { items } = await store.list(workspace, 'PolicyAssertion');
  const written = new Set(ops.flatMap((op) => ('record' in op ? [op.record.uid, keyOf(op.record)] : [keyOf(op.key)])));
  const unwritten = items.filter((assertion) => !written.has(keyOf(assertion)));
  if (unwritten.length === 0) return [];
  const peers: PeerRecord[] = [];
  for (const { key } of ops.filter(isPeerDeletion)) {
    const peer = await store.get(workspace, { kind: 'MeshPeer', name: key.name });
    // A renamed peer is made again in the same commit, and one that was never let in was never the peer that is meant.
    if (peer && !written.has(peer.uid) && peer.status.phase !== 'pending') peers.push(peer);
  }
  return unwritten.flatMap((assertion): Op[] => {
    const gone = ENDS.flatMap((end) => {
      const peer = peers.find((one) => isNamedBy(assertion.spec[end], one));
      return peer ? [[end, departedPeer(peer)] as const] : [];
    });
    if (gone.length === 0) return [];
    const status = { ...assertion.status, ...Object.fromEntries(gone) };
    return [{ op: 'update', record: { ...draftOf(assertion), status }, revision: assertion.revision }];
  });
}

function keyOf({ kind, name }: { readonly kind: string; readonly name: string }): string {
  return `${kind}/${foldName(name)}`;
}

function isNamedBy(term: string, { uid, name }: Pick<PeerRecord, 'uid' | 'name'>): boolean {
  return term === uid || foldName(term) === foldName(name);
}

function departedPeer({ uid, name, labels, spec }: PeerRecord): DepartedPeer {
  return { uid, name, labels, network: spec.network };
}

/** Returns the status to retain when the terms of an assertion change: the departed peers that it still names. */
export function statusUnder(spec: AssertionSpec, { spec: before, status }: Pick<AssertionRecord, 'spec' | 'status'>) {
  const kept = ENDS.filter((end) => status[end] && foldName(spec[end]) === foldName(before[end]));
  return Object.fromEntries(kept.map((end) => [end, status[end]])) as AssertionStatus;
}

/** Tells whether a term means one peer that is let in, or was shut out since. */
export function isThere({ peers }: Pick<NetworkState, 'peers'>, term: string): boolean {
  return (lookUp(peers, term)?.status.phase ?? 'pending') !== 'pending';
}

/**
 * Returns a state with the departed peers of some assertions in it, ready, with the labels and the network that they had.
 *
 * @param other a state whose peers are left out too: who is there before or after a change is judged as it is
 */
export function withDeparted(
  state: NetworkState,
  assertions: Iterable<Pick<AssertionRecord, 'spec' | 'status'>>,
  other: Pick<NetworkState, 'peers'> = state,
): NetworkState {
  const added = new Map<string, Change[]>();
  for (const { spec, status } of assertions) {
    for (const end of ENDS) {
      const [term, peer] = [spec[end], status[end]];
      if (!peer || added.has(foldName(term)) || isThere(state, term) || isThere(other, term)) continue;
      const pending = lookUp(state.peers, term);
      const created = { type: 'created', record: recordOf(peer, term, state) } as const;
      added.set(foldName(term), pending ? [{ type: 'deleted', record: pending }, created] : [created]);
    }
  }
  const changes = [...added.values()].flat();
  return changes.length === 0 ? state : afterCommit(state, { revision: state.revision, changes });
}

/** Another peer may have the name of one that is meant by its id. */
function recordOf({ uid, name, labels, network }: DepartedPeer, term: string, state: NetworkState): PeerRecord {
  return {
    kind: 'MeshPeer',
    name: term === uid ? uid : name,
    uid,
    labels,
    annotations: {},
    spec: { displayName: name, hostname: name, platform: 'linux', publicKey: '', network },
    status: { phase: 'ready', address: null },
    unique: [],
    workspace: state.workspace,
    createdAt: 0,
    generation: 1,
    revision: state.revision,
  };
}
