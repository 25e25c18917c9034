import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readCheckpoint } from '../core/audit/checkpoint.ts';
import { buildKit } from '../test/kits/plane/kit.ts';
import { startRecentHeads } from './recent-heads.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const LATER_MS = 60_000;
/** `vi.waitFor` by itself gives up after a second, which a machine with other work may take. */
const PATIENCE = { timeout: 30_000 };

/** Heads of which one workspace's cannot be kept for a while. */
async function planeWithFaultyHeads() {
  const kit = await buildKit();
  const { keys } = kit.services;
  const faulty = new Set<string>();
  const heads = {
    ...keys.logs.heads,
    keep: async (workspace: string, note: string) => {
      if (faulty.has(workspace)) throw new Error('no space');
      await keys.logs.heads.keep(workspace, note);
    },
  };
  const recent = startRecentHeads({ ...kit.services, keys: { ...keys, logs: { ...keys.logs, heads } } });
  const marked = async (workspace: string) => readCheckpoint((await heads.newest(workspace)) ?? '')?.size;
  return { kit, recent, faulty, marked };
}

test('a head that could not be kept is told until it is, whatever else is kept meanwhile, and is tried again by itself', async () => {
  const { kit, recent, faulty, marked } = await planeWithFaultyHeads();
  await using _ = kit;
  const workspace = await kit.workspace();
  faulty.add(workspace);
  await vi.waitFor(() => expect(recent.problem()).toContain(workspace), PATIENCE);
  const other = await kit.workspace();
  await vi.waitFor(
    async () => expect(await marked(other)).toBe(await kit.services.store.auditTree(other).size()),
    PATIENCE,
  );
  expect([await marked(workspace), recent.problem()]).toEqual([undefined, expect.stringContaining(workspace)]);
  faulty.clear();
  await vi.waitFor(() => {
    vi.advanceTimersByTime(LATER_MS);
    expect(recent.problem()).toBeUndefined();
  }, PATIENCE);
  expect(await marked(workspace)).toBe(await kit.services.store.auditTree(workspace).size());
  await recent.stop();
});

test('what could not be kept is tried once more at the end', async () => {
  const { kit, recent, faulty, marked } = await planeWithFaultyHeads();
  await using _ = kit;
  const workspace = await kit.workspace();
  faulty.add(workspace);
  await vi.waitFor(() => expect(recent.problem()).toContain(workspace), PATIENCE);
  faulty.clear();
  await recent.stop();
  expect([await marked(workspace), vi.getTimerCount()]).toEqual([
    await kit.services.store.auditTree(workspace).size(),
    0,
  ]);
});
