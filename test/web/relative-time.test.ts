import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => vi.useRealTimers());

test('what happened since the page was last drawn is told as past, not as to come', async () => {
  vi.useFakeTimers({ now: Date.parse('2026-01-01T00:00:00Z') });
  const { relativeTime } = await import('../../web/src/time/relative.ts');
  expect(relativeTime('2026-01-01T00:00:00Z')).toBe('now');
  vi.setSystemTime(Date.parse('2026-01-01T00:00:20Z'));
  expect(relativeTime('2026-01-01T00:00:15Z')).toBe('5 seconds ago');
  expect(relativeTime('2026-01-01T00:01:00Z')).toBe('in 40 seconds');
});

test.each([
  [59 * 60 + 59, 'in 1 hour'],
  [59 * 60 + 29, 'in 59 minutes'],
  [8 * 3_600 - 40, 'in 8 hours'],
  [7 * 86_400 - 40, 'in 7 days'],
  [24 * 3_600 - 40, 'tomorrow'],
  [30 * 86_400 - 40, 'in 30 days'],
  [-(59 * 60 + 50), '1 hour ago'],
])('%d seconds from now are told to the nearest unit: %s', async (seconds, words) => {
  vi.useFakeTimers({ now: Date.parse('2026-01-01T00:00:00Z') });
  const { relativeTime } = await import('../../web/src/time/relative.ts');
  expect(relativeTime(new Date(Date.now() + seconds * 1_000).toISOString())).toBe(words);
});
