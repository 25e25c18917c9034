import { expect, test } from 'vitest';
import { policy, stateWith } from '../../test/kits/records/records.ts';
import type { PolicyRecord } from '../model/resources.ts';
import { changedBegins, momentOf } from './begins.ts';
import { afterCommit, type NetworkState } from './state.ts';

const NOW = Date.UTC(2030, 0, 1);
const HOUR = 3_600_000;
const DENY = { action: 'DENY', peerSelector: {} } as const;
const waiting = (name: string, hours: number, labels: Record<string, string> = {}) =>
  policy(name, { ...DENY, startsAt: new Date(NOW + hours * HOUR).toISOString() }, { labels });
const written = (state: NetworkState, ...records: PolicyRecord[]) =>
  afterCommit(state, { revision: 2, changes: records.map((record) => ({ type: 'updated', record })) });

test('a change of the labels of a policy that waits is judged at its begin, as any other change of it', () => {
  const before = stateWith(waiting('a', 1), waiting('b', 2));
  expect(momentOf(before, written(before, waiting('b', 2, { of: 'ada' })), NOW)).toBe(NOW + 2 * HOUR);
});

test('a change is judged at the first begin of what it writes, and now where it changes anything else', () => {
  const before = stateWith(waiting('a', 1));
  const moved = written(before, waiting('a', 3));
  expect(momentOf(before, moved, NOW)).toBe(NOW + HOUR);
  expect(changedBegins(before, moved)).toEqual([NOW + HOUR, NOW + 3 * HOUR]);
  expect(momentOf(before, written(moved, policy('b', DENY)), NOW)).toBe(NOW);
});
