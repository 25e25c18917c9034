import { commitContext } from '../base/commit-context.ts';
import { MeshError } from '../base/errors.ts';
import type { CallContext } from '../base/operation.ts';
import type { Op } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { serialized } from '../base/serialize.ts';
import { formatInstant, hasEnded, parseInstant } from '../base/time.ts';
import { writtenRecord } from '../base/written-record.ts';
import { slotIndexOf } from '../changes/slot-index.ts';
import { futureViews } from '../graph/future-views.ts';
import { graphFor } from '../graph/graph-for.ts';
import { prepareInSlices } from '../graph/prepare-rows.ts';
import { viewsOf } from '../graph/views.ts';
import { renewToken } from '../identity/device-token.ts';
import { lookUpById } from '../model/find.ts';
import type { FullGraph } from '../model/graph.ts';
import type { NodeReport } from '../model/received-heartbeats.ts';
import type { PeerRecord } from '../model/resources.ts';
import { slugOf } from '../model/workspaces.ts';
import { recordDeparture, recordHeartbeat } from '../peers/presence.ts';
import { changedIdentity } from '../peers/self-change.ts';
import { dueCheckpoint, newestCheckpoint, recordWitness } from '../peers/witness-reports.ts';
import type { NetworkServices } from '../state/services.ts';
import type { NetworkState } from '../state/state.ts';
import {
  type ClaimedKey,
  checkProof,
  isAllowedByOldKey,
  type KeyClaim,
  provenOps,
  requireNewKey,
} from './key-proof.ts';

type OwnDeviceCall = CallContext<
  Pick<
    NetworkServices,
    | 'store'
    | 'clock'
    | 'states'
    | 'liveness'
    | 'settings'
    | 'nodeAccess'
    | 'keys'
    | 'nextTurn'
    | 'witnesses'
    | 'paths'
    | 'hearings'
    | 'keyAllowance'
  >
>;

/** The peer of the device that calls. @throws MeshError `not_found` once it is gone */
export async function ownPeer({
  services,
  workspace,
  caller,
}: CallContext<Pick<NetworkServices, 'states' | 'clock'>>): Promise<{ peer: PeerRecord; state: NetworkState }> {
  const state = await services.states.current(workspace);
  const peer = lookUpById(state.peers, caller.id);
  if (!peer || hasEnded(peer.spec, services.clock.now())) {
    throw new MeshError('not_found', 'This device is no longer registered: register it again.');
  }
  return { peer, state };
}

/** The whole graph of the device that calls. @throws MeshError `peer_pending` before approval */
export async function ownGraph(context: OwnDeviceCall): Promise<FullGraph> {
  const { services, workspace } = context;
  const { peer, state } = await ownPeer(context);
  const now = services.clock.now();
  const reachability = services.states.reachability(state, now);
  const ahead = futureViews(services.states, state, now);
  await prepareInSlices(services, reachability, () => ahead.map((then) => then.reachability));
  return graphFor(state, viewsOf(state, reachability, ahead), peer, {
    epoch: services.nodeAccess.graphEpoch,
    reason: 'requested',
    ...services.nodeAccess.servers(workspace, peer.spec.publicKey, now),
    checkpoint: await newestCheckpoint(services, workspace),
    workspace: await slugOf(services, workspace),
  });
}

/** Returns the credential with which a peer signs in to the bus; nothing unless the bus authenticates nodes by key. */
export function busJwtOf(
  { nodeAccess, clock }: Pick<NetworkServices, 'nodeAccess' | 'clock'>,
  workspace: string,
  { uid, spec }: Pick<PeerRecord, 'uid' | 'spec'>,
): { busJwt?: string } {
  const expiresAt = spec.expiresAt === undefined ? undefined : parseInstant(spec.expiresAt);
  const node = { uid, publicKey: spec.publicKey, ...(expiresAt !== undefined && { expiresAt }) };
  const busJwt = nodeAccess.busJwt(workspace, node, clock.now());
  return busJwt === undefined ? {} : { busJwt };
}

