import type { EgressRule } from '../model/policy.ts';
import { entriesMatch } from '../model/policy-match.ts';
import { PARENT_LABEL } from '../model/presets.ts';
import type { AgentRecord, PeerRecord } from '../model/resources.ts';
import type { DelegationBound } from '../reachability/model.ts';
import { ALL_PORTS, NO_PORTS, type PortSetId, type PortSets } from '../reachability/port-sets.ts';
import type { Reachability } from '../reachability/reachability.ts';
import { ancestors } from '../state/agent-tree.ts';
import { boundOf, peersOfAgents } from '../state/network-model.ts';
import type { NetworkState } from '../state/state.ts';

/**
 * Rules of the same form as a root agent's `reach`, one list for each bound that holds: a connection is within reach
 * where every list allows it.
 */
export type Layers = readonly (readonly EgressRule[])[];

/**
 * Returns the bounds of an agent's reach: the `reach` that a person gave its root, and the preset of every delegation from
 * there down to itself. A line without a root reaches nothing.
 */
export function layersOf(state: NetworkState, agent: AgentRecord): Layers {
  const line = [agent, ...ancestors(state, agent)];
  const root = line.at(-1);
  if (root === undefined || root.spec.parentRef !== undefined) return [[]];
  return [root.spec.reach ?? [], ...line.slice(0, -1).flatMap((member, index) => presetLayer(member, line[index + 1]))];
}

/** Returns the bound that a preset adds to the parent's reach; none where it keeps all of it. */
function presetLayer({ uid, spec }: AgentRecord, parent: AgentRecord | undefined): Layers {
  switch (spec.policyPreset) {
    case 'isolated':
      return [[]];
    case 'sandboxed':
      return [spec.egress ?? []];
    case 'coordinator': {
      const family = [uid, ...(parent ? [parent.uid] : [])];
      const to = family.map((value) => ({ peerSelector: { matchLabels: { [PARENT_LABEL]: value } } }));
      return [[...(spec.egress ?? []), { to }]];
    }
    case 'inherit':
      return [];
    default:
      return spec.policyPreset satisfies never;
  }
}

/** The ports of each peer that are within an agent's reach. */
export type ReachOf = (peer: PeerRecord) => PortSetId;

/**
 * An agent's reach at one instant: its layers within the delegation bound of the engine, which below a parent with a peer
 * is what that peer may open.
 */
export function reachOf({ state, reach, now }: Moment, agent: AgentRecord, ports: PortSets): ReachOf {
  const bound = boundOf(state, agent, peersOfAgents(state.peers.values()), now);
  const above = bound && 'ancestor' in bound ? bound.ancestor : undefined;
  const layers = withBound(layersOf(state, agent), bound);
  const known = new Map<string, PortSetId>();
  return (peer) => {
    const found = known.get(peer.name);
    if (found !== undefined) return found;
    let set = layers.reduce((left, rules) => ports.meet(left, portsOfRules(rules, peer, ports)), ALL_PORTS);
    if (above !== undefined && set !== NO_PORTS) {
      const open = reach.allowed(above, peer.name);
      set = ports.meet(set, open === 'ALL' ? ALL_PORTS : ports.ofRanges(open));
    }
    known.set(peer.name, set);
    return set;
  };
}

/** A network at one instant, compiled for it. */
interface Moment {
  readonly state: NetworkState;
  readonly reach: Reachability;
  /** Milliseconds. */
  readonly now: number;
}

/**
 * The layers of an agent within its delegation bound, for peers that join later. What the peer above may open to them is
 * not known yet.
 */
export function boundedLayersOf(state: NetworkState, agent: AgentRecord, now: number): Layers {
  return withBound(layersOf(state, agent), boundOf(state, agent, peersOfAgents(state.peers.values()), now));
}

function withBound(layers: Layers, bound: DelegationBound | undefined): Layers {
  return bound && 'reach' in bound ? [...layers, bound.reach] : layers;
}

function portsOfRules(rules: readonly EgressRule[], peer: PeerRecord, ports: PortSets): PortSetId {
  return rules
    .filter(({ to }) => entriesMatch(to, peer))
    .reduce((set, rule) => ports.union(set, ports.ofEntries(rule.ports ?? [])), NO_PORTS);
}
