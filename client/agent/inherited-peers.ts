import type { FullGraph, GraphPeer } from '../../core/model/graph.ts';
import { isRelayEndpoint } from '../relay-endpoints.ts';
import type { Endpoint, Tunnel } from '../tunnel/tunnel.ts';

export interface InheritedPeers {
  /**
   * Peers of the tunnel, by public key, as a graph would have named them. A peer that has to be put again is left out, or has no
   * address: those that no graph names any more leave so.
   */
  readonly peers: Map<string, GraphPeer>;
  /** Where it reaches peers directly; relayed ones were reached through the agent that is gone. */
  readonly directs: ReadonlyMap<string, Endpoint>;
}

/** Returns the peers of a tunnel that was taken over and may stay as they are. */
export function inheritedPeersOf({ inherited }: Pick<Tunnel, 'inherited'>, graph: FullGraph): InheritedPeers {
  const wanted = new Map(graph.peers.map((peer) => [peer.publicKey, peer]));
  const peers = new Map<string, GraphPeer>();
  const directs = new Map<string, Endpoint>();
  for (const { publicKey, allowedIps, endpoint } of inherited) {
    const peer = wanted.get(publicKey);
    const isDirect = endpoint !== null && !isRelayEndpoint(endpoint.address);
    if (peer && !isDirect) continue;
    peers.set(publicKey, { ...(peer ?? { id: '', name: '', publicKey, address: '' }), allowedIps });
    if (peer && isDirect) directs.set(publicKey, endpoint);
  }
  return { peers, directs };
}
