import { newId } from '../base/ids.ts';
import type { CommitContext, Op } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { serialised } from '../base/serialise.ts';
import { formatInstant } from '../base/time.ts';
import { lookUpById } from '../model/find.ts';
import { ONLINE_MS } from '../model/liveness.ts';
import type { PeerRecord, PresenceSpec } from '../model/resources.ts';
import type { PeerServices } from '../state/services.ts';
import type { NetworkState } from '../state/state.ts';

/** Transitions written in one commit; more wait for the next, so that no batch grows without bound. */
const TRANSITIONS = 500;

/**
 * Takes note that a device was heard of, over the bus or by HTTP. Only its coming online is written, as a revision;
 * every other heartbeat costs a look-up.
 *
 * @param version of its software, where it says it; written with its coming and going.
 */
export async function heardOf(
  services: PeerServices,
  workspace: string,
  peerUid: string,
  commit: Omit<CommitContext, 'reason'>,
  version?: string,
): Promise<void> {
  const { states, liveness, clock, store } = services;
  liveness.heard(workspace, peerUid, clock.now());
  if (version !== undefined) liveness.said(workspace, peerUid, version);
  const seen = peerById(await states.current(workspace), peerUid);
  if (!seen) return liveness.forget(workspace, peerUid);
  if (seen.isOnline || seen.peer.status.phase !== 'ready') return;
  await serialised(store, workspace, async () => {
    const state = await states.current(workspace);
    const found = peerById(state, peerUid);
    if (!found || found.isOnline || found.peer.status.phase !== 'ready') return;
    const reason = `${found.peer.name} came online`;
    await store.commit(workspace, [presenceOp(services, state, found.peer, { online: true })], { ...commit, reason });
  });
}

/** A device said that it goes: it is offline at once. A later word of it brings it back. */
export async function leftBy(
  services: PeerServices,
  workspace: string,
  peerUid: string,
  commit: Omit<CommitContext, 'reason'>,
): Promise<void> {
  const { states, clock, store } = services;
  await serialised(store, workspace, async () => {
    const state = await states.current(workspace);
    const found = peerById(state, peerUid);
    if (!found?.isOnline) return;
    const offline = { online: false, lastSeenAt: formatInstant(clock.now()) };
    const reason = `${found.peer.name} went offline`;
    await store.commit(workspace, [presenceOp(services, state, found.peer, offline)], { ...commit, reason });
  });
}

/**
 * Writes the peers of a workspace that were not heard of in time as offline.
 *
 * @param since when this process began to listen: before that nobody can have been heard.
 * @returns the next instant at which one may go offline, ms.
 */
export async function sweepWorkspace(
  services: PeerServices,
  workspace: string,
  since: number,
): Promise<number | undefined> {
  const { store, states, clock, liveness } = services;
  const lastSeen = ({ uid }: PeerRecord) => liveness.lastSeen(workspace, uid) ?? since;
  const now = clock.now();
  return serialised(store, workspace, async () => {
    const state = await states.current(workspace);
    const online = [...state.peers.values()].filter((peer) => state.presence.get(peer.name)?.spec.online);
    const silent = online.filter((peer) => now - lastSeen(peer) >= ONLINE_MS).slice(0, TRANSITIONS);
    if (silent.length > 0) {
      const ops = silent.map((peer) =>
        presenceOp(services, state, peer, { online: false, lastSeenAt: formatInstant(lastSeen(peer)) }),
      );
      const reason = silent.length === 1 ? `${silent[0]?.name} went offline` : `${silent.length} peers went offline`;
      await store.commit(workspace, ops, { actor: 'system:presence', reason, requestId: newId('ev') });
    }
    const gone = new Set(silent);
    const deadlines = online.filter((peer) => !gone.has(peer)).map((peer) => lastSeen(peer) + ONLINE_MS);
    return deadlines.length === 0 ? undefined : deadlines.reduce((a, b) => Math.min(a, b));
  });
}

function peerById(state: NetworkState, uid: string): { peer: PeerRecord; isOnline: boolean } | undefined {
  const peer = lookUpById(state.peers, uid);
  return peer && { peer, isOnline: state.presence.get(peer.name)?.spec.online === true };
}

/** Writes a peer as come or gone, with the version that it said last. */
export function presenceOp(
  { liveness }: Pick<PeerServices, 'liveness'>,
  state: NetworkState,
  peer: PeerRecord,
  change: Omit<PresenceSpec, 'version'>,
): Op {
  const presence = state.presence.get(peer.name);
  const version = liveness.version(state.workspace, peer.uid) ?? presence?.spec.version;
  const spec = { ...change, ...(version !== undefined && { version }) };
  if (presence) return { op: 'update', record: { ...draftOf(presence), spec }, revision: presence.revision };
  const { name } = peer;
  const body = { name, uid: newId('r'), labels: {}, annotations: {}, spec, status: {}, unique: [] };
  return { op: 'create', record: { kind: 'Presence', ...body } };
}
