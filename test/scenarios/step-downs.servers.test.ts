import { setTimeout as after } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SHARES } from '../../plane/leadership/shares.ts';
import { type Cluster, startCluster } from '../kits/cluster.ts';
import { policyNames, writePolicies } from '../kits/cluster-load.ts';
import { freshWorkspace } from '../kits/http/harness.ts';
import { ledBy } from '../kits/leader-of.ts';
import { hasMongod, type ReplicaSet, startReplicaSet } from '../kits/servers/replica-set.ts';

const STEP_DOWNS = process.env['MESH_LONG'] === '1' ? 10 : 3;
const BETWEEN_MS = 3_000;
const PROBE_MS = 250;
const PATIENCE = { timeout: 90_000 };
/** The driver keeps as many connections as waited for an election at once; a leak would leave some with each. */
const SPARE_FDS = 60;

describe.skipIf(!hasMongod)(
  'three control planes whose primary steps down again and again',
  { timeout: 300_000 },
  () => {
    let servers: ReplicaSet;
    let cluster: Cluster;
    beforeAll(async () => {
      servers = await startReplicaSet();
      cluster = await startCluster({ servers });
    }, 180_000);
    afterAll(async () => {
      await cluster?.stop();
      await servers?.stop();
    });

    const openFds = () =>
      Promise.all(
        cluster.planes.map(async ({ url }) => {
          const text = await (await fetch(`${url}/metrics`)).text();
          return Number(/^process_open_fds (\d+)$/m.exec(text)?.[1]);
        }),
      );
    const count = (collection: string) => servers.db(cluster.database).collection(collection).countDocuments();

    test('lose nothing that they acknowledged, share all leadership again, and hold no more than before', async () => {
      const place = await freshWorkspace(cluster.api, 'elected');
      await expect.poll(() => ledBy(cluster.planes), PATIENCE).toBe(SHARES);
      const [fds, leases] = [await openFds(), await count('lease')];
      const work = writePolicies(cluster.api, place, 'w', 3);
      const probes = probeReadiness(cluster);
      await expect.poll(() => work.acknowledged.length, PATIENCE).toBeGreaterThan(5);
      for (let done = 0; done < STEP_DOWNS; done += 1) {
        await servers.stepDown();
        await after(BETWEEN_MS);
      }
      const meanwhile = work.acknowledged.length;
      await expect.poll(() => work.acknowledged.length, PATIENCE).toBeGreaterThan(meanwhile + 5);
      await work.end();
      expect(work.failures).toEqual([]);
      // An election keeps all of them waiting alike, so a balancer is to leave none of them out.
      expect(await probes.end()).toEqual([]);
      for (const { api } of cluster.planes) {
        const names = await policyNames(api, place);
        expect(work.acknowledged.filter((name) => !names.has(name))).toEqual([]);
      }
      await expect.poll(() => ledBy(cluster.planes), PATIENCE).toBe(SHARES);
      expect(await count('lease')).toBe(leases);
      for (const { meshd } of cluster.planes) expect(meshd.errors()).toEqual([]);
      const allowed = fds.map((before) => before + SPARE_FDS);
      for (const [nth, now] of (await openFds()).entries()) expect(now).toBeLessThan(allowed[nth] ?? 0);
    });
  },
);

/** Asks each control plane several times a second, as a balancer does, whether it is ready. */
function probeReadiness({ planes }: Cluster): { end(): Promise<string[]> } {
  const refused: string[] = [];
  let ended = false;
  const probing = planes.map(async ({ url }) => {
    while (!ended) {
      const answer = await fetch(`${url}/readyz`);
      if (answer.status !== 200) refused.push(await answer.text());
      await after(PROBE_MS);
    }
  });
  return {
    async end() {
      ended = true;
      await Promise.all(probing);
      return refused;
    },
  };
}
