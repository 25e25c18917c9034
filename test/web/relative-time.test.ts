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
