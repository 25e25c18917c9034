import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import type { Firewall } from '../firewall/firewall.ts';
import { FirewallKeeper } from './firewall-keeper.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A firewall that something removes as soon as it is back. @returns how often it was put back within five seconds */
async function restoredOf(isGuarded: boolean): Promise<number> {
  let restored = 0;
  let tell = () => {};
  const firewall: Firewall = {
    apply: async () => {},
    async maintain() {
      await new Promise((resolve) => setTimeout(resolve, 10));
      restored += 1;
      tell();
      return true;
    },
    isGuarded: () => isGuarded,
    watch: (onRemoved) => {
      tell = onRemoved;
      return { close: async () => {} };
    },
    close: async () => {},
  };
  const keeper = new FirewallKeeper({
    firewall,
    interfaceName: 'mesh0',
    log: silentLog,
    onRestored: () => {},
    onHostChanged: () => {},
  });
  tell();
  await vi.advanceTimersByTimeAsync(4_900);
  await keeper.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  return restored;
}

test('rules that something removes again and again are put back at once, and then twice a second, while a guard denies', async () => {
  expect(await restoredOf(true)).toBeLessThanOrEqual(16);
  expect(await restoredOf(true)).toBeGreaterThanOrEqual(14);
});

test('without a guard they are put back as often as they are removed', async () => {
  expect(await restoredOf(false)).toBeGreaterThan(400);
});
