import { requireAssertionsAfter } from '../assertions/guard.ts';
import { commitContext } from '../base/commit-context.ts';
import { invalidInput, MeshError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { CallContext } from '../base/operation.ts';
import type { CommitContext, Op } from '../base/ports.ts';
import { serialized } from '../base/serialize.ts';
import { hasEnded } from '../base/time.ts';
import { slotIndexOf } from '../changes/slot-index.ts';
import { assignSlot, freeSlot, networkCheck, type PeerDraft } from '../changes/slots.ts';
import { issueToken, renewToken } from '../identity/device-token.ts';
import { grantedLabels } from '../model/device-labels.ts';
import { lookUp } from '../model/find.ts';
import { peerNameOf } from '../model/peer-name.ts';
import type { PeerRecord, Platform } from '../model/resources.ts';
import { expiredToken, spendOp, type TokenRecord, tokenName, unknownToken } from '../model/token-record.ts';
import { workspaceById } from '../model/workspaces.ts';
import { ancestors, family } from '../state/agent-tree.ts';
import { agentOf } from '../state/network-model.ts';
import type { NetworkServices } from '../state/services.ts';
import type { NetworkState } from '../state/state.ts';
import { enrolDelegate } from './enrol-delegate.ts';
import { type Enrolment, joinEnrolment } from './enrolment.ts';
import { checkProof, provenOps, requireNewKey } from './key-proof.ts';
import { rememberingWorkload, usedIdentity, type Workload, workloadOf } from './workload.ts';

export interface DeviceRequest {
  readonly token: string;
  /** Left out by a sub-agent, whose peer then bears its name. */
  readonly name?: string | undefined;
  readonly platform: Platform;
  readonly publicKey: string;
  readonly hostname?: string | undefined;
  readonly proof?: string | undefined;
  readonly version?: string | undefined;
  /** Beside those of its token, which has to grant them. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  /** Deleted once it has been offline for a while; its token may say so too. */
  readonly ephemeral?: boolean | undefined;
  /** OIDC token of a workload, where its join token asks for one. */
  readonly identity?: string | undefined;
}

export interface Registration {
  readonly peer: Pick<PeerRecord, 'uid' | 'name' | 'spec' | 'status'>;
  /** Absent where it registered before, sent no proof, and has its token: that one stays good. */
  readonly deviceToken?: string;
  readonly agentToken?: string;
  /** True when the same token and key had registered it before. */
  readonly existing: boolean;
}

export type DeviceCall = CallContext<
  Pick<
    NetworkServices,
    'store' | 'clock' | 'states' | 'keys' | 'settings' | 'liveness' | 'keyAllowance' | 'workloads' | 'usedOnce'
  >
>;

/**
 * Without a proof anyone who knows token and public key could ask again, so that another device token is given only while the
 * first may have been lost on its way: so long after the registration, so many times, and never once the device was heard of.
 */
const LOST_ANSWER_MS = 5 * 60_000;
export const LOST_ANSWERS = 3;

/**
 * Makes the peer of a device and spends one use of its token, in one commit. The same token and key again answer the same
 * peer and spend nothing, with a new device token for who proves to hold the key. Without a new token nothing is written.
 *
 * @throws MeshError `unauthenticated` for a token that is used up, `conflict` for a taken name or key or a full workspace; as
 * `workloadOf`
 */
export async function registerDevice(context: DeviceCall, request: DeviceRequest): Promise<Registration> {
  const { services, workspace } = context;
  const isProven = checkProof(services, request, request.token);
  // Its issuer may take its time, in which others register.
  const workload = await newWorkload(context, request, isProven);
  return serialized(services.store, workspace, async () => {
    const token = await readToken(context);
    const state = await services.states.current(workspace);
    const known = slotIndexOf(state).peerWithKey(request.publicKey);
    if (known) return registerAgain(context, state, known, token, isProven);
    const displayName = request.name ?? subAgentName(token);
    const given = peerNameOf(displayName);
    const name = request.name === undefined ? freeName(state, given) : given;
    if (lookUp(state.peers, name)) {
      const suggestedName = freeName(state, name);
      const detail = `A device ${name} is registered already: choose another name, such as ${suggestedName}.`;
      throw new MeshError('conflict', detail, { suggestedName });
    }
    const isAgents = token.spec.kind === 'dlg' || token.spec.issuedBy !== undefined;
    await requireNewKey(services, workspace, { publicKey: request.publicKey, isProven }, isAgents);
    return create(context, state, token, { ...request, name, displayName, isProven, workload });
  });
}

/** Returns the workload that registers a new key, where its join token asks for one. */
async function newWorkload(
  context: DeviceCall,
  { identity, publicKey }: DeviceRequest,
  isProven: boolean,
): Promise<Workload | undefined> {
  const { services, workspace } = context;
  const token = await readToken(context);
  const { spec } = token;
  if (spec.identity !== undefined && !isProven) {
    // The join token is no secret: without a proof, whoever knows it and the key would get a device token.
    const detail = 'A device of a workload has to prove its private key: send the proof.';
    throw invalidInput([{ pointer: '/proof', detail }], detail);
  }
  const known = slotIndexOf(await services.states.current(workspace)).peerWithKey(publicKey);
  const workload = known ? undefined : await workloadOf(services, spec, identity);
  // With another join token too; the record of this one outlives a restart.
  if (!workload) return undefined;
  const { digest: what, until: expiresAt } = workload;
  const isFirst = await services.usedOnce.use({
    purpose: 'workload',
    what,
    owner: token.uid,
    by: publicKey,
    expiresAt,
  });
  if (!isFirst) throw usedIdentity();
  return workload;
}

/** Name of the sub-agent that a delegate token is for. @throws MeshError `invalid_input` for a join token, which names nobody */
function subAgentName({ spec }: TokenRecord): string {
  if (spec.kind === 'dlg') return spec.name;
  const detail = 'Name the device: only a sub-agent has a name already.';
  throw invalidInput([{ pointer: '/name', detail }], detail);
}

/** The name, or the first of `name-2`, `name-3` and so on that no peer has. */
function freeName({ peers }: NetworkState, name: string): string {
  for (let count = 1; ; count += 1) {
    const suffix = count === 1 ? '' : `-${count}`;
    const free = name.slice(0, MAX_NAME_LENGTH - suffix.length) + suffix;
    if (!lookUp(peers, free)) return free;
  }
}

/** Maximum length of a name from `peerNameOf`. */
const MAX_NAME_LENGTH = 63;

async function readToken({ services, workspace, caller }: DeviceCall): Promise<TokenRecord> {
  const token = await services.store.getById(workspace, 'Token', caller.id);
  if (!token) throw unknownToken();
  if (hasEnded(token.spec, services.clock.now())) throw expiredToken();
  return token;
}

async function registerAgain(
  context: DeviceCall,
  state: NetworkState,
  peer: PeerRecord,
  token: TokenRecord,
  isProven: boolean,
): Promise<Registration> {
  const { store } = context.services;
  if (peer.status.tokenId !== token.uid) {
    throw new MeshError('conflict', 'This public key is registered already: make a new key, or use its first token.');
  }
  if (peer.status.phase === 'revoked') throw new MeshError('forbidden', 'This device was revoked.');
  if (peer.status.proven && !isProven) {
    const detail = 'This device proved its private key when it registered: send the proof again.';
    throw new MeshError('conflict', detail);
  }
  if (!isProven && !(await mayHaveNoToken(context, state, peer))) return { peer, existing: true };
  const createdBy = context.caller.subject;
  const device = await renewToken(store, context.workspace, 'dev', { name: peer.name, owner: peer.uid, createdBy });
  const agent = peer.spec.agentRef === undefined ? undefined : state.agents.get(peer.spec.agentRef);
  const owned = agent && { name: agent.name, owner: agent.uid, createdBy };
  const agentToken = owned && (await renewToken(store, context.workspace, 'agt', owned));
  const proven = provenOps(peer, isProven, context.services.clock.now());
  const ops = [device.op, ...(agentToken ? [agentToken.op] : []), ...proven];
  await store.commit(context.workspace, ops, tokenUse(context, token, `registered ${peer.name} again`));
  return {
    peer,
    deviceToken: device.token,
    ...(agentToken && { agentToken: agentToken.token }),
    existing: true,
  };
}

async function mayHaveNoToken(
  { services, workspace }: DeviceCall,
  state: NetworkState,
  peer: PeerRecord,
): Promise<boolean> {
  const wasHeard = state.presence.has(peer.name) || services.liveness.lastSeen(workspace, peer.uid) !== undefined;
  if (wasHeard || services.clock.now() - peer.createdAt > LOST_ANSWER_MS) return false;
  const token = await services.store.get(workspace, { kind: 'Token', name: tokenName('dev', peer.uid) });
  // The first version of the token came with the registration, and each one after it is a new token.
  return token === undefined || token.generation <= LOST_ANSWERS;
}

interface NewDevice extends DeviceRequest {
  readonly name: string;
  readonly displayName: string;
  readonly isProven: boolean;
  readonly workload: Workload | undefined;
}

async function create(
  context: DeviceCall,
  state: NetworkState,
  token: TokenRecord,
  request: NewDevice,
): Promise<Registration> {
  const { services, workspace, caller } = context;
  const { store } = services;
  const now = services.clock.now();
  const granted = grantedLabels(token.spec, request.labels);
  const spend = spendOp(request.workload ? rememberingWorkload(token, request.workload, now) : token, now);
  const { spec: settings } = await workspaceById(services, workspace);
  const enrolment =
    token.spec.kind === 'dlg'
      ? enrolDelegate(state, token, request.name, { now, isPending: settings.settings.requirePeerApproval })
      : joinEnrolment(state, token, now);
  requirePeerQuota(state, enrolment, settings.maxNodeCount);
  const labelled = { ...enrolment, labels: { ...granted, ...enrolment.labels } };
  const draft = peerDraft(request, labelled, token, freeSlot(state, settings.maxNodeCount));
  const placed =
    settings.settings.requirePeerApproval && !token.spec.admits
      ? { record: draft, ops: networkCheck(state, draft.spec.network) }
      : assignSlot(state, draft, now);
  const device = issueToken('dev', { name: draft.name, owner: draft.uid, createdBy: caller.subject });
  const ops: Op[] = [spend, { op: 'create', record: placed.record }, ...placed.ops, device.op, ...enrolment.ops];
  const readSet = await requireAssertionsAfter(context, state, ops);
  await store.commit(workspace, ops, {
    ...tokenUse(context, token, `registered device ${draft.name}`, request.workload),
    readSet,
  });
  return {
    peer: placed.record,
    deviceToken: device.token,
    ...(enrolment.agentToken !== undefined && { agentToken: enrolment.agentToken }),
    existing: false,
  };
}

/** Part of the nodes of a workspace that one root agent and all below it may have. */
export const AGENT_PEER_QUOTA = 0.5;

/** @throws MeshError `conflict` when the tree of agents has its part of the workspace's nodes */
function requirePeerQuota(state: NetworkState, { agentRef, delegatedBy }: Enrolment, maxNodeCount: number): void {
  const agent = state.agents.get(agentRef ?? delegatedBy ?? '');
  if (!agent) return;
  const tree = new Set(family(state, ancestors(state, agent).at(-1) ?? agent).map(({ name }) => name));
  const share = Math.max(1, Math.floor(maxNodeCount * AGENT_PEER_QUOTA));
  const held = [...state.peers.values()].filter((peer) => tree.has(agentOf(peer) ?? '')).length;
  if (held < share) return;
  throw new MeshError(
    'conflict',
    `An agent and its sub-agents have at most ${share} of the ${maxNodeCount} nodes of this workspace, and have them: end one first.`,
  );
}

function peerDraft(request: NewDevice, enrolment: Enrolment, token: TokenRecord, slot: string): PeerDraft {
  const { name, displayName, platform, publicKey, hostname, isProven, ephemeral = false, version, workload } = request;
  const { labels, network, agentRef, delegatedBy, expiresAt } = enrolment;
  return {
    kind: 'MeshPeer',
    name,
    uid: newId('p'),
    labels,
    annotations: {},
    spec: {
      displayName,
      hostname: hostname ?? displayName,
      platform,
      publicKey,
      network,
      ...(agentRef !== undefined && { agentRef }),
      ...(delegatedBy !== undefined && { delegatedBy }),
      ...(expiresAt !== undefined && { expiresAt }),
    },
    status: {
      phase: 'pending',
      address: null,
      tokenId: token.uid,
      tokenBy: token.spec.createdBy,
      ...(workload && { workload: { issuer: workload.issuer, subject: workload.subject } }),
      ...(isProven && { proven: true }),
      ...((ephemeral || token.spec.ephemeral) && { ephemeral: true as const }),
      ...(version !== undefined && { version }),
    },
    unique: [`pubkey:${publicKey}`, slot],
  };
}

function tokenUse(context: DeviceCall, token: TokenRecord, reason: string, workload?: Workload): CommitContext {
  const { origin, caller } = context;
  const detail = { tokenId: token.uid, kind: token.spec.kind, ...(workload && { workload: workload.subject }) };
  return commitContext(context, reason, {
    securityEvents: [{ type: 'token_used', actor: caller.subject, result: 'ok', detail, ...(origin && { origin }) }],
  });
}
