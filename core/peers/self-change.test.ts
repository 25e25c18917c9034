import { expect, test } from 'vitest';
import type { PeerStatus } from '../model/resources.ts';
import { afterSelfChange, SELF_CHANGE_PAUSE_MS } from './self-change.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const STATUS: PeerStatus = { phase: 'ready', address: '10.96.0.2' };

test('a device changes itself once, and again after it has rested', () => {
  const changed = afterSelfChange(STATUS, NOW);
  expect(() => afterSelfChange(changed, NOW + SELF_CHANGE_PAUSE_MS - 1)).toThrow('wait 1 s, then change it again');
  expect(afterSelfChange(changed, NOW + SELF_CHANGE_PAUSE_MS)).toMatchObject(STATUS);
});

test('after a clock that was ahead it does not wait until that is over', () => {
  const changed = afterSelfChange(STATUS, NOW + 3_600_000);
  expect(afterSelfChange(changed, NOW)).toEqual({ ...STATUS, changedItselfAt: '2026-01-05T12:00:00.000Z' });
});
