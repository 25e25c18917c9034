import { describe, expect, it } from 'vitest';
import { agent, network, peer, policy, stateWith } from '../../test/kits/records/records.ts';
import type { StoredRecord } from '../base/record.ts';
import { POLICY_LIMITS } from '../model/policy.ts';
import { compile } from '../reachability/engine.ts';
import { modelOf } from '../state/network-model.ts';
import type { NetworkState } from '../state/state.ts';
import { wouldFix } from './would-fix.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const states = { reachability: (state: NetworkState, now: number) => compile(modelOf(state, now)) };
const WEB = peer('web-1', { labels: { role: 'web' }, address: '10.96.0.1' });
const DB = peer('db-1', { labels: { role: 'db' }, address: '10.96.0.2' });
const QUERY = { src: 'web-1', dst: 'db-1', protocol: 'TCP', port: 5432 } as const;
const only = (role: string) => ({ matchLabels: { role } });
const UDP_53 = { ports: [{ protocol: 'UDP' as const, port: 53 }] };
const FROM_WEB = { peerSelector: only('web') };
const OTHER_PORTS = [
  { protocol: 'TCP', port: 1, endPort: 5431 },
  { protocol: 'TCP', port: 5433, endPort: 65535 },
  { protocol: 'UDP', port: 1, endPort: 65535 },
  { protocol: 'SCTP', port: 1, endPort: 65535 },
  { protocol: 'ICMP' },
];
const fix = (...records: StoredRecord[]) => wouldFix(states, stateWith(...records), QUERY, NOW);

