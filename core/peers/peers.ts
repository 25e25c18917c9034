import { requireAssertionsAfter } from '../assertions/guard.ts';
import { commitContext } from '../base/commit-context.ts';
import { MeshError } from '../base/errors.ts';
import { permitFirst } from '../base/permit-first.ts';
import type { CommitContext, Op, ReadSet } from '../base/ports.ts';
import { draftOf, type RecordDraft } from '../base/record.ts';
import { requireSession } from '../base/require-session.ts';
import { serialized } from '../base/serialize.ts';
import { formatInstant } from '../base/time.ts';
import { writtenRecord } from '../base/written-record.ts';
import { ADDRESS_QUARANTINE_MS } from '../changes/address.ts';
import { quarantineDraft } from '../changes/quarantine.ts';
import { assignSlot } from '../changes/slots.ts';
import { lookUp } from '../model/find.ts';
import { peerNameOf } from '../model/peer-name.ts';
import { withRename } from '../model/renames.ts';
import { normalizeName, type PeerRecord } from '../model/resources.ts';
import { tokenName } from '../model/token-record.ts';
import { findPeer } from '../state/find-peer.ts';
import type { NetworkServices, PeerCall, PeerServices } from '../state/services.ts';
import type { NetworkState } from '../state/state.ts';
import { requireOneHolder } from './name-holders.ts';
import { presenceOp } from './presence.ts';
import { changedIdentity } from './self-change.ts';

/**
 * Lets a pending or revoked peer in: it gets its address and, from then on, its graph.
 *
 * @throws MeshError `conflict` for a bare name that another key bore lately
 */
export function approvePeer(context: PeerCall, id: string): Promise<PeerRecord> {
  return change(context, id, async (state, peer) => {
    if (peer.status.phase === 'ready') return { peer, ops: [] };
    await requireOneHolder(context, peer, id);
    const ops = admission(state, peer, context.services.clock.now(), context.caller.subject);
    const readSet = await requireAssertionsAfter(context, state, ops);
    return { peer, ops, readSet, reason: `approved device ${peer.name}` };
  });
}

/** Returns the writes that let a pending or revoked peer in. */
export function admission(state: NetworkState, peer: PeerRecord, now: number, approver = ''): Op[] {
  const { address, ...status } = peer.status;
  const approval = { approvedBy: approver, approvedAt: formatInstant(now) };
  const draft = { ...draftOf(peer), status: { ...status, ...approval, address, phase: 'ready' as const } };
  // A revoked peer kept its address.
  const placed = address === null ? assignSlot(state, draft, now) : { record: draft, ops: [] };
  return [update(peer, placed.record), ...placed.ops, ...activationOps(state, peer)];
}

/** Shuts a peer out: nobody hears it, its token says nothing any more. It keeps its name, key and address. */
export function revokePeer(context: PeerCall, id: string): Promise<PeerRecord> {
  return change(context, id, async (state, peer) => {
    if (peer.status.phase === 'revoked') return { peer, ops: [] };
    const record = { ...draftOf(peer), status: { ...peer.status, phase: 'revoked' as const } };
    const ops = [update(peer, record), ...offlineOps(state, peer, context.services)];
    return { peer, ops, reason: `revoked device ${peer.name}` };
  });
}

/**
 * Makes a peer that came with an agent's token one that stays.
 *
 * @throws MeshError `conflict` for the peer of an agent, and for a bare name that another key bore lately
 */
export function adoptPeer(context: PeerCall, id: string): Promise<PeerRecord> {
  requireSession(context.caller);
  return change(context, id, async (state, peer) => {
    const record = adopted(peer);
    if (!record) return { peer, ops: [] };
    await requireOneHolder(context, peer, id);
    const ops = [update(peer, record)];
    const readSet = await requireAssertionsAfter(context, state, ops);
    return { peer, ops, readSet, reason: `adopted device ${peer.name}` };
  });
}

