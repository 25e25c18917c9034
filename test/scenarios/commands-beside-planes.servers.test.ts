import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../kits/cluster.ts';
import { policyNames, writePolicies } from '../kits/cluster-load.ts';
import { configure, freshWorkspace } from '../kits/http/harness.ts';
import type { Place } from '../kits/http/joining.ts';
import { freshDirectory } from '../kits/process/meshd.ts';
import { launcher, run } from '../kits/process/run-command.ts';
import { type Databases, hasMongod } from '../kits/servers/replica-set.ts';
import { shareReplicaSet } from '../kits/servers/shared-replica-set.ts';

const PATIENCE = { timeout: 60_000 };
const OWN_TOOLS = /MESH_STORE_URL names MongoDB, which has its own tools for this: mongodump --oplog/;

describe.skipIf(!hasMongod)('beside three control planes that write', { timeout: 300_000 }, () => {
  const directory = freshDirectory();
  const file = path.join(directory, 'copied.db');
  let servers: Databases;
  let cluster: Cluster;
  let place: Place;
  let work: ReturnType<typeof writePolicies>;
  beforeAll(async () => {
    servers = await shareReplicaSet();
    cluster = await startCluster({ servers });
    configure(directory);
    place = await freshWorkspace(cluster.api, 'busy');
    work = writePolicies(cluster.api, place, 'w', 3);
  }, 180_000);
  afterAll(async () => {
    await work?.end();
    await cluster?.stop();
    await servers?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const meshd = (...args: string[]) =>
    run(launcher('meshd'), [...args, '--config-dir', directory], {
      env: { MESH_STORE_URL: servers.url(cluster.database), MESH_KEYS_FILE: cluster.keysFile, MESH_BUS_LISTEN: 'off' },
    });
  /** What was asked of them meanwhile was done. */
  const goesOn = async () => {
    const before = work.acknowledged.length;
    await expect.poll(() => work.acknowledged.length, PATIENCE).toBeGreaterThan(before + 3);
    expect(work.failures).toEqual([]);
  };

  test.each([['backup', 'all.db'], ['restore', 'all.db'], ['compact']])(
    'meshd %s names the tools of the servers, and touches nothing',
    async (...args) => {
      const { code, stderr } = await meshd(...args);
      expect([code, stderr]).toEqual([1, expect.stringMatching(OWN_TOOLS)]);
      expect(existsSync('all.db')).toBe(false);
      await goesOn();
    },
  );

  test('meshd doctor finds nothing to fail', async () => {
    const { code, stdout, stderr } = await meshd('doctor', '--json');
    expect([code, stderr]).toEqual([0, '']);
    const { items } = JSON.parse(stdout) as { readonly items: readonly { check: string; state: string }[] };
    expect(items.filter(({ state }) => state === 'failed')).toEqual([]);
    expect(items).toContainEqual(expect.objectContaining({ check: 'database', state: 'ok' }));
    await goesOn();
  });

  test.each(['a file', 'another database'])(
    'meshd copy to %s names one of them, and holds up no write',
    async (where) => {
      const to = where === 'a file' ? `sqlite:${file}` : servers.url(`${cluster.database}_moved`);
      const { code, stderr } = await meshd('copy', '--to', to);
      expect(code).toBe(1);
      expect(stderr).toMatch(
        /a control plane is at work on mongodb:\S+ \(\S+ has the lease .*\): end every one of them first/,
      );
      await goesOn();
      const cancelled = await meshd('copy', '--cancel');
      expect([cancelled.code, cancelled.stdout]).toEqual([0, expect.stringContaining('nothing was to be done')]);
      await goesOn();
    },
  );

  test('once they have ended a copy has all that they acknowledged, to the very file that was refused', async () => {
    await work.end();
    const names = await policyNames(cluster.api, place);
    expect(work.acknowledged.filter((name) => !names.has(name))).toEqual([]);
    await Promise.all(cluster.planes.map((plane) => plane.stop()));
    const { code, stdout, stderr } = await meshd('copy', '--to', `sqlite:${file}`);
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('meshd:')]);
    expect(stdout).toContain('Both were read and compared');
    const [plane] = cluster.planes;
    await expect(plane?.start()).rejects.toThrow(/was moved to/);
    expect((await meshd('copy', '--cancel')).code).toBe(0);
    await plane?.start();
    expect(await policyNames(plane?.api ?? cluster.api, place)).toEqual(names);
  });
});
