import { MeshError } from '../base/errors.ts';
import { formerAddressOf } from '../changes/renumber.ts';
import { type DeltaGraph, type FullGraph, type GraphSelf, sameJson } from '../model/graph.ts';
import type { PeerRecord } from '../model/resources.ts';
import type { GraphServers } from '../model/services.ts';
import type { NetworkState } from '../state/state.ts';
import { NOTHING, type ViewDeltas } from './view-delta.ts';
import type { GraphViews } from './views.ts';

/** The parts of a graph that do not follow from the network. */
export interface GraphSettings extends GraphServers {
  readonly epoch: string;
  readonly reason: string;
  readonly checkpoint: string | null;
  /** Slug of the workspace. */
  readonly workspace?: string | undefined;
}

/**
 * The whole graph of one node: the peers with which it has some allowed traffic, and the rules of that traffic.
 *
 * @throws MeshError `peer_pending` before approval: never an empty map.
 */
export function graphFor(
  state: NetworkState,
  views: GraphViews,
  peer: PeerRecord,
  { epoch, reason, checkpoint, workspace, ...settings }: GraphSettings,
): FullGraph {
  const self = selfOf(peer, state, workspace);
  const { peers, firewall } = views.of(peer).without(peer.uid);
  const head = { epoch, version: state.revision, reason, self };
  return { kind: 'full', ...head, peers, firewall, ...serversOf(settings), checkpoint };
}

/** The graph that a node received last: its peer in that state, and the version. */
export interface SentGraph {
  readonly state: NetworkState;
  readonly peer: PeerRecord;
  readonly version: number;
}

/**
 * Returns the delta from the graph that a node received last to its present one; undefined where they are the same.
 *
 * @throws as {@link graphFor}
 */
export function deltaFor(
  told: SentGraph,
  state: NetworkState,
  deltas: ViewDeltas,
  peer: PeerRecord,
  { epoch, reason, checkpoint, workspace, ...settings }: GraphSettings,
): DeltaGraph | undefined {
  const self = selfOf(peer, state, workspace);
  const changed = deltas.of(told.peer, peer).without(peer.uid);
  if (changed === undefined && sameJson(self, selfOf(told.peer, told.state, workspace))) return undefined;
  const head = { epoch, version: state.revision, reason, self, ...serversOf(settings), checkpoint };
  const { peers, delta } = changed ?? NOTHING;
  const digest = deltas.after.of(peer).digestWithout(peer.uid);
  return { kind: 'delta', ...head, base: told.version, peers, firewall: { digest, delta } };
}

function serversOf({ relay, relays, stun }: GraphServers): GraphServers {
  return { relay, ...(relays && { relays }), stun };
}

function selfOf(peer: PeerRecord, state: NetworkState, workspace: string | undefined): GraphSelf {
  const { uid, name, spec, status } = peer;
  if (status.phase === 'pending') {
    throw new MeshError(
      'peer_pending',
      `The device ${name} waits for the approval of an administrator. Ask again later.`,
    );
  }
  if (status.phase !== 'ready' || status.address === null) {
    throw new MeshError('forbidden', `The device ${name} is ${status.phase}: it has no network any more.`);
  }
  const former = formerAddressOf(peer, state);
  return {
    id: uid,
    name,
    address: status.address,
    cidr: state.networks.get(spec.network)?.spec.cidr ?? `${status.address}/32`,
    phase: 'ready',
    ...(spec.expiresAt !== undefined && { expiresAt: spec.expiresAt }),
    ...(workspace !== undefined && { workspace }),
    ...(former && { former }),
  };
}