/** The record of a peer without what binds it to an agent; undefined where nothing does. @throws MeshError `conflict` */
export function adopted(peer: PeerRecord): RecordDraft<'MeshPeer'> | undefined {
  if (peer.spec.agentRef !== undefined) {
    throw new MeshError('conflict', `${peer.name} is the peer of the agent ${peer.spec.agentRef} and ends with it.`);
  }
  const { delegatedBy, expiresAt: _, ...spec } = peer.spec;
  return delegatedBy === undefined ? undefined : { ...draftOf(peer), spec };
}

/** Gives a peer another name. Its id, key, address and labels stay. @throws MeshError `conflict` when it is taken */
export function renamePeer(context: PeerCall, id: string, asked: string): Promise<PeerRecord> {
  return rename(context, id, { asked });
}

/** As {@link renamePeer}, by the device itself. @throws MeshError `rate_limited` and, before its approval, `peer_pending` too */
export function renameOwnPeer(context: PeerCall, id: string, asked: string): Promise<PeerRecord> {
  return rename(context, id, { asked, byItself: true });
}

function rename(context: PeerCall, id: string, how: Omit<Rename, 'peer'>): Promise<PeerRecord> {
  return change(context, id, async (state, peer) => {
    const ops = await renameOps(context, state, { ...how, peer });
    if (ops.length === 0) return { peer, ops };
    const readSet = await requireAssertionsAfter(context, state, ops);
    const name = normalizeName(how.asked);
    return { peer, ops, readSet, reason: `renamed device ${peer.name}${name === peer.name ? '' : ` to ${name}`}` };
  });
}

interface Rename {
  readonly peer: PeerRecord;
  readonly asked: string;
  /** Ops that are written together with it, an update of the peer among them. */
  readonly others?: readonly Op[];
  /** True where its device asks for it. */
  readonly byItself?: boolean;
}

/** Returns the ops that give a peer another name, with other writes or alone. @throws MeshError `conflict` when it is taken */
export async function renameOps(
  context: PeerCall,
  state: NetworkState,
  { peer, asked, others = [], byItself = false }: Rename,
): Promise<readonly Op[]> {
  const name = normalizeName(asked) === peer.name ? peer.name : peerNameOf(asked);
  if (name === peer.name && peer.spec.displayName === asked) return others;
  const own = others.find((op) => op.op === 'update' && op.record.uid === peer.uid);
  const draft = own?.op === 'update' && own.record.kind === 'MeshPeer' ? own.record : draftOf(peer);
  const rest = others.filter((op) => op !== own);
  const now = context.services.clock.now();
  const before = byItself ? changedIdentity(draft.status, now) : draft.status;
  const status = name === peer.name ? before : { ...before, renames: withRename(before.renames, peer.name, now) };
  const record = { ...draft, name, spec: { ...draft.spec, displayName: asked }, status };
  if (name === peer.name) return [update(peer, record), ...rest];
  const ops: Op[] = [
    { op: 'delete', key: { kind: 'MeshPeer', name: peer.name }, revision: peer.revision },
    { op: 'create', record },
    ...renamedPresence(state, peer, name),
    ...agentPeerOps(state, peer, name),
    ...rest,
  ];
  await permitFirst(context, ops, () => requireFreeName(state, peer, name));
  return ops;
}

function requireFreeName({ peers }: NetworkState, { uid }: PeerRecord, name: string): void {
  const holder = lookUp(peers, name);
  if (!holder || holder.uid === uid) return;
  throw new MeshError('conflict', `A device ${holder.name} exists already: choose another name.`);
}

/** Removes a peer with all that is its own: presence, token, and its address, which goes into quarantine. */
export async function deletePeer(context: PeerCall, id: string): Promise<void> {
  const { services, workspace } = context;
  await serialized(services.store, workspace, async () => {
    const state = await services.states.current(workspace);
    const peer = findPeer(state, id);
    await removePeers(services, state, [peer], commitContext(context, `deleted device ${peer.name}`));
  });
}

/** Removes peers in one commit, and then drops what is in memory about them. */
export async function removePeers(
  services: PeerServices,
  state: NetworkState,
  peers: readonly PeerRecord[],
  commit: CommitContext,
): Promise<void> {
  const { store, clock, liveness } = services;
  const now = clock.now();
  const ops = await Promise.all(
    peers.map(async (peer) => [
      ...(await removalOps(services, state, peer, now)),
      ...agentPeerOps(state, peer, undefined),
    ]),
  );
  await store.commit(state.workspace, ops.flat(), commit);
  for (const { uid } of peers) liveness.forget(state.workspace, uid);
}

