import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { openBus } from './bus.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const OUTAGE_MS = 300_000;

/** How long a node waits before each attempt of an outage, where it draws the same share of each span. */
async function waits(drawn: number): Promise<number[]> {
  vi.spyOn(Math, 'random').mockReturnValue(drawn);
  const at: number[] = [];
  const bus = openBus({
    url: 'nats://127.0.0.1:1',
    signIn() {
      at.push(performance.now());
      throw new Error('away');
    },
    inClear: false,
    inboxPrefix: '_INBOX.p',
    waitMs: 2_000,
    subjects: [],
    log: silentLog,
    onMessage: () => {},
    onUp: () => {},
    onDown: () => {},
    onTrouble: () => {},
  });
  await vi.advanceTimersByTimeAsync(OUTAGE_MS);
  await bus.close();
  return at.slice(1).map((instant, index) => instant - (at[index] ?? 0));
}

test('a node whose bus is away begins with short waits, and tries again within ten seconds however long that lasts', async () => {
  const longest = await waits(0.999);
  expect(longest[0]).toBeLessThan(1_000);
  expect(Math.max(...longest)).toBeLessThanOrEqual(10_250);
  expect(Math.max(...longest)).toBeGreaterThan(10_000);
});

test('nodes that lost their bus together come back spread over the ten seconds', async () => {
  const [early, late] = [await waits(0.001), await waits(0.5)];
  expect([Math.max(...early) < 300, Math.abs((late.at(-1) ?? 0) - 5_250) < 10]).toEqual([true, true]);
});
