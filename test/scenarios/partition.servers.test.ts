import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { SHARES } from '../../plane/leadership/shares.ts';
import { openStore } from '../../storage/open.ts';
import { randomOf } from '../faults/random.ts';
import { violationsIn } from '../histories/check.ts';
import { outcomesOf, runDrill } from '../histories/drill.ts';
import { type Fault, MEANWHILE } from '../histories/faults.ts';
import { logOf } from '../histories/log.ts';
import { FIRST_ADMIN, freshWorkspace } from '../kits/http/harness.ts';
import { ledBy } from '../kits/leader-of.ts';
import { stopwatch } from '../kits/process/stopwatch.ts';
import { canSplit, type SplitHost, startSplitHosts } from '../kits/servers/split-hosts.ts';

const SEED = 20_261_127;
/** The side that is alone is left so until it has said that it cannot serve. */
const CUTS = 5;
const PATIENCE = { timeout: 60_000, interval: 200 };
const LONG_MS = 600_000;

describe.skipIf(!canSplit)('three hosts, each with a member of the replica set and a control plane', () => {
  let split: Awaited<ReturnType<typeof startSplitHosts>>;
  beforeAll(async () => {
    split = await startSplitHosts({
      app: { rateLimit: 1_000_000, initAdmins: [FIRST_ADMIN] },
    });
  }, LONG_MS);
  afterAll(() => split?.stop(), LONG_MS);

  test(
    'when the one with the primary is cut off nothing is lost and nothing old is read, and its plane comes back by itself',
    async () => {
      const place = await freshWorkspace(split.hosts[0]?.api ?? (() => Promise.reject()), 'parted');
      const took: Record<string, number>[] = [];
      const faults = Array.from({ length: CUTS }, () => parted(split.hosts, place, took));
      const history = await runDrill({ place, planes: split.hosts, random: randomOf(SEED), faults });
      const primary = await primaryOf(split.hosts);
      const store = await openStore(primary.storeUrl, { clock: { now: Date.now }, log: silentLog });
      const log = await logOf(store, place.workspace);
      await store.close();
      expect(violationsIn(history, log)).toEqual([]);
      const outcomes = outcomesOf(history);
      expect([outcomes.done > 0, outcomes.read > 0]).toEqual([true, true]);
      console.info(took, outcomes);
    },
    LONG_MS,
  );
});

type Place = Awaited<ReturnType<typeof freshWorkspace>>;

/** The primary and the plane beside it are on one side, everybody else on the other. */
function parted(hosts: readonly SplitHost[], place: Place, took: Record<string, number>[]): Fault {
  return async ({ asked, progress }) => {
    const cut = await primaryOf(hosts);
    const others = hosts.filter((host) => host !== cut);
    await cut.cut();
    const times: Record<string, number> = {};
    const sinceCut = stopwatch();
    const note = (what: string) => {
      times[what] = sinceCut();
    };
    try {
      asked.delete(cut);
      // Without an answer until it hears from the others again, or gives up.
      const status = cut.api('GET', '/api/v1/policies', place).then((answer) => answer.status);
      await progress(MEANWHILE);
      note('others write again');
      await expect.poll(async () => ledBy(others), PATIENCE).toBe(SHARES);
      note('others lead all');
      expect(await ledBy([cut])).toBe(0);
      expect(await status).toBe(503);
      note('it answers 503');
      await cut.heal();
      expect([200, 503]).toContain(await status);
    } finally {
      await cut.heal();
    }
    const sinceHealed = stopwatch();
    await expect.poll(async () => (await cut.api('GET', '/api/v1/policies', place)).status, PATIENCE).toBe(200);
    times['it serves again, from the healing on'] = sinceHealed();
    asked.set(cut, cut.api);
    took.push(times);
  };
}

function primaryOf(hosts: readonly SplitHost[]): Promise<SplitHost> {
  return vi.waitFor(async () => {
    for (const host of hosts) if (await host.isPrimary()) return host;
    throw new Error('no host has the primary');
  }, PATIENCE);
}
