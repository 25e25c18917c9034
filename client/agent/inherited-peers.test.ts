import { expect, test } from 'vitest';
import type { TunnelPeerState } from '../tunnel/tunnel.ts';
import { inheritedPeersOf } from './inherited-peers.ts';
import { graphOf } from './overlay.testkit.ts';

const state = (name: string, allowedIp: string, address: string | null): TunnelPeerState => ({
  publicKey: `key-${name}`,
  allowedIps: [allowedIp],
  endpoint: address === null ? null : { address, port: 51_820 },
  handshakeAt: null,
  receivedBytes: 0,
  sentBytes: 0,
});

test('a tunnel that was taken over keeps direct peers, puts relayed ones again, and drops those of no graph', () => {
  const inherited = [
    state('direct', '10.96.0.2/32', '192.0.2.7'),
    state('relayed', '10.96.0.3/32', 'fd6c:7270::ca6c:2'),
    state('by IPv4', '10.96.0.4/32', '127.77.0.3'),
    state('gone', '10.96.0.9/32', '192.0.2.9'),
  ];
  const { peers, directs } = inheritedPeersOf({ inherited }, graphOf(['direct', 'relayed', 'by IPv4', 'new']));
  expect([...peers.keys()]).toEqual(['key-direct', 'key-gone']);
  expect([...directs]).toEqual([['key-direct', { address: '192.0.2.7', port: 51_820 }]]);
});

test('what a peer may send from is as the tunnel has it, so that another graph is seen to differ', () => {
  const { peers } = inheritedPeersOf({ inherited: [state('a', '10.96.0.77/32', '192.0.2.7')] }, graphOf(['a']));
  expect(peers.get('key-a')?.allowedIps).toEqual(['10.96.0.77/32']);
});