describe('what would open a refused connection', () => {
  it('is the approval of a peer, and then what policies still forbid', () => {
    const shut = policy('shut', { action: 'DENY', peerSelector: { peers: [DB.uid] }, ingress: [{ from: [FROM_WEB] }] });
    expect(fix(peer('web-1', { labels: { role: 'web' }, phase: 'pending' }), DB, shut)).toEqual([
      { change: 'approve_peer', peer: 'web-1', by: 'someone with peers:approve', detail: 'Approve web-1.' },
      {
        change: 'apply_changes',
        changes: [
          {
            action: 'update',
            resource: 'MeshPolicy',
            name: 'shut',
            spec: {
              action: 'DENY',
              peerSelector: { peers: ['db-1'] },
              ingress: [
                { from: [{ peerSelector: { matchLabels: { role: 'web' }, notPeers: ['web-1'] } }] },
                { from: [{ peerSelector: { peers: ['web-1'] } }], ports: OTHER_PORTS },
              ],
            },
          },
        ],
        opens_pairs: 1,
        closes_pairs: 0,
      },
    ]);
  });

  it('is a policy for the two alone where others are like them, peers without labels too', () => {
    const guests = ['visitor', 'guest', 'stranger'].map((name, index) =>
      peer(name, { address: `10.96.0.${index + 5}` }),
    );
    const twin = peer('db-2', { labels: { role: 'db' }, address: '10.96.0.9' });
    const closed = policy('web-to-db', { action: 'ALLOW', peerSelector: only('db'), ingress: [{ from: [FROM_WEB] }] });
    const state = stateWith(WEB, DB, twin, ...guests, closed);
    expect(wouldFix(states, state, { ...QUERY, src: 'visitor' }, NOW)).toEqual([
      {
        change: 'apply_changes',
        changes: [
          {
            action: 'create',
            resource: 'MeshPolicy',
            name: 'allow-visitor-to-db-1',
            spec: {
              network: 'default',
              action: 'ALLOW',
              peerSelector: { peers: ['db-1'] },
              ingress: [{ from: [{ peerSelector: { peers: ['visitor'] } }], ports: [{ protocol: 'TCP', port: 5432 }] }],
            },
          },
        ],
        opens_pairs: 1,
        closes_pairs: 0,
      },
    ]);
  });

  it('leaves a peer that was isolated isolated from everyone else', () => {
    const isolate = policy('isolate-db-1', {
      action: 'DENY',
      peerSelector: { peers: [DB.uid] },
      ingress: [{}],
      egress: [{}],
    });
    const state = stateWith(WEB, DB, peer('other', { address: '10.96.0.7' }), isolate);
    const [step] = wouldFix(states, state, { src: 'web-1', dst: 'db-1' }, NOW);
    expect(step).toEqual({
      change: 'apply_changes',
      changes: [
        {
          action: 'update',
          resource: 'MeshPolicy',
          name: 'isolate-db-1',
          spec: {
            action: 'DENY',
            peerSelector: { peers: ['db-1'] },
            ingress: [
              {
                from: [
                  { peerSelector: { notPeers: ['web-1'] } },
                  { ipBlock: { cidr: '0.0.0.0/0', except: ['10.96.0.1/32'] } },
                  { ipBlock: { cidr: '::/0' } },
                ],
              },
            ],
            egress: [{}],
          },
        },
      ],
      opens_pairs: 1,
      closes_pairs: 0,
    });
  });

  it('gives the peer a policy of its own where the one that refuses selects others too', () => {
    const twin = peer('db-2', { labels: { role: 'db' }, address: '10.96.0.9' });
    const shut = policy('shut', { action: 'DENY', peerSelector: only('db'), ingress: [{ from: [FROM_WEB] }] });
    const step = wouldFix(states, stateWith(WEB, DB, twin, shut), { src: 'web-1', dst: 'db-1' }, NOW);
    const without = { peerSelector: { matchLabels: { role: 'web' }, notPeers: ['web-1'] } };
    expect(step).toMatchObject([
      {
        changes: [
          {
            action: 'update',
            name: 'shut',
            spec: { peerSelector: { ...only('db'), notPeers: ['db-1'] }, ingress: [{ from: [FROM_WEB] }] },
          },
          {
            action: 'create',
            name: 'shut-for-db-1',
            spec: { peerSelector: { ...only('db'), peers: ['db-1'] }, ingress: [{ from: [without] }] },
          },
        ],
        opens_pairs: 1,
      },
    ]);
  });

  it('leaves the other end what it was refused besides, where one policy of the two refuses at both ends', () => {
    const shut = policy('shut', {
      action: 'DENY',
      peerSelector: { peers: [WEB.uid, DB.uid] },
      ingress: [{ from: [{ peerSelector: { peers: [WEB.uid] } }] }],
      egress: [{ to: [{ peerSelector: { notPeers: [WEB.uid] } }] }],
    });
    const state = stateWith(WEB, DB, peer('other', { address: '10.96.0.7' }), shut);
    expect(wouldFix(states, state, { src: 'web-1', dst: 'db-1' }, NOW)).toMatchObject([
      {
        changes: [
          { action: 'delete', name: 'shut' },
          { action: 'create', name: 'shut-for-web-1' },
          { action: 'create', name: 'shut-for-db-1' },
        ],
        opens_pairs: 1,
        closes_pairs: 0,
      },
    ]);
  });

  it('takes the policy away where nobody else is refused by it', () => {
    const shut = policy('shut', {
      action: 'DENY',
      peerSelector: { peers: [DB.uid] },
      ingress: [{ from: [{ peerSelector: { peers: [WEB.uid] } }], ports: [{ protocol: 'TCP', port: 5432 }] }],
    });
    expect(fix(WEB, DB, shut)).toMatchObject([
      { changes: [{ action: 'delete', resource: 'MeshPolicy', name: 'shut' }], opens_pairs: 1 },
    ]);
  });

  it('takes the rule away for everyone, and counts whom that opens, where it has no room for one more peer', () => {
    const ids = Array.from({ length: POLICY_LIMITS.peersPerSelector }, (_, index) => `p_${index}`);
    const shut = policy('shut', {
      action: 'DENY',
      peerSelector: { peers: [DB.uid] },
      ingress: [{ from: [{ peerSelector: { notPeers: ids } }] }, UDP_53],
    });
    expect(fix(WEB, DB, peer('other', { address: '10.96.0.7' }), shut)).toMatchObject([
      { changes: [{ action: 'update', name: 'shut', spec: { ingress: [UDP_53] } }], opens_pairs: 2 },
    ]);
  });

  it('is to join again for a device whose time is over', () => {
    const over = peer('web-1', { labels: { role: 'web' }, expiresAt: '2026-01-01T00:00:00.000Z' });
    expect(fix(over, DB)).toMatchObject([{ change: 'rejoin', peer: 'web-1' }]);
  });

  it('is the same network for two peers of different ones, with what that opens and closes', () => {
    const lab = network('lab', { cidr: '10.97.0.0/24' });
    const far = peer('db-1', { labels: { role: 'db' }, network: 'lab', address: '10.97.0.2' });
    expect(fix(network('default'), lab, WEB, far)).toEqual([
      {
        change: 'apply_changes',
        changes: [{ action: 'update', resource: 'MeshPeer', name: 'web-1', network: 'lab' }],
        opens_pairs: 2,
        closes_pairs: 0,
      },
    ]);
  });

  it('is a wider reach of the agent above where a delegation bounds the peer, and no policy', () => {
    const boss = agent('boss', { reach: [] });
    const child = agent('child', { parentRef: { name: 'boss', namespace: 'test' } }, { peerRef: 'web-1' });
    const bound = peer('web-1', { labels: { role: 'web' }, agentRef: 'child' });
    expect(fix(boss, child, bound, DB)).toMatchObject([
      {
        change: 'widen_reach',
        peer: 'web-1',
        by: 'a person, for the agent above it',
        detail: expect.stringContaining('widen what that agent may reach to TCP 5432 of db-1'),
      },
    ]);
  });

  it('closes nothing for peers without labels where a policy isolates them by address', () => {
    const plain = peer('db-1', { address: '10.96.0.2' });
    const isolating = policy('isolating', {
      action: 'ALLOW',
      peerSelector: { matchExpressions: [{ key: 'role', operator: 'DoesNotExist' }] },
      ingress: [],
    });
    const [step] = fix(WEB, plain, isolating);
    expect(step).toMatchObject({ change: 'apply_changes', closes_pairs: 0 });
  });
});
