import type { NodeStatus, PeerStatus } from '../../../client/agent/node-status.ts';

export const peerStatus = (name: string, more: Partial<PeerStatus>): PeerStatus => ({
  id: `p_${name}`,
  name,
  address: '10.96.0.2',
  transport: 'ice-ready',
  path: 'direct',
  handshake: '2026-01-01T11:59:48.000Z',
  state: 'connected',
  endpoint: '203.0.113.7:51820',
  relay: null,
  reason: { code: 'direct', detail: 'The peer answers.' },
  since: null,
  roundTripMs: 1,
  receivedBytes: 0,
  sentBytes: 0,
  expiresAt: null,
  ...more,
});

export const OPEN = { blocked: [], notJudged: [], translated: [], opened: null, openTrouble: '', lookedAt: null };

/** Of a node whose control plane answers and lets it in. */
export const nodeStatus = (peers: readonly PeerStatus[]): NodeStatus => ({
  node: {
    id: 'p_a',
    name: 'a',
    newName: null,
    workspaceId: 'w',
    publicKey: 'key',
    address: '10.96.0.1',
    cidr: '10.96.0.0/24',
    interface: 'mesh0',
    tunnel: 'kernel',
    listenPort: 51_820,
    expiresAt: null,
    pid: 1,
    startedAt: '2026-01-01T00:00:00.000Z',
  },
  routes: { accepted: [], refused: null, carried: null },
  control: {
    server: 'https://mesh.example.net',
    standing: 'ready',
    heardAt: '2026-01-01T11:58:30.000Z',
    trouble: '',
    bus: { url: 'nats://mesh.example.net:4222', isUp: true, trouble: '' },
    graph: { version: 12, epoch: 'e' },
  },
  log: {
    origin: 'mesh.internal/log/0123/w',
    size: 41,
    root: 'root',
    key: 'key',
    verifiedAt: '2026-01-01T11:50:00.000Z',
    finding: null,
    trouble: '',
  },
  names: { domain: 'prod.mesh.internal', server: '10.96.0.1:53', resolver: 'systemd-resolved', trouble: '' },
  relay: {
    state: 'ready',
    address: 'lrp://mesh.example.net:6266',
    reason: null,
    sentPackets: 0,
    receivedPackets: 0,
    dropped: { 'queue-full': 3, 'too-large': 0 },
    all: [],
  },
  icePort: { isShared: true, obstacle: null, mapped: { ipv4: '198.51.100.1:51820', ipv6: null } },
  firewall: { in: 2, out: 1, ...OPEN },
  ignored: {},
  trouble: '',
  peers: [...peers],
});