/** Returns the ops that remove a peer, without its identity: for commits that end the identity too. */
export async function removalOps(
  { store }: Pick<NetworkServices, 'store'>,
  state: NetworkState,
  peer: PeerRecord,
  now: number,
): Promise<Op[]> {
  const { address } = peer.status;
  const token = await store.get(state.workspace, { kind: 'Token', name: tokenName('dev', peer.uid) });
  const presence = presenceOf(state, peer);
  return [
    { op: 'delete', key: { kind: 'MeshPeer', name: peer.name }, revision: peer.revision },
    ...(address === null
      ? []
      : [{ op: 'create', record: quarantineDraft(address, now + ADDRESS_QUARANTINE_MS) } as const]),
    ...[presence, token].flatMap((record): Op[] =>
      record ? [{ op: 'delete', key: { kind: record.kind, name: record.name }, revision: record.revision }] : [],
    ),
  ];
}

interface PeerWrite {
  readonly peer: PeerRecord;
  readonly ops: readonly Op[];
  readonly reason?: string;
  /** The read set of the change, beside the records that it names. */
  readonly readSet?: ReadSet;
}

async function change(
  context: PeerCall,
  id: string,
  plan: (state: NetworkState, peer: PeerRecord) => Promise<PeerWrite>,
): Promise<PeerRecord> {
  const { services, workspace } = context;
  return serialized(services.store, workspace, async () => {
    const state = await services.states.current(workspace);
    const { peer, ops, readSet, reason = '' } = await plan(state, findPeer(state, id));
    if (ops.length === 0) return peer;
    const commit = commitContext(context, reason, { ...(readSet && { readSet }) });
    return writtenRecord(await services.store.commit(workspace, ops, commit), peer);
  });
}

function update(peer: PeerRecord, record: RecordDraft): Op {
  return { op: 'update', record, revision: peer.revision };
}

function presenceOf(state: NetworkState, { name }: PeerRecord) {
  return state.presence.get(name);
}

function offlineOps(state: NetworkState, peer: PeerRecord, services: PeerServices): Op[] {
  const { clock, liveness } = services;
  if (!presenceOf(state, peer)?.spec.online) return [];
  const seen = liveness.lastSeen(state.workspace, peer.uid) ?? clock.now();
  return [presenceOp(services, state, peer, { online: false, lastSeenAt: formatInstant(seen) })];
}

function renamedPresence(state: NetworkState, peer: PeerRecord, name: string): Op[] {
  const presence = presenceOf(state, peer);
  if (!presence) return [];
  return [
    { op: 'delete', key: { kind: 'Presence', name: presence.name }, revision: presence.revision },
    { op: 'create', record: { ...draftOf(presence), name } },
  ];
}

/** An agent whose peer had to be let in acts from then on. */
function activationOps(state: NetworkState, peer: PeerRecord): Op[] {
  const agent = peer.spec.agentRef === undefined ? undefined : state.agents.get(peer.spec.agentRef);
  if (agent?.status.phase !== 'Pending') return [];
  const record = { ...draftOf(agent), status: { ...agent.status, phase: 'Active' as const } };
  return [{ op: 'update', record, revision: agent.revision }];
}

/** The identity of an agent's peer names it, and stays barred where a revoked one goes. */
function agentPeerOps(state: NetworkState, peer: PeerRecord, name: string | undefined): Op[] {
  const agent = peer.spec.agentRef === undefined ? undefined : state.agents.get(peer.spec.agentRef);
  if (agent?.status.peerRef === undefined) return [];
  const { peerRef: _, ...status } = agent.status;
  const isBarred = name === undefined && peer.status.phase === 'revoked';
  const named = { ...status, ...(name !== undefined && { peerRef: name }), ...(isBarred && { barred: true as const }) };
  const record = { ...draftOf(agent), status: named };
  return [{ op: 'update', record, revision: agent.revision }];
}