/** Where the bus is, and what the device that calls signs in with there. @throws MeshError `forbidden` once it is revoked */
export async function busAccess(context: OwnDeviceCall): Promise<{ signalingUrl: string; busJwt?: string }> {
  const { services, workspace } = context;
  const { peer } = await ownPeer(context);
  if (peer.status.phase === 'revoked') throw new MeshError('forbidden', 'This device was revoked.');
  return { signalingUrl: services.settings.signalingUrl, ...busJwtOf(services, workspace, peer) };
}

/**
 * A heartbeat by HTTP. Answers the version of the graph, so that a node knows whether it has missed one, and now and then
 * the newest checkpoint of the audit log.
 */
export async function heartbeat(
  context: OwnDeviceCall,
  { leaving, ...report }: Omit<NodeReport, 'wire'> & { readonly leaving?: true | undefined } = {},
): Promise<{ peer: PeerRecord; version: number; at: number; checkpoint: string | null }> {
  const { services, workspace, wire } = context;
  const said: NodeReport = { ...report, wire };
  const { peer } = await ownPeer(context);
  const { reason: _, ...commit } = commitContext(context, '');
  if (leaving) {
    await recordDeparture(services, workspace, peer.uid, commit);
  } else {
    services.hearings?.add({ ...said, workspace, peer: peer.uid, at: services.clock.now() });
    await recordHeartbeat(services, workspace, peer.uid, commit, said);
    services.paths.report(workspace, peer.uid, said.paths ?? []);
  }
  if (said.witnessed) await recordWitness(services, workspace, peer, said.witnessed);
  const { revision } = await services.states.current(workspace);
  const checkpoint = await dueCheckpoint(services, workspace, peer.uid);
  return { peer, version: revision, at: services.clock.now(), checkpoint };
}

/**
 * Gives the device another key and another token; the old ones end with the commit. With the key that it has, another token.
 * Another key that the present one does not allow waits for a person where the workspace has `requireApproval`.
 *
 * @throws MeshError `peer_pending` for another key before the device is approved
 */
export async function rotateKey(
  context: OwnDeviceCall,
  claim: KeyClaim & { readonly oldKeyProof?: string | undefined; readonly deviceToken?: string | undefined },
): Promise<{ peer: PeerRecord; deviceToken: string }> {
  const { services, workspace, caller } = context;
  const { publicKey } = claim;
  const isProven = checkProof(services, claim, caller.id);
  return serialized(services.store, workspace, async () => {
    const { peer, state } = await ownPeer(context);
    const holder = slotIndexOf(state).peerWithKey(publicKey);
    if (holder && holder.uid !== peer.uid) {
      throw new MeshError('conflict', 'This public key is registered already: make a new key.');
    }
    const now = services.clock.now();
    const key = { publicKey, isProven };
    const isAllowed = holder !== undefined || isAllowedByOldKey(services, peer, claim);
    const ops = holder ? provenOps(peer, isProven, now) : [keyOp(peer, { ...key, isAllowed }, now)];
    const { agentRef, delegatedBy } = peer.spec;
    if (!holder) await requireNewKey(services, workspace, key, (agentRef ?? delegatedBy) !== undefined);
    const owned = { name: peer.name, owner: peer.uid, createdBy: caller.subject };
    const token = await renewToken(services.store, workspace, 'dev', owned, claim.deviceToken);
    const commit = commitContext(context, `rotated the key of ${peer.name}${isAllowed ? '' : UNPROVEN}`);
    const done = await services.store.commit(workspace, [...ops, token.op], commit);
    return { peer: ops.length > 0 ? writtenRecord(done, peer) : peer, deviceToken: token.token };
  });
}

const UNPROVEN = ', without a proof by its old key';

function keyOp(
  peer: PeerRecord,
  { publicKey, isProven, isAllowed }: ClaimedKey & { readonly isAllowed: boolean },
  now: number,
): Op {
  const { proven: _, keyByToken: _before, ...status } = changedIdentity(peer.status, now);
  const record = {
    ...draftOf(peer),
    spec: { ...peer.spec, publicKey },
    status: {
      ...status,
      ...(isProven && { proven: true }),
      ...(!isAllowed && { keyByToken: true as const }),
      keySince: formatInstant(now),
    },
    unique: [...peer.unique.filter((value) => !value.startsWith('pubkey:')), `pubkey:${publicKey}`],
  };
  return { op: 'update', record, revision: peer.revision };
}
