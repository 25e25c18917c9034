import { expect, test } from 'vitest';
import { agent, network, peer, policy, stateWith } from '../../test/kits/records/records.ts';
import type { StoredRecord } from '../base/record.ts';
import { formatInstant } from '../base/time.ts';
import type { AgentSpec } from '../model/resources.ts';
import { buildCompiler } from './compiled.ts';
import { modelOf } from './network-model.ts';

const NOW = 1_800_000_000_000;
const NAMESPACE = 'prod';
const REACH = [{ to: [{ peerSelector: { matchLabels: { role: 'db' } } }] }];

const root = (spec: Partial<AgentSpec> = {}) => agent('root', { reach: REACH, ...spec });
const child = (parent: string, spec: Partial<AgentSpec> = {}) =>
  agent('child', { parentRef: { name: parent, namespace: NAMESPACE }, ...spec }, { depth: 1 });
const childPeer = peer('sandbox', { agentRef: 'child', address: '10.96.0.9' });

function boundOf(...records: readonly StoredRecord[]) {
  const { peers } = modelOf(stateWith(...records), NOW);
  const { bound, phase } = peers.find(({ name }) => name === 'sandbox') ?? {};
  return { bound, phase };
}

test('a peer of no agent, and that of a root agent, have no bound', () => {
  const { peers } = modelOf(stateWith(root(), peer('web'), peer('own', { agentRef: 'root' })), NOW);
  expect(peers.map(({ bound }) => bound)).toEqual([undefined, undefined]);
});

test('a delegated peer is bound by that of its parent, and by nothing once that has left', () => {
  const middle = agent('middle', { parentRef: { name: 'root', namespace: NAMESPACE } }, { depth: 1 });
  const ofRoot = peer('root-peer', { agentRef: 'root' });
  const left = boundOf(root(), middle, child('middle'), childPeer, ofRoot);
  const near = boundOf(root(), middle, child('middle'), childPeer, ofRoot, peer('middle-peer', { agentRef: 'middle' }));
  expect([left.bound, near.bound]).toEqual([{ reach: [] }, { ancestor: 'middle-peer' }]);
  expect(boundOf(root(), child('root'), childPeer, ofRoot).bound).toEqual({ ancestor: 'root-peer' });
});

test('below a root agent without a peer the reach of the root bounds it, and no reach is nothing', () => {
  expect(boundOf(root(), child('root'), childPeer).bound).toEqual({ reach: REACH });
  expect(boundOf(agent('root'), child('root'), childPeer).bound).toEqual({ reach: [] });
});

test('a broken line of ancestors, or one that has ended, leaves nothing', () => {
  const ended = formatInstant(NOW);
  expect(boundOf(child('gone'), childPeer).bound).toEqual({ reach: [] });
  expect(boundOf(root({ expiresAt: ended }), child('root'), childPeer).bound).toEqual({ reach: [] });
  const revoked = agent('root', { reach: REACH }, { phase: 'Revoked' });
  expect(boundOf(revoked, child('root'), childPeer).bound).toEqual({ reach: [] });
});

test('a peer whose identity is unknown or over counts as expired', () => {
  expect(boundOf(childPeer).phase).toBe('expired');
  expect(boundOf(root(), child('root', { expiresAt: formatInstant(NOW) }), childPeer).phase).toBe('expired');
});

test('a state is compiled once until something of it expires, and presence compiles nothing anew', () => {
  const reachability = buildCompiler();
  const state = stateWith(
    network('default'),
    peer('a', { address: '10.96.0.1' }),
    peer('b', { address: '10.96.0.2' }),
    policy('base', { action: 'DENY', expiresAt: formatInstant(NOW + 1_000) }),
  );
  const now = reachability(state, NOW);
  expect(reachability({ ...state, presence: new Map(), revision: 11 }, NOW + 999)).toBe(now);
  const later = reachability(state, NOW + 1_000);
  expect([now, later].map((one) => one.verdict('a', 'b', 'TCP', 80))).toEqual([false, true]);
  expect(reachability(state, NOW)).toBe(now);
});
