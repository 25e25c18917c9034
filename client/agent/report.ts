import { readCheckpoint } from '../../core/audit/checkpoint.ts';
import { formatInstant } from '../../core/base/time.ts';
import type { FullGraph } from '../../core/model/graph.ts';
import { formatHostPort } from '../../net/host-port.ts';
import type { LogStatus } from '../control/log-witness.ts';
import type { ConnectivityMetrics } from '../paths/connectivity.ts';
import type { PathStatus } from '../paths/status.ts';
import type { RelayView } from '../relay/relays.ts';
import type { Endpoint, Tunnel, TunnelPeerState } from '../tunnel/tunnel.ts';
import type { HostFirewallStatus, NodeStatus, PeerStatus } from './node-status.ts';

/** WireGuard renews the keys of a session in use every 2 minutes and drops them after 3. */
const SESSION_MS = 180_000;
/** Silence after which a peer counts as unreachable: WireGuard answers within 10 s, and tries a new session after 15. */
const UNREACHABLE_MS = 20_000;

/** Parts of the overlay at one instant. */
export interface OverlayFacts {
  readonly tunnel: Pick<Tunnel, 'kind' | 'listenPort'>;
  readonly graph: FullGraph;
  readonly tunnelPeers: readonly TunnelPeerState[];
  readonly paths: readonly PathStatus[];
  readonly metrics: ConnectivityMetrics;
  readonly hostFirewall: HostFirewallStatus;
}

/** The part of a status that comes from the overlay. */
export function overlayReport(
  facts: OverlayFacts,
  now: number,
): Pick<NodeStatus, 'relay' | 'icePort' | 'firewall' | 'ignored' | 'peers'> {
  const { graph, metrics, paths, tunnelPeers } = facts;
  const pathOf = new Map(paths.map((path) => [path.peerId, path]));
  const stateOf = new Map(tunnelPeers.map((peer) => [peer.publicKey, peer]));
  const { isShared, obstacle, mapped } = metrics.icePort;
  return {
    relay: { ...metrics.relay, all: relaysInUse(metrics.relay.all, paths) },
    icePort: {
      isShared,
      obstacle,
      mapped: { ipv4: formatEndpoint(mapped.ipv4), ipv6: formatEndpoint(mapped.ipv6) },
    },
    firewall: {
      in: graph.firewall.full.in.length,
      out: graph.firewall.full.out.length,
      ...facts.hostFirewall,
    },
    ignored: { ...metrics.ignored },
    peers: graph.peers.map((peer): PeerStatus => {
      const [path, state] = [pathOf.get(peer.id), stateOf.get(peer.publicKey)];
      const handshakeAt = state?.handshakeAt ?? null;
      return {
        id: peer.id,
        name: peer.name,
        address: peer.address,
        transport: path?.transport ?? 'probing',
        path: path?.path ?? null,
        handshake: handshakeAt === null ? null : formatInstant(handshakeAt),
        state: peerState(path, handshakeAt, now),
        silentMs: path?.silentMs ?? null,
        endpoint: formatEndpoint(path?.endpoint ?? null),
        relay: path?.relay ?? null,
        reason: path?.reason ?? { code: 'new', detail: 'Not looked at yet.' },
        since: path ? formatInstant(path.since) : null,
        roundTripMs: path?.roundTripMs ?? null,
        receivedBytes: state?.receivedBytes ?? 0,
        sentBytes: state?.sentBytes ?? 0,
        expiresAt: peer.expiresAt ?? null,
      };
    }),
  };
}

/** The relays with the peers that each carries packets for now; the others may come to need it at any moment. */
export function relaysInUse(relays: ConnectivityMetrics['relay']['all'], paths: readonly PathStatus[]): RelayView[] {
  const relayed = paths.filter(({ path }) => path === 'relayed');
  return relays.map((relay) => ({
    ...relay,
    peers: relayed.filter(({ relay: name }) => relays.length === 1 || name === relay.name).length,
  }));
}

export function logReport({ origin, kept, refused, trouble }: LogStatus): NodeStatus['log'] {
  const { size = null, root } = (kept && readCheckpoint(kept.note)) ?? {};
  return {
    origin,
    size,
    root: root === undefined ? null : Buffer.from(root).toString('base64'),
    key: kept ? Buffer.from(kept.key).toString('base64') : null,
    verifiedAt: kept ? formatInstant(kept.at) : null,
    finding: refused ? { ...refused, at: formatInstant(refused.at) } : null,
    trouble,
  };
}

export const NO_OVERLAY: ReturnType<typeof overlayReport> = {
  relay: { state: 'none', address: null, reason: null, sentPackets: 0, receivedPackets: 0, dropped: {}, all: [] },
  icePort: { isShared: false, obstacle: null, mapped: { ipv4: null, ipv6: null } },
  firewall: {
    in: 0,
    out: 0,
    blocked: [],
    notJudged: [],
    translated: [],
    opened: null,
    openTrouble: '',
    lookedAt: null,
  },
  ignored: {},
  peers: [],
};

/** `connected`: a session of both tunnels is in use; `idle`: a path is open and nobody has used it lately. */
export function peerState(path: PathStatus | undefined, handshakeAt: number | null, now: number): PeerStatus['state'] {
  switch (path?.transport) {
    case 'failed':
    case 'closed':
      return 'unreachable';
    case 'ice-ready':
    case 'lrp-ready':
      if (path.silentMs !== null && path.silentMs >= UNREACHABLE_MS) return 'unreachable';
      if (handshakeAt === null || now - handshakeAt >= SESSION_MS) return 'idle';
      return path.hasSession ? 'connected' : 'connecting';
    default:
      return 'connecting';
  }
}

function formatEndpoint(endpoint: Endpoint | null): string | null {
  return endpoint && formatHostPort(endpoint.address, endpoint.port);
}
