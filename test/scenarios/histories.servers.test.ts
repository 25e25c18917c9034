import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { openStore } from '../../storage/open.ts';
import { randomOf } from '../faults/random.ts';
import { violationsIn } from '../histories/check.ts';
import { outcomesOf, runDrill } from '../histories/drill.ts';
import { faultsOf } from '../histories/faults.ts';
import { logOf } from '../histories/log.ts';
import { startCluster } from '../kits/cluster.ts';
import { FIRST_ADMIN, freshWorkspace } from '../kits/http/harness.ts';
import { canFreeze } from '../kits/process/freezer.ts';
import { hasNatsServer, startOwnTokenCluster, type TokenCluster } from '../kits/servers/nats-cluster.ts';
import { hasMongod, type ReplicaSet, startReplicaSet } from '../kits/servers/replica-set.ts';

const isLong = process.env['MESH_LONG'] === '1';
const SEED = 20_261_126;
const HISTORIES = isLong ? 25 : 1;
/** In each history of the long run, beside one of each fault: 200 in all. */
const KILLS = 1;
/** Preloaded, it takes the wait for what others have acknowledged out of a control plane. */
const DEAF = path.resolve(import.meta.dirname, '../kits/process/deaf-planes.ts');
const LONG_MS = isLong ? 7_200_000 : 300_000;

describe.skipIf(!hasMongod)('clients of three control planes on one replica set', () => {
  let servers: ReplicaSet;
  let bus: TokenCluster | undefined;
  beforeAll(async () => {
    [servers, bus] = await Promise.all([startReplicaSet(), hasNatsServer ? startOwnTokenCluster() : undefined]);
    if (isLong && !canFreeze) console.info('no freezer of control groups here: servers are stopped by SIGSTOP');
  }, LONG_MS);
  afterAll(async () => {
    await bus?.[Symbol.asyncDispose]();
    await servers?.stop();
  });

  async function drills(count: number, isFaulty: boolean, env: Readonly<Record<string, string>> = {}) {
    const config = { app: { rateLimit: 1_000_000, initAdmins: [FIRST_ADMIN] } };
    const cluster = await startCluster({ servers, config, env: { ...bus?.env, ...env } });
    const store = await openStore(servers.url(cluster.database), { clock: { now: Date.now }, log: silentLog });
    const each = faultsOf(cluster, servers, bus);
    const faults = [...Array.from({ length: isLong ? KILLS : 0 }, () => each.planeKilled), ...Object.values(each)];
    const violations: string[] = [];
    const outcomes = { read: 0, done: 0, refused: 0, nothing: 0, unknown: 0 };
    try {
      for (let nth = 0; nth < count; nth += 1) {
        const random = randomOf(SEED + nth);
        const place = await freshWorkspace(cluster.api, `drill-${nth}`);
        const history = await runDrill({ place, planes: cluster.planes, random, faults: isFaulty ? faults : [] });
        violations.push(...violationsIn(history, await logOf(store, place.workspace)));
        for (const [outcome, found] of Object.entries(outcomesOf(history)))
          outcomes[outcome as keyof typeof outcomes] += found;
        if (isLong)
          console.info('after history %d of %d: %o, %d violations', nth + 1, count, outcomes, violations.length);
      }
    } finally {
      await store.close();
      await cluster.stop();
    }
    return { violations, outcomes };
  }

  test(
    'there is one order in which all that they wrote and read is so, whatever is killed, paused or elected meanwhile',
    async () => {
      const { violations, outcomes } = await drills(HISTORIES, true);
      expect(violations).toEqual([]);
      // One history alone may have no request that was refused, or cut off in its middle.
      const { read, done, refused, unknown } = outcomes;
      for (const count of isLong ? [read, done, refused, unknown] : [read, done]) expect(count).toBeGreaterThan(0);
    },
    LONG_MS,
  );

  test(
    'control planes that do not listen to each other before they answer are found out',
    async () => {
      const { violations } = await drills(1, false, { NODE_OPTIONS: `--import=${DEAF}` });
      expect(violations.join('\n')).toMatch(/was read, which was not so|nothing spoke against it/);
    },
    LONG_MS,
  );
});
