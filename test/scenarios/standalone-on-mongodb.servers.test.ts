import { copyFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Cluster, startCluster } from '../kits/cluster.ts';
import { configure } from '../kits/http/harness.ts';
import { freshDirectory, startMeshd } from '../kits/process/meshd.ts';
import { launcher } from '../kits/process/run-command.ts';
import { hasMongod, type ReplicaSet, startReplicaSet } from '../kits/servers/replica-set.ts';

/** Several processes start and end, and one that was killed is waited for. */
const LONG_MS = 180_000;

describe.skipIf(!hasMongod)(
  'meshd --standalone on a database that is served',
  () => {
    let servers: ReplicaSet;
    let cluster: Cluster;
    beforeAll(async () => {
      servers = await startReplicaSet();
      cluster = await startCluster({ servers, planes: 1 });
    }, LONG_MS);
    afterAll(async () => {
      await cluster?.stop();
      await servers.stop();
    }, LONG_MS);

    /** With the keys of the cluster, on its database. */
    function startAlone() {
      const directory = freshDirectory();
      configure(directory);
      copyFileSync(cluster.keysFile, path.join(directory, 'credentials.json'));
      const env = {
        MESH_STORE_URL: servers.url(cluster.database),
        MESH_BUS_LISTEN: 'off',
        MESH_RELAY_LISTEN: 'off',
        MESH_STUN_LISTEN: 'off',
      };
      const meshd = startMeshd({ directory, env, command: [launcher('meshd'), '--standalone'] });
      onTestFinished(async () => {
        meshd.signal('SIGKILL');
        await meshd.ended;
        rmSync(directory, { recursive: true, force: true });
      });
      return meshd;
    }

    test('does not start beside another control plane, which notices nothing', async () => {
      const [plane] = cluster.planes;
      const changes = async () => (await fetch(`${plane?.url}/readyz?verbose`)).text();
      const alone = startAlone();
      expect(await alone.ended).toBe(1);
      expect(alone.stderr()).toContain('another control plane is at work on the database');
      expect(await changes()).toContain('leads 32 of 32 shares; 1 live');
    });

    test('lets none start beside it, of either kind, and one that was held up meanwhile ends', async () => {
      await cluster.planes[0]?.stop();
      const first = startAlone();
      await first.ready();
      await expect(cluster.planes[0]?.start()).rejects.toThrow();
      expect(cluster.planes[0]?.meshd.stderr()).toContain('a control plane with --standalone is at work');
      first.signal('SIGSTOP');
      // It waits until the other is over.
      const second = startAlone();
      const url = await second.ready();
      first.signal('SIGCONT');
      expect(await first.ended).toBe(1);
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
      second.signal('SIGTERM');
      await second.ended;
      await cluster.planes[0]?.start();
    });
  },
  LONG_MS,
);
