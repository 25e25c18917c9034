import type { NetworkModel, PeerInput } from './model.ts';
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

/** What a delegated peer may open at most: as much as another endpoint, or the rules of a `reach`. */
export type Bound =
  | { readonly ancestor: number | undefined }
  | { readonly rules: readonly RuleCode[]; readonly id: string };

export interface Bounds {
  /** All rules of all bounds: their selectors and blocks divide endpoints into classes too. */
  readonly rules: readonly RuleCode[];
  readonly ofPeer: ReadonlyMap<string, Bound>;
}

/** Reads the delegation bounds of a model. */
export function boundsOf(model: NetworkModel, codes: PolicyCodes): Bounds {
  const ofPeer = new Map<string, Bound>();
  const reaches = new Map<string, { rules: RuleCode[]; id: string }>();
  if (!model.peers.some(({ bound }) => bound)) return { rules: [], ofPeer };
  const places = new Map(model.peers.map(({ name }, place) => [name, place]));
  for (const { name, bound } of model.peers) {
    if (bound === undefined) continue;
    if ('ancestor' in bound) {
      ofPeer.set(name, { ancestor: places.get(bound.ancestor) });
      continue;
    }
    const id = JSON.stringify(bound.reach);
    const reach = reaches.get(id) ?? { rules: codes.ofReach(bound.reach), id };
    reaches.set(id, reach);
    ofPeer.set(name, reach);
  }
  return { rules: [...reaches.values()].flatMap(({ rules }) => rules), ofPeer };
}

export function endpointsOf(model: NetworkModel, classIndexes: readonly number[], bounds: Bounds): Endpoint[] {
  const peers = model.peers.map((peer, place): Endpoint => {
    const classIndex = classIndexes[place] ?? 0;
    const dead = deathOf(peer, model.now);
    const bound = bounds.ofPeer.get(peer.name);
    const unit = dead ?? `${classIndex}${bound ? `|${boundKey(bound)}` : ''}`;
    return { name: peer.name, classIndex, external: false, network: peer.network, dead, bound, unit };
  });
  const externals = (model.externals ?? []).map(({ name }, place): Endpoint => {
    const classIndex = classIndexes[model.peers.length + place] ?? 0;
    const unit = `${classIndex}`;
    return { name, classIndex, external: true, network: undefined, dead: undefined, bound: undefined, unit };
  });
  return [...peers, ...externals];
}

function deathOf({ phase = 'ready', expiresAt }: PeerInput, now: number): ReasonCode | undefined {
  if (phase === 'expired') return 'PEER_EXPIRED';
  if (phase === 'revoked') return 'PEER_REVOKED';
  if (phase !== 'ready') return 'PEER_PENDING';
  return expiresAt !== undefined && !(expiresAt > now) ? 'PEER_EXPIRED' : undefined;
}

function boundKey(bound: Bound): string {
  return 'id' in bound ? `r${bound.id}` : `a${bound.ancestor ?? ''}`;
}
