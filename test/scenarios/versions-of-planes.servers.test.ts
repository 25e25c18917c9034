import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { SHARES } from '../../plane/leadership/shares.ts';
import { type Cluster, type ClusterPlane, startCluster } from '../kits/cluster.ts';
import { pace, policyNames } from '../kits/cluster-load.ts';
import { freshWorkspace } from '../kits/http/harness.ts';
import { ledBy } from '../kits/leader-of.ts';
import { newerVersion } from '../kits/newer-version.ts';
import { type Databases, hasMongod } from '../kits/servers/replica-set.ts';
import { shareReplicaSet } from '../kits/servers/shared-replica-set.ts';

const PATIENCE = { timeout: 30_000 };
type Place = Awaited<ReturnType<typeof freshWorkspace>>;

describe.skipIf(!hasMongod)('control planes of two versions on one database', { timeout: 120_000 }, () => {
  let servers: Databases;
  beforeAll(async () => {
    servers = await shareReplicaSet();
  });
  afterAll(() => servers?.stop());

  /** Three of this version, and what the first of them is upgraded to. */
  async function rolling({ isAdditive }: { readonly isAdditive: boolean }) {
    const newer = newerVersion({ isAdditive });
    onTestFinished(newer.remove);
    const cluster = await startCluster({ servers });
    onTestFinished(() => cluster.stop());
    const [first, ...older] = cluster.planes as readonly ClusterPlane[] as [ClusterPlane, ...ClusterPlane[]];
    const upgrade = async (plane: ClusterPlane) => {
      await plane.stop();
      plane.upgrade(newer.bin);
      await plane.start();
    };
    return { cluster, first, older, upgrade, place: await freshWorkspace(cluster.api, 'rolling') };
  }

  const write = async ({ api }: Pick<Cluster, 'api'>, place: Place, name: string) => {
    const body = { name, spec: { action: 'DENY', peerSelector: {} } };
    return (await api('POST', '/api/v1/policies', { ...place, body }).catch(() => undefined))?.status;
  };
  const namesAt = ({ api }: ClusterPlane, place: Place) => policyNames(api, place);

  test('while one after the other is upgraded each serves, and shows what those of the other version wrote', async () => {
    const { cluster, first, older, upgrade, place } = await rolling({ isAdditive: true });
    await upgrade(first);
    for (const [n, plane] of cluster.planes.entries()) {
      expect(await write(plane, place, `mixed-${n}`)).toBe(201);
      for (const each of cluster.planes) expect((await namesAt(each, place)).has(`mixed-${n}`)).toBe(true);
    }
    await expect.poll(() => ledBy(cluster.planes), PATIENCE).toBe(SHARES);
    for (const plane of cluster.planes) await expect.poll(() => ledBy([plane]), PATIENCE).toBeGreaterThan(0);
    const [second, third] = older as [ClusterPlane, ClusterPlane];
    await second.stop();
    await expect(second.start()).rejects.toThrow(/schema \d+, newer than the \d+ this version knows; start the newer/);
    await upgrade(second);
    await upgrade(third);
    for (const plane of cluster.planes) expect((await namesAt(plane, place)).size).toBe(cluster.planes.length);
  });

  test('where those of before would not understand the newer one they refuse all, and nothing that they acknowledged is missing', async () => {
    const { cluster, first, older, upgrade, place } = await rolling({ isAdditive: false });
    const acknowledged: string[] = [];
    let isOver = false;
    const writers = older.map(async (plane, writer) => {
      for (let n = 0; !isOver; n += 1) {
        const [name, status] = [`w${writer}-${n}`, await write(plane, place, `w${writer}-${n}`)];
        if (status === 201) acknowledged.push(name);
        else expect(status).toBe(503);
        await pace();
      }
    });
    await upgrade(first);
    isOver = true;
    await Promise.all(writers);
    const before = await namesAt(first, place);
    expect(acknowledged.length).toBeGreaterThan(0);
    expect(acknowledged.filter((name) => !before.has(name))).toEqual([]);
    for (const plane of older) {
      expect(await write(plane, place, 'late')).toBe(503);
      expect((await plane.api('GET', '/api/v1/policies', place)).status).toBe(503);
      expect(await (await fetch(`${plane.url}/readyz`)).text()).toContain(
        'a newer version of meshd has changed the database',
      );
    }
    await expect.poll(() => ledBy([first]), PATIENCE).toBe(SHARES);
    expect(await write(first, place, 'by-the-newer')).toBe(201);
    const made = await freshWorkspace(first.api, 'made-by-the-newer');
    for (const plane of older) expect(await write(plane, made, 'late')).toBe(503);
    for (const plane of older) await upgrade(plane);
    for (const plane of cluster.planes)
      expect(await namesAt(plane, place)).toEqual(before.union(new Set(['by-the-newer'])));
  });
});
