import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { memoryCells } from '../../core/base/memory-cells.ts';
import type { SharedState } from '../../core/base/shared.ts';
import { ConfigError } from './config.ts';
import { type Digests, requireSettings, shareSettings } from './shared-settings.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const PRO = { MESH_EDITION: 'pro', 'app.rateLimit': '1' };
const COMMUNITY = { ...PRO, MESH_EDITION: 'community' };

/** A store, those that live on it, and whether it answers. */
function world() {
  const clock = { now: () => Date.now() };
  const kept = memoryCells<unknown>(clock, 100);
  const living: string[] = [];
  const log = { warn: vi.fn() };
  const onRefused = vi.fn<(error: Error) => void>();
  const partsOf = (self: string, settings: Digests) => ({
    self,
    settings,
    cells: (() => kept) as unknown as SharedState['cells'],
    planes: async () => living,
  });
  return {
    living,
    log,
    onRefused,
    toldBy: async (plane: string) => (await kept.read([plane])).get(plane)?.value,
    requires: (self: string, settings: Digests) => requireSettings(partsOf(self, settings)),
    async start(self: string, settings: Digests) {
      living.push(self);
      return shareSettings({ ...partsOf(self, settings), clock, log, onRefused });
    },
  };
}

test('one that is refused names all that differ in one line, and they see nothing of it', async () => {
  const { start, requires, toldBy, log } = world();
  for (const plane of ['a', 'b']) await start(plane, PRO);
  const refused = requires('c', COMMUNITY);
  await expect(refused).rejects.toThrow(ConfigError);
  await expect(refused).rejects.toMatchObject({
    problems: [
      expect.stringMatching(/^MESH_EDITION: is not as at the control planes a and b, which are at work .*end those/),
    ],
  });
  await vi.advanceTimersByTimeAsync(5_000);
  expect([await toldBy('c'), log.warn.mock.calls]).toEqual([undefined, []]);
});

test('one with the same, or that differs in what may differ, is not refused', async () => {
  const { start, requires } = world();
  await start('a', PRO);
  await requires('b', PRO);
  await requires('b', { ...PRO, 'app.rateLimit': '2' });
});

test('one that started while those that differ could not be seen ends once they are back, and they stay', async () => {
  const { start, living, requires, onRefused } = world();
  const old = await start('a', PRO);
  await vi.advanceTimersByTimeAsync(60_000);
  // Its lease is over, as the store was away.
  living.length = 0;
  await requires('b', COMMUNITY);
  await start('b', COMMUNITY);
  living.push('a');
  await vi.advanceTimersByTimeAsync(4_000);
  expect(onRefused).toHaveBeenCalledWith(expect.any(ConfigError));
  expect(
    onRefused.mock.calls.every(([error]) => /MESH_EDITION: is not as at the control plane a,/.test(error.message)),
  ).toBe(true);
  expect(old.problem()).toContain('MESH_EDITION (b)');
});

test('a difference in what may differ ends nobody', async () => {
  const { start, onRefused, log } = world();
  await start('a', PRO);
  const other = await start('b', { ...PRO, 'app.rateLimit': '2' });
  await vi.advanceTimersByTimeAsync(4_000);
  expect(other.problem()).toContain('app.rateLimit (a)');
  expect([onRefused.mock.calls.length, log.warn.mock.calls.length]).toEqual([0, 2]);
});
