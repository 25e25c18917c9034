import { type DeltaGraph, type FirewallRules, type FullGraph, type GraphPeer, ruleKey, sameJson } from './graph.ts';

/** Returns the delta from one full graph of a node to a later one. */
export function deltaOf(before: FullGraph, after: FullGraph): DeltaGraph {
  const [old, now] = [byId(before.peers), byId(after.peers)];
  const { kind: _kind, peers: _peers, firewall, ...head } = after;
  return {
    ...head,
    kind: 'delta',
    base: before.version,
    peers: {
      added: after.peers.filter(({ id }) => !old.has(id)),
      updated: after.peers.filter((peer) => old.has(peer.id) && !sameJson(old.get(peer.id), peer)),
      removed: before.peers.filter(({ id }) => !now.has(id)).map(({ id }) => id),
    },
    firewall: {
      digest: firewall.digest,
      delta: {
        added: minus(firewall.full, before.firewall.full),
        removed: minus(before.firewall.full, firewall.full),
      },
    },
  };
}

function minus(rules: FirewallRules, without: FirewallRules): FirewallRules {
  const left = (way: 'in' | 'out') => {
    const gone = new Set(without[way].map(ruleKey));
    return rules[way].filter((entry) => !gone.has(ruleKey(entry)));
  };
  return { in: left('in'), out: left('out') };
}

function byId(peers: readonly GraphPeer[]): Map<string, GraphPeer> {
  return new Map(peers.map((peer) => [peer.id, peer]));
}
