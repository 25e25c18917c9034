import { rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Cluster, startCluster } from '../kits/cluster.ts';
import { ADMIN_PASSWORD, apiOf, freshWorkspace } from '../kits/http/harness.ts';
import { reading } from '../kits/http/read-events.ts';
import { freshDirectory, startMeshd } from '../kits/process/meshd.ts';
import { launcher, run } from '../kits/process/run-command.ts';
import { type Databases, hasMongod } from '../kits/servers/replica-set.ts';
import { shareReplicaSet } from '../kits/servers/shared-replica-set.ts';

/** Several processes start and end at once. */
const LONG_MS = 180_000;

describe.skipIf(!hasMongod)('three control planes on one replica set', () => {
  let servers: Databases;
  let cluster: Cluster;
  beforeAll(async () => {
    servers = await shareReplicaSet();
    cluster = await startCluster({ servers });
  }, LONG_MS);
  afterAll(async () => {
    await cluster?.stop();
    await servers.stop();
  }, LONG_MS);
  const each = <T>(work: (api: Cluster['api']) => Promise<T>) =>
    Promise.all(cluster.planes.map(({ api }) => work(api)));

  test('started at once on an empty database they are one installation', async () => {
    const accounts = await servers
      .db(cluster.database)
      .collection('record')
      .countDocuments({ '_id.kind': 'Account' } as object);
    expect(accounts).toBe(1);
    const made = cluster.planes.filter(({ meshd }) => meshd.stderr().includes('initial accounts are ready'));
    expect(made).toHaveLength(1);
    for (const { meshd } of cluster.planes) expect(meshd.errors()).toEqual([]);
  });

  test('what one acknowledged every other shows at once', async () => {
    const place = await freshWorkspace(cluster.api, 'seen');
    for (let n = 0; n < 15; n += 1) {
      const writer = cluster.planes[n % 3]?.api ?? cluster.api;
      const body = { name: `p${n}`, spec: { action: 'DENY', peerSelector: {} } };
      expect((await writer('POST', '/api/v1/policies', { ...place, body })).status).toBe(201);
      const shown = await each((api) => api('GET', `/api/v1/policies/p${n}`, place));
      expect(shown.map(({ status }) => status)).toEqual([200, 200, 200]);
      const revisions = await each(async (api) => (await api('GET', '/api/v1/policies', place)).body.items.length);
      expect(revisions).toEqual([n + 1, n + 1, n + 1]);
    }
  });

  test('a token that one has revoked is refused by all at once', async () => {
    const { token, workspace } = await freshWorkspace(cluster.api, 'revoked');
    for (let n = 0; n < 5; n += 1) {
      const login = await apiOf(cluster.url)('POST', '/api/v1/users/login', {
        body: { username: 'admin', password: ADMIN_PASSWORD },
      });
      const session = { token: login.body.data.token, workspace };
      expect((await each((api) => api('GET', '/api/v1/peers', session))).map(({ status }) => status)).toEqual([
        200, 200, 200,
      ]);
      const ender = cluster.planes[n % 3]?.api ?? cluster.api;
      expect((await ender('POST', '/api/v1/users/logout', session)).status).toBeLessThan(300);
      expect((await each((api) => api('GET', '/api/v1/peers', session))).map(({ status }) => status)).toEqual([
        401, 401, 401,
      ]);
    }
    expect(token).toBeTruthy();
  });

  test('events go on at another control plane from the last one that was read, without a gap or a repeat', async () => {
    const place = await freshWorkspace(cluster.api, 'events');
    const seen: number[] = [];
    const write = async (n: number) => {
      const api = cluster.planes[n % 3]?.api ?? cluster.api;
      const body = { name: `e${n}`, spec: { action: 'DENY', peerSelector: {} } };
      expect((await api('POST', '/api/v1/policies', { ...place, body })).status).toBe(201);
    };
    const first = (await cluster.api('GET', '/api/v1/policies', place)).headers;
    expect(first).toBeDefined();
    await write(0);
    let last = '0';
    for (let turn = 0; turn < 6; turn += 1) {
      await write(turn + 1);
      const events = await eventsOf(cluster.planes[turn % 3]?.url ?? '', place, last, turn === 0 ? 2 : 1);
      seen.push(...events);
      last = `${events.at(-1)}`;
    }
    // A snapshot that is taken in between is a commit too, and no event.
    const told = { '_id.ws': place.workspace, commit: { $exists: true }, kinds: { $ne: 'Snapshot' } } as object;
    const log = servers.db(cluster.database).collection('log').find(told).sort({ commit: 1 }).limit(seen.length);
    expect(seen).toEqual((await log.toArray()).map(({ commit }) => commit));
    const others = await Promise.all(cluster.planes.map(({ url }) => eventsOf(url, place, '0', seen.length)));
    expect(others).toEqual([seen, seen, seen]);
  });

  test('one with other keys than the database was written with is refused, and says which', async () => {
    const directory = freshDirectory();
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const keysFile = path.join(directory, 'keys.json');
    const made = await run(launcher('meshd'), ['keys', keysFile]);
    expect([made.code, made.stdout]).toEqual([0, expect.stringContaining('MESH_KEYS_FILE')]);
    const again = await run(launcher('meshd'), ['keys', keysFile]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('is there already')]);
    const env = { MESH_STORE_URL: servers.url(cluster.database), MESH_KEYS_FILE: keysFile, MESH_BUS_LISTEN: 'off' };
    const meshd = startMeshd({ directory, env, command: [launcher('meshd')] });
    expect(await meshd.ended).toBe(1);
    expect(meshd.stderr()).toMatch(/other keys \([0-9a-f]{16}\) than those that the database .*\([0-9a-f]{16}\)/);
  });

  test('one whose directory is new goes on as one that was there before', async () => {
    const place = await freshWorkspace(cluster.api, 'forgetful');
    const [plane] = cluster.planes;
    await plane?.stop();
    const body = { name: 'meanwhile', spec: { action: 'DENY', peerSelector: {} } };
    expect((await cluster.api('POST', '/api/v1/policies', { ...place, body })).status).toBe(201);
    await plane?.forget();
    await plane?.start();
    expect((await plane?.api('GET', '/api/v1/policies/meanwhile', place))?.status).toBe(200);
    const heads = await servers.db(cluster.database).collection('installation').find().toArray();
    expect(heads).toHaveLength(1);
  });
});

/** The revisions of so many events after one. */
async function eventsOf(
  url: string,
  { token, workspace }: { readonly token: string; readonly workspace: string },
  last: string,
  count: number,
): Promise<number[]> {
  const response = await fetch(new URL('/api/v1/events', url), {
    headers: { authorization: `Bearer ${token}`, 'x-workspace-id': workspace, 'last-event-id': last },
  });
  const read = reading(response);
  const revisions: number[] = [];
  while (revisions.length < count) revisions.push(Number((await read.next())?.id));
  await read.stop();
  return revisions;
}
