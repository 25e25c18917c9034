import { newId } from '../base/ids.ts';
import { type CommitContext, type Op, StoreError } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { serialized } from '../base/serialize.ts';
import { formatInstant } from '../base/time.ts';
import { lookUpById } from '../model/find.ts';
import { LONGEST_ONLINE_MS } from '../model/heartbeat-times.ts';
import type { NodeReport } from '../model/received-heartbeats.ts';
import type { PeerRecord, PresenceSpec } from '../model/resources.ts';
import { commonWire } from '../model/wire.ts';
import type { PeerServices } from '../state/services.ts';
import type { NetworkState } from '../state/state.ts';

/** Transitions written in one commit; more wait for the next, so that no batch grows without bound. */
const TRANSITIONS = 500;

/** Until one of whom another control plane will tell is looked at again. */
const RECHECK_MS = 10_000;

/**
 * Takes note that a device was heard of, over the bus or by HTTP. Only its coming online is written, as a revision;
 * every other heartbeat costs a look-up.
 *
 * @param said the version of its software, where it says it, is written with its coming and going.
 */
export async function recordHeartbeat(
  services: PeerServices,
  workspace: string,
  peerUid: string,
  commit: PresenceContext,
  { version, wire }: Pick<NodeReport, 'version' | 'wire'> = {},
): Promise<void> {
  const { states, liveness, clock } = services;
  liveness.heard(workspace, peerUid, clock.now(), commonWire(wire));
  if (version !== undefined) liveness.said(workspace, peerUid, version);
  const seen = peerById(await states.current(workspace), peerUid);
  if (!seen) return liveness.forget(workspace, peerUid);
  await recordReport(services, workspace, seen, { isHere: true, commit });
}

/** A device said that it goes: it is offline at once. A later word of it brings it back. */
export async function recordDeparture(
  services: PeerServices,
  workspace: string,
  peerUid: string,
  commit: PresenceContext,
): Promise<void> {
  const seen = peerById(await services.states.current(workspace), peerUid);
  if (seen) await recordReport(services, workspace, seen, { isHere: false, commit });
}

/**
 * Takes note that two machines use the key of a device: each proved in turn that it runs. The log gets one entry until one of
 * both is silent for a while.
 *
 * @param leads false where another control plane records it
 */
export async function recordSharedKey(
  { store, liveness, clock }: PeerServices,
  workspace: string,
  { uid, name }: Pick<PeerRecord, 'uid' | 'name'>,
  leads: boolean,
): Promise<void> {
  if (!liveness.keyShared(workspace, uid, clock.now()) || !leads) return;
  const detail = { peer: uid, name };
  await store.record(workspace, [{ type: 'peer.key_shared', actor: `device:${name}`, result: 'refused', detail }]);
}

/** Records what came and went too often, or while the disk was too full, to be recorded as it was said. */
export async function recordPresence(services: PeerServices, workspace: string): Promise<void> {
  const { states, liveness, clock } = services;
  for (const uid of liveness.unrecorded(workspace)) {
    const seen = peerById(await states.current(workspace), uid);
    const said = liveness.isHere(workspace, uid);
    const isSilent = clock.now() - (liveness.lastSeen(workspace, uid) ?? 0) >= liveness.onlineMs(workspace, uid);
    const isHere = said && !isSilent;
    if (seen && isHere !== undefined) {
      await recordReport(services, workspace, seen, {
        isHere,
        commit: { actor: 'system:presence', requestId: newId('ev') },
      });
    }
  }
}

type PresenceContext = Omit<CommitContext, 'reason'>;

async function recordReport(
  services: PeerServices,
  workspace: string,
  { isOnline, peer: { uid, status } }: PeerPresence,
  { isHere, commit }: { readonly isHere: boolean; readonly commit: PresenceContext },
): Promise<void> {
  const { liveness, clock } = services;
  if (status.phase !== 'ready') return liveness.recorded(workspace, uid);
  // Where something else that it said is still being recorded, this follows it.
  if (isOnline === isHere && liveness.isHere(workspace, uid) === undefined) return;
  liveness.keepUnrecorded(workspace, uid, isHere);
  if (!liveness.mayRecord(workspace, uid, clock.now())) return;
  await unlessFull(() => record(services, workspace, uid, commit));
}

/** Writes how a peer is by what it said last. */
async function record(services: PeerServices, workspace: string, uid: string, commit: PresenceContext): Promise<void> {
  const { store, states, clock, liveness } = services;
  await serialized(store, workspace, async () => {
    const state = await states.current(workspace);
    const found = peerById(state, uid);
    const online = liveness.isHere(workspace, uid);
    if (found?.peer.status.phase === 'ready' && online !== undefined && online !== found.isOnline) {
      const change = online ? { online } : { online, lastSeenAt: formatInstant(clock.now()) };
      const reason = `${found.peer.name} ${online ? 'came online' : 'went offline'}`;
      await store.commit(workspace, [presenceOp(services, state, found.peer, change)], { ...commit, reason });
    }
    // It may have said something else meanwhile.
    if (liveness.isHere(workspace, uid) === online) liveness.recorded(workspace, uid);
  });
}

/** On a full disk it stays in memory, and is recorded once there is room. */
async function unlessFull(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof StoreError && error.code === 'full') return false;
    throw error;
  }
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
  const onlineMs = ({ uid }: PeerRecord) => liveness.onlineMs(workspace, uid);
  const now = clock.now();
  return serialized(store, workspace, async () => {
    const state = await states.current(workspace);
    const online = [...state.peers.values()].filter((peer) => state.presence.get(peer.name)?.spec.online);
    const unheard = online.filter((peer) => now - lastSeen(peer) >= onlineMs(peer));
    // Another control plane has heard one that it wrote as online meanwhile, and may not have told it yet.
    const shortest = unheard.map(onlineMs).reduce((a, b) => Math.min(a, b), LONGEST_ONLINE_MS);
    const before = unheard.length > 0 ? await store.revisionAt(workspace, now - shortest) : undefined;
    const came = new Set(
      unheard.filter(({ name }) => (state.presence.get(name)?.revision ?? 0) > (before?.revision ?? 0)),
    );
    const silent = unheard.filter((peer) => !came.has(peer)).slice(0, TRANSITIONS);
    if (silent.length > 0) {
      const ops = silent.map((peer) =>
        presenceOp(services, state, peer, { online: false, lastSeenAt: formatInstant(lastSeen(peer)) }),
      );
      const reason = silent.length === 1 ? `${silent[0]?.name} went offline` : `${silent.length} peers went offline`;
      const why = { actor: 'system:presence', reason, requestId: newId('ev') };
      const isRecorded = await unlessFull(() => store.commit(workspace, ops, why).then(() => undefined));
      for (const { uid } of silent) {
        if (isRecorded) liveness.recorded(workspace, uid);
        else liveness.keepUnrecorded(workspace, uid, false);
      }
    }
    const gone = new Set(silent);
    const deadlines = online
      .filter((peer) => !gone.has(peer))
      .map((peer) => (came.has(peer) ? now + RECHECK_MS : lastSeen(peer) + onlineMs(peer)));
    return deadlines.length === 0 ? undefined : deadlines.reduce((a, b) => Math.min(a, b));
  });
}

interface PeerPresence {
  readonly peer: PeerRecord;
  /** As it is recorded. */
  readonly isOnline: boolean;
}

function peerById(state: NetworkState, uid: string): PeerPresence | undefined {
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
