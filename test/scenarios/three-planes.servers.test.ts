import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../kits/cluster.ts';
import { ADMIN_PASSWORD, apiOf, freshWorkspace } from '../kits/http/harness.ts';
import { hasMongod, type ReplicaSet, startReplicaSet } from '../kits/servers/replica-set.ts';

describe.skipIf(!hasMongod)('three control planes on one replica set', () => {
  let servers: ReplicaSet;
  let cluster: Cluster;
  beforeAll(async () => {
    servers = await startReplicaSet();
    cluster = await startCluster({ servers });
  });
  afterAll(async () => {
    await cluster?.stop();
    await servers.stop();
  });
  const each = <T>(work: (api: Cluster['api']) => Promise<T>) =>
    Promise.all(cluster.planes.map(({ api }) => work(api)));

  test('started at once on an empty database they are one installation', async () => {
    const accounts = await servers.client
      .db(cluster.database)
      .collection('record')
      .countDocuments({ '_id.kind': 'Account' } as object);
    expect(accounts).toBe(1);
    const made = cluster.planes.filter(({ meshd }) => meshd.stderr().includes('initial accounts are ready'));
    expect(made).toHaveLength(1);
    for (const { meshd } of cluster.planes) expect(meshd.stderr()).not.toContain('"level":"error"');
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
});
