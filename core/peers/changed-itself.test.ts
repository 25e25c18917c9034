import { expect, test } from 'vitest';
import type { PeerStatus } from '../model/resources.ts';
import { changedItself, OWN_REST_MS } from './changed-itself.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const STATUS: PeerStatus = { phase: 'ready', address: '10.96.0.2' };

test('a device changes itself once, and again after it has rested', () => {
  const changed = changedItself(STATUS, NOW);
  expect(() => changedItself(changed, NOW + OWN_REST_MS - 1)).toThrow('wait 1 s, then change it again');
  expect(changedItself(changed, NOW + OWN_REST_MS)).toMatchObject(STATUS);
});

test('after a clock that was ahead it does not wait until that is over', () => {
  const changed = changedItself(STATUS, NOW + 3_600_000);
  expect(changedItself(changed, NOW)).toEqual({ ...STATUS, changedItselfAt: '2026-01-05T12:00:00.000Z' });
});
