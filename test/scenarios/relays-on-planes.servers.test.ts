import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../kits/cluster.ts';
import { freshWorkspace } from '../kits/http/harness.ts';
import { relaySession } from '../kits/http/relay-socket.ts';
import { join, relayCredential } from '../kits/http/wired-plane.ts';
import { leaderOf } from '../kits/leader-of.ts';
import { startPart } from '../kits/process/part.ts';
import { expectWithin, stopwatch } from '../kits/process/stopwatch.ts';
import { type Databases, hasMongod } from '../kits/servers/replica-set.ts';
import { shareReplicaSet } from '../kits/servers/shared-replica-set.ts';

const TOKEN = 'a shared relay token of a test';
const CUT_OFF_MS = 2_000;

describe.skipIf(!hasMongod)('a relay of three control planes', { timeout: 120_000 }, () => {
  let servers: Databases;
  let relay: Awaited<ReturnType<typeof startPart>>;
  let cluster: Cluster;
  beforeAll(async () => {
    [servers, relay] = await Promise.all([shareReplicaSet(), startPart('relay', { MESH_LRP_AUTH_TOKEN: TOKEN })]);
    const env = { MESH_RELAY_URL: `127.0.0.1:${relay.port}`, MESH_LRP_AUTH_TOKEN: TOKEN };
    cluster = await startCluster({ servers, env });
  });
  afterAll(async () => {
    await cluster?.stop();
    await relay?.[Symbol.asyncDispose]();
    await servers?.stop();
  });

  type Plane = Cluster['planes'][number];

  async function connected(planes: readonly Plane[]): Promise<void> {
    for (const { api } of planes)
      await expect
        .poll(async () => (await api('GET', '/metrics')).text)
        .toMatch(/^mesh_relay_control_up\{relay="main"\} 1$/m);
  }

  test('ends the session of whom any of them revoked, also while the one that leads is gone', async () => {
    const place = await freshWorkspace(cluster.api, 'relayed');
    await connected(cluster.planes);
    const nodes = await Promise.all(['a', 'b', 'c', 'd', 'stays'].map((name) => join(cluster, place, name)));
    const sessions = await Promise.all(
      nodes.map(async (node) => relaySession(relay.port, node.pair, await relayCredential(cluster, node))),
    );
    using _ = { [Symbol.dispose]: () => sessions.map((session) => session[Symbol.dispose]()) };
    await Promise.all(sessions.map((session) => session.next('ready')));

    const revokeAt = async ({ api }: Plane, nth: number) => {
      expect((await api('POST', `/api/v1/peers/${nodes[nth]?.id}/revoke`, { ...place, body: {} })).status).toBe(200);
      const sinceAnswer = stopwatch();
      expect((await sessions[nth]?.next('closed'))?.reason).toBe('revoked');
      expectWithin(sinceAnswer(), CUT_OFF_MS);
    };
    for (const [nth, plane] of cluster.planes.entries()) await revokeAt(plane, nth);
    const leader = await leaderOf(servers, cluster, place.workspace);
    await leader.kill();
    const other = cluster.planes.find((plane) => plane !== leader) as Plane;
    await revokeAt(other, cluster.planes.length);
    expect(sessions.at(-1)?.client.state).toBe('ready');
    await leader.start();
  });
});
