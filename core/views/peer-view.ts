import { z } from 'zod';
import { formatInstant, hasEnded } from '../base/time.ts';
import { PEER_PHASES, type PeerRecord, type PeerSpec, PLATFORMS, versionOf } from '../model/resources.ts';
import { lookUpPeer, lookUpPeerOrHost, peerNotFound } from '../state/find-peer.ts';
import type { NetworkServices } from '../state/services.ts';
import type { NetworkState } from '../state/state.ts';

const text = z.string();

/** The spec of a peer as it is stored. */
export const peerSpecShape = {
  displayName: text.describe('As the device gave it, before spaces became hyphens'),
  hostname: text,
  platform: z.enum(PLATFORMS),
  publicKey: text,
  network: text,
  agentRef: text.optional().describe('Name of the agent it belongs to'),
  delegatedBy: text.optional().describe('Name of the agent with whose join token it came; it ends with that agent'),
  expiresAt: text.optional().describe('The peer is deleted then'),
} satisfies { readonly [F in keyof PeerSpec]-?: z.ZodType<PeerSpec[F]> };

const { agentRef, delegatedBy, expiresAt, ...always } = peerSpecShape;

/** A peer as answers show it. */
export const peerSchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  ...always,
  labels: z.record(z.string(), z.string()),
  agent: orNull(agentRef),
  delegatedBy: orNull(delegatedBy),
  expiresAt: orNull(expiresAt),
  createdAt: z.string(),
  revision: z.int(),
  status: z.strictObject({
    phase: z.enum(PEER_PHASES),
    address: z.string().nullable().describe('Null while pending'),
    online: z.boolean(),
    lastSeenAt: z.string().nullable(),
    approvedBy: z.string().nullable(),
    approvedAt: z.string().nullable(),
    ephemeral: z.literal(true).optional().describe('It is deleted once it has been offline for 10 minutes'),
    keySince: z.string().describe('When it took its present key'),
    version: z.string().nullable().describe('Of the software that it runs, as it says; null where it never said'),
    keySharedAt: z
      .string()
      .optional()
      .describe('When two machines were last heard that use its key, as after copying its configuration directory'),
    mismatch: z.string().optional().describe('Why it is refused: its software or the control plane is to be upgraded'),
  }),
});

function orNull(field: z.ZodOptional<z.ZodString>) {
  return field
    .unwrap()
    .nullable()
    .describe(field.description ?? '');
}

export type PeerView = z.input<typeof peerSchema>;

/** A field of a peer as tables and details show it, where it has a value. */
interface PeerColumn {
  readonly title: string;
  /** The tables that have it as a column: of `mesh peers`, of the dashboard. Its details have all. */
  readonly in?: readonly ('mesh' | 'dashboard')[];
  readonly form?: 'instant' | 'copied';
}

type PeerField = Exclude<keyof PeerView, 'status'> | `status.${keyof PeerView['status']}`;

/** Every field of a peer, in the order of tables and details; undefined for those that other fields or the page say. */
const PEER_COLUMNS = {
  name: { title: 'Name', in: ['mesh'] },
  id: { title: 'Id', in: ['mesh'], form: 'copied' },
  'status.address': { title: 'Address', in: ['mesh', 'dashboard'], form: 'copied' },
  'status.online': { title: 'Online', in: ['mesh'] },
  'status.phase': { title: 'Phase', in: ['mesh'] },
  'status.version': { title: 'Version', in: ['mesh', 'dashboard'] },
  labels: { title: 'Labels', in: ['mesh', 'dashboard'] },
  agent: { title: 'Agent', in: ['mesh'] },
  delegatedBy: { title: 'Delegated by' },
  platform: { title: 'Platform', in: ['dashboard'] },
  hostname: { title: 'Host name' },
  displayName: undefined,
  network: { title: 'Network' },
  'status.ephemeral': { title: 'Ephemeral' },
  'status.lastSeenAt': { title: 'Last seen', in: ['dashboard'], form: 'instant' },
  'status.mismatch': { title: 'Refused' },
  'status.keySharedAt': { title: 'Key used by two machines', form: 'instant' },
  createdAt: { title: 'Joined', form: 'instant' },
  expiresAt: { title: 'Ends', form: 'instant' },
  'status.approvedBy': { title: 'Approved by' },
  'status.approvedAt': undefined,
  'status.keySince': { title: 'Key since', in: ['dashboard'], form: 'instant' },
  publicKey: { title: 'Public key', form: 'copied' },
  revision: undefined,
} satisfies { readonly [F in PeerField]: PeerColumn | undefined };

