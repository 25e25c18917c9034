import type { DelegationBound, NetworkModel, PeerInput } from './model.ts';
import type { PolicyCodes, RuleCode } from './program.ts';
import type { ReasonCode } from './reasons.ts';

/** A peer or an external as the matrix sees it, by its place in `peers ++ externals`. */
export interface Endpoint {
  readonly name: string;
  readonly classIndex: number;
  readonly external: boolean;
  readonly network: string | undefined;
  /** Why nothing reaches it; undefined for an endpoint that takes part. */
  readonly dead: ReasonCode | undefined;
  readonly bound: Bound | undefined;
  /** Endpoints with equal units differ in nothing but their name, save towards each other and their ancestors. */
  readonly unit: string;
}

/** By place; a place whose peer has gone stays empty, so that the others keep theirs. */
export type Endpoints = readonly (Endpoint | undefined)[];

/** The most that a delegated peer may open: as much as another endpoint, or the rules of a `reach`. */
export type Bound =
  | { readonly ancestor: number | undefined }
  | { readonly rules: readonly RuleCode[]; readonly id: string };

type Reach = Extract<Bound, { readonly id: string }>;

export interface Bounds {
  /** All rules of all bounds: their selectors and blocks divide endpoints into classes too. */
  readonly rules: readonly RuleCode[];
  readonly ofPeer: ReadonlyMap<string, Bound>;
  readonly reaches: ReadonlyMap<string, Reach>;
}

/** Reads the delegation bounds of a model. */
export function boundsOf(model: NetworkModel, codes: PolicyCodes): Bounds {
  const ofPeer = new Map<string, Bound>();
  const reaches = new Map<string, Reach>();
  if (!model.peers.some(({ bound }) => bound)) return { rules: [], ofPeer, reaches };
  const places = new Map(model.peers.map(({ name }, place) => [name, place]));
  for (const { name, bound } of model.peers) {
    if (bound === undefined) continue;
    if ('reach' in bound) {
      const id = reachId(bound.reach);
      if (!reaches.has(id)) reaches.set(id, { rules: codes.ofReach(bound.reach), id });
    }
    const read = boundFor(bound, reaches, places);
    if (read) ofPeer.set(name, read);
  }
  return { rules: [...reaches.values()].flatMap(({ rules }) => rules), ofPeer, reaches };
}

/** Undefined for a reach that is not among those known. */
export function boundFor(
  bound: DelegationBound,
  reaches: ReadonlyMap<string, Reach>,
  places: ReadonlyMap<string, number>,
): Bound | undefined {
  return 'ancestor' in bound ? { ancestor: places.get(bound.ancestor) } : reaches.get(reachId(bound.reach));
}

function reachId(reach: Extract<DelegationBound, { readonly reach: unknown }>['reach']): string {
  return JSON.stringify(reach);
}

export function endpointsOf(model: NetworkModel, classIndexes: readonly number[], bounds: Bounds): Endpoint[] {
  const peers = model.peers.map((peer, place) =>
    endpointOf(peer, classIndexes[place] ?? 0, bounds.ofPeer.get(peer.name), model.now),
  );
  const externals = (model.externals ?? []).map(({ name }, place): Endpoint => {
    const classIndex = classIndexes[model.peers.length + place] ?? 0;
    const unit = `${classIndex}`;
    return { name, classIndex, external: true, network: undefined, dead: undefined, bound: undefined, unit };
  });
  return [...peers, ...externals];
}

export function endpointOf(peer: PeerInput, classIndex: number, bound: Bound | undefined, now: number): Endpoint {
  const dead = inactiveReasonOf(peer, now);
  const unit = dead ?? `${classIndex}${bound ? `|${boundKey(bound)}` : ''}`;
  return { name: peer.name, classIndex, external: false, network: peer.network, dead, bound, unit };
}

function inactiveReasonOf({ phase = 'ready', expiresAt }: PeerInput, now: number): ReasonCode | undefined {
  if (phase === 'expired') return 'PEER_EXPIRED';
  if (phase === 'revoked') return 'PEER_REVOKED';
  if (phase !== 'ready') return 'PEER_PENDING';
  return expiresAt !== undefined && !(expiresAt > now) ? 'PEER_EXPIRED' : undefined;
}

function boundKey(bound: Bound): string {
  return 'id' in bound ? `r${bound.id}` : `a${bound.ancestor ?? ''}`;
}
