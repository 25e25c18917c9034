import { expect, test } from 'vitest';
import type { PathStatus } from '../paths/status.ts';
import type { RelayView } from '../relay/relays.ts';
import { peerState, relaysInUse } from './report.ts';

const relay = (name: string): RelayView => ({
  name,
  region: null,
  address: `lrp://${name}.example.net:6266`,
  state: 'ready',
  reason: null,
  roundTripMs: null,
  // Peers whose packets would take it.
  peers: 2,
});
const path = (by: Pick<PathStatus, 'path' | 'relay'>) => by as PathStatus;
const counts = (names: readonly string[], paths: readonly PathStatus[]) =>
  relaysInUse(names.map(relay), paths).map(({ peers }) => peers);

test('a relay counts the peers whose packets it carries now, and none that is reached directly', () => {
  const direct = path({ path: 'direct', relay: null });
  expect(counts(['main', 'eu'], [direct, direct])).toEqual([0, 0]);
  expect(counts(['main', 'eu'], [direct, path({ path: 'relayed', relay: 'eu' })])).toEqual([0, 1]);
  // With a single relay no path has its name.
  expect(counts(['main'], [direct, path({ path: 'relayed', relay: null })])).toEqual([1]);
});

test('a peer with a path that does not answer for 20 s is unreachable', () => {
  const state = (silentMs: number | null, transport: PathStatus['transport'] = 'lrp-ready') =>
    peerState({ transport, silentMs, hasSession: true } as PathStatus, 0, 100_000);
  expect([null, 19_999, 20_000].map((silentMs) => state(silentMs))).toEqual(['connected', 'connected', 'unreachable']);
  expect(state(20_000, 'ice-ready')).toBe('unreachable');
});