/** The columns with the fields that they show. */
export const peerColumns = Object.entries<PeerColumn | undefined>(PEER_COLUMNS).flatMap(([path, column]) =>
  column ? [{ path, ...column }] : [],
);

export function peerView(
  peer: PeerRecord,
  state: NetworkState,
  liveness: Pick<NetworkServices['liveness'], 'lastSeen' | 'version' | 'mismatch' | 'keySharedAt' | 'isHere'>,
): PeerView {
  const { uid, name, spec, status, labels, createdAt, revision } = peer;
  const presence = state.presence.get(name)?.spec;
  const heard = liveness.lastSeen(state.workspace, uid);
  const mismatch = liveness.mismatch(state.workspace, uid);
  const keySharedAt = liveness.keySharedAt(state.workspace, uid);
  return {
    id: uid,
    name,
    displayName: spec.displayName,
    hostname: spec.hostname,
    platform: spec.platform,
    publicKey: spec.publicKey,
    network: spec.network,
    labels,
    agent: spec.agentRef ?? null,
    delegatedBy: spec.delegatedBy ?? null,
    expiresAt: spec.expiresAt ?? null,
    createdAt: formatInstant(createdAt),
    revision,
    status: {
      phase: status.phase,
      address: status.address,
      online: isOnline(peer, state, liveness),
      lastSeenAt: heard === undefined ? (presence?.lastSeenAt ?? null) : formatInstant(heard),
      approvedBy: status.approvedBy ?? null,
      approvedAt: status.approvedAt ?? null,
      ...(status.ephemeral && { ephemeral: true as const }),
      keySince: status.keySince ?? formatInstant(createdAt),
      version: versionOf(peer, presence, liveness.version(state.workspace, uid)) ?? null,
      ...(keySharedAt !== undefined && { keySharedAt: formatInstant(keySharedAt) }),
      ...(mismatch !== undefined && { mismatch }),
    },
  };
}

/** As it said last, which is recorded later where it comes and goes often or the disk is full. */
function isOnline(
  { uid, name, status }: PeerRecord,
  state: NetworkState,
  liveness: Pick<NetworkServices['liveness'], 'isHere'>,
): boolean {
  const isRecorded = state.presence.get(name)?.spec.online === true;
  return status.phase === 'ready' ? (liveness.isHere(state.workspace, uid) ?? isRecorded) : isRecorded;
}

/** The peers that have not ended: one whose time is over is out of every answer at once, before it is deleted. */
export function livePeers({ peers }: NetworkState, now: number): PeerRecord[] {
  return [...peers.values()].filter((peer) => !hasEnded(peer.spec, now));
}

/** By id, name or overlay address. @throws MeshError `not_found`, also for a peer whose time is over */
export function findLivePeer(state: NetworkState, given: string, now: number): PeerRecord {
  return requireLive(lookUpPeer(state, given), state, given, now);
}

/** The same, and by a host name: for reading. */
export function findLivePeerOrHost(state: NetworkState, given: string, now: number): PeerRecord {
  return requireLive(lookUpPeerOrHost(state, given), state, given, now);
}

function requireLive(peer: PeerRecord | undefined, state: NetworkState, given: string, now: number): PeerRecord {
  if (peer && !hasEnded(peer.spec, now)) return peer;
  throw peerNotFound({ peers: new Map(livePeers(state, now).map((live) => [live.name, live])) }, given);
}
