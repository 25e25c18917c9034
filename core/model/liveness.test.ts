import { expect, test } from 'vitest';
import { buildLiveness, ONLINE_MS } from './liveness.ts';

test('a hearing brings a peer online when it is the first, or the first in 90 seconds', () => {
  const liveness = buildLiveness();
  const heard = [0, 30_000, 30_000 + ONLINE_MS - 1, 30_000 + 2 * ONLINE_MS].map((at) => liveness.heard('w', 'p', at));
  expect(heard).toEqual([true, false, false, true]);
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
