import { expect, test } from 'vitest';
import { relativeTime } from './relative-time.ts';

const NOW = Date.parse('2026-03-15T12:00:00.000Z');

test.each([
  ['2026-03-15T12:00:00.400Z', 'now'],
  ['2026-03-15T11:59:48Z', '12 s ago'],
  ['2026-03-15T11:57:00.000Z', '3 min ago'],
  ['2026-03-15T14:59:59.000Z', 'in 3 h'],
  ['2026-03-15T14:20:00.000Z', 'in 2 h'],
  ['2026-03-15T12:59:59.000Z', 'in 1 h'],
  ['2026-03-15T09:00:01.000Z', '2 h ago'],
  ['2026-03-14T12:00:00.000Z', '1 day ago'],
  ['2026-04-13T12:00:00.000Z', 'in 29 days'],
  ['2025-12-31T23:00:00.000Z', '2025-12-31'],
  ['9999-12-31T23:59:59.999Z', 'never'],
])('%s is shown as %s', (text, shown) => {
  expect(relativeTime(text, NOW)).toBe(shown);
});

test.each(['', 'web-1', '2026-03-15', '2026-13-45T99:00:00Z', 'at 2026-03-15T12:00:00Z'])(
  '%j is no instant',
  (text) => {
    expect(relativeTime(text, NOW)).toBeUndefined();
  },
);
