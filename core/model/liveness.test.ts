import { expect, test } from 'vitest';
import { buildLiveness, KEY_SHARED_MS } from './liveness.ts';

test('a peer is online for 45 s after a heartbeat from version 3 of the wire on, and for 90 s where it is older or unknown', () => {
  const liveness = buildLiveness();
  for (const wire of [1, 2, 3, 4]) liveness.heard('w', `p${wire}`, 0, wire);
  liveness.heard('w', 'unknown', 0);
  const silences = ['p1', 'p2', 'p3', 'p4', 'unknown', 'never heard'].map((uid) => liveness.onlineMs('w', uid));
  expect(silences).toEqual([90_000, 90_000, 45_000, 45_000, 90_000, 90_000]);
  expect([44_999, 45_000, 90_000].map((now) => liveness.countOnline(now))).toEqual([5, 3, 0]);
});

test('a node that goes back to an older version has the longer time again', () => {
  const liveness = buildLiveness();
  for (const wire of [3, 2]) liveness.heard('w', 'p', 0, wire);
  expect(liveness.onlineMs('w', 'p')).toBe(90_000);
});

test('a hearing that arrives late does not turn the clock back', () => {
  const liveness = buildLiveness();
  liveness.heard('w', 'p', 5_000);
  liveness.heard('w', 'p', 4_000);
  expect(liveness.lastSeen('w', 'p')).toBe(5_000);
});

test('peers of different workspaces are apart, and a forgotten one was never heard', () => {
  const liveness = buildLiveness();
  liveness.heard('w1', 'p', 1);
  expect(liveness.lastSeen('w2', 'p')).toBeUndefined();
  liveness.forget('w1', 'p');
  liveness.forget('w1', 'unknown');
  expect(liveness.lastSeen('w1', 'p')).toBeUndefined();
});

test('the version that a peer says last is kept until the peer is forgotten, and is no hearing', () => {
  const liveness = buildLiveness();
  liveness.said('w', 'p', '0.1.0');
  liveness.said('w', 'p', '0.2.0');
  expect(liveness.version('w', 'p')).toBe('0.2.0');
  expect(liveness.lastSeen('w', 'p')).toBeUndefined();
  liveness.forget('w', 'p');
  expect(liveness.version('w', 'p')).toBeUndefined();
});

test('a key counts as shared until ten minutes after both machines were heard, and is told as new once', () => {
  const liveness = buildLiveness();
  expect([liveness.keyShared('w', 'p', 1_000), liveness.keyShared('w', 'p', 2_000)]).toEqual([true, false]);
  liveness.heard('w', 'p', 2_000 + KEY_SHARED_MS - 1);
  expect(liveness.keySharedAt('w', 'p')).toBe(2_000);
  liveness.heard('w', 'p', 2_000 + KEY_SHARED_MS);
  expect(liveness.keySharedAt('w', 'p')).toBeUndefined();
  expect(liveness.keyShared('w', 'p', 900_000)).toBe(true);
});
