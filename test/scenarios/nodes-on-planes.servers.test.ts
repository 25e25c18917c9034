import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NodeConfig } from '../../client/enrol/node-config.ts';
import { type Cluster, type ClusterPlane, startCluster } from '../kits/cluster.ts';
import { joined, linkOf } from '../kits/http/control-node.ts';
import { freshWorkspace } from '../kits/http/harness.ts';
import type { Place } from '../kits/http/joining.ts';
import { leaderOf } from '../kits/leader-of.ts';
import { hasNatsServer, type NatsCluster, OPEN_RULES, startNatsCluster } from '../kits/servers/nats-cluster.ts';
import { hasMongod, type ReplicaSet, startReplicaSet } from '../kits/servers/replica-set.ts';

/** Of what somebody changes until every node has it, whichever control plane leads. */
const REACHED_MS = 1_000;
/** Until another control plane leads. */
const TAKEN_OVER_MS = 6_000;
const RELAY_TOKEN = 'relay token of a test';
/** A machine that is busy with more does not make a change late, but all that is timed here. */
const SPARE_MS = 1_500;

type Node = ReturnType<typeof linkOf> & Pick<NodeConfig, 'id' | 'name'>;

describe.skipIf(!hasMongod || !hasNatsServer)('nodes on three control planes and a bus of three servers', () => {
  let servers: ReplicaSet;
  let nats: NatsCluster;
  let cluster: Cluster;
  const nodes: Node[] = [];
  beforeAll(async () => {
    [servers, nats] = await Promise.all([startReplicaSet(), startNatsCluster({ lines: () => OPEN_RULES })]);
    const login = 'nats://plane:of%20a%20test@';
    const bus = nats.places.map((place) => `${login}${place}`).join(',');
    cluster = await startCluster({
      servers,
      env: { MESH_BUS_URL: bus, MESH_RELAY_URL: '127.0.0.1:9', MESH_LRP_AUTH_TOKEN: RELAY_TOKEN },
    });
  });
  afterAll(async () => {
    for (const { link } of nodes) await link.stop();
    await cluster?.stop();
    await nats?.[Symbol.asyncDispose]();
    await servers?.stop();
  });

  /** A node that comes by the balancer, and is at first at one of the servers of the bus. */
  async function nodeIn(place: Place, name: string, server: number): Promise<Node> {
    const config = await joined(cluster, place, name, `nats://${nats.places[server % nats.places.length]}`);
    const node = { ...linkOf(config), id: config.id, name };
    nodes.push(node);
    await node.link.start();
    await node.until(() => node.link.status.bus.isUp);
    return node;
  }

  async function nodesIn(place: Place, names: readonly string[]): Promise<Node[]> {
    const all = await Promise.all(names.map((name, n) => nodeIn(place, name, n)));
    await Promise.all(all.map((node) => node.until(() => node.peers()?.length === names.length - 1)));
    return all;
  }

  /** Registered devices of which no machine runs: whoever loses one, another change has reached. */
  const ghostsIn = (place: Place, count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, n) => joined(cluster, place, `ghost-${n}`, '').then(() => `ghost-${n}`)),
    );

  async function removed(plane: Pick<ClusterPlane, 'api'>, place: Place, name: string): Promise<number> {
    for (;;) {
      // Whoever asks a control plane that ends asks again, as clients do.
      const answer = await plane.api('DELETE', `/api/v1/peers/${name}`, place).catch(() => undefined);
      if (answer !== undefined && (answer.status < 300 || answer.status === 404)) return performance.now();
    }
  }

  /** When a node had each of these changes. */
  async function arrivals(node: Node, ghosts: readonly string[]): Promise<number[]> {
    const at: number[] = [];
    for (const ghost of ghosts) {
      await node.until(() => node.peers()?.includes(ghost) === false);
      at.push(performance.now());
    }
    return at;
  }

  test('they hear of what is changed at any control plane, and signal each other', async () => {
    const place = await freshWorkspace(cluster.api, 'changes');
    const all = await nodesIn(place, ['a', 'b', 'c']);
    const ghosts = await ghostsIn(place, cluster.planes.length * 2);
    await Promise.all(all.map((node) => node.until(() => node.peers()?.length === 2 + ghosts.length)));
    for (const [n, ghost] of ghosts.entries()) {
      const plane = cluster.planes[n % cluster.planes.length] as ClusterPlane;
      const had = all.map((node) => arrivals(node, [ghost]));
      const at = await removed(plane, place, ghost);
      for (const [arrived = Number.NaN] of await Promise.all(had)) console.log('reached', Math.round(arrived - at));
    }
    const [a, b] = all as [Node, Node];
    const heard = () => {
      a.link.publish(`mesh.${place.workspace}.${b.id}.signal`, Buffer.from('hello'));
      return b.signals;
    };
    await expect.poll(heard).toContain('hello');
  });

  const ENDS = {
    'is killed': (leader: ClusterPlane) => leader.kill(),
    'is stopped': async (leader: ClusterPlane) => leader.meshd.signal('SIGSTOP'),
    'ends in good order': (leader: ClusterPlane) => leader.stop(),
  } as const;

  test.each(Object.entries(ENDS))('one that leads %s, and they miss nothing', async (how, end) => {
    const place = await freshWorkspace(cluster.api, how.replaceAll(' ', '-'));
    const all = await nodesIn(place, ['a', 'b', 'c', 'revoked']);
    const [revoked, ...staying] = [...all].reverse() as [Node, ...Node[]];
    const ghosts = await ghostsIn(place, 12);
    await Promise.all(all.map((node) => node.until(() => node.peers()?.length === 3 + ghosts.length)));
    const leader = await leaderOf(servers, cluster, place.workspace);
    const others = cluster.planes.filter((plane) => plane !== leader);
    const before = all.map((node) => node.graphs.length);
    const had = staying.map((node) => arrivals(node, [...ghosts, 'revoked']));
    const left = revoked.until(() => revoked.standings.at(-1) === 'revoked').then(() => performance.now());
    const ended = end(leader);
    const made: number[] = [];
    for (const [n, ghost] of ghosts.entries()) {
      made.push(await removed(others[n % others.length] as ClusterPlane, place, ghost));
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    const { status } = await (others[0] as ClusterPlane).api('POST', '/api/v1/peers/revoked/revoke', {
      ...place,
      body: {},
    });
    expect(status).toBe(200);
    made.push(performance.now());
    const late = (await Promise.all(had)).flatMap((at) =>
      at.map((arrived, n) => Math.round(arrived - (made[n] ?? Number.NaN))),
    );
    console.log(how, Math.max(...late), 'gone after', Math.round((await left) - (made.at(-1) ?? 0)));
    expect(Math.max(...late)).toBeLessThan(TAKEN_OVER_MS + REACHED_MS + SPARE_MS);
    if (how === 'is stopped') leader.meshd.signal('SIGCONT');
    await ended;
    if (how !== 'is stopped') await leader.start();
    console.log(
      'graphs',
      all.map((node, n) => node.graphs.length - (before[n] ?? 0)),
      all
        .map((node) =>
          node.lines.filter((l) => l.includes('a graph was pushed')).map((l) => /"kind":"(\w+)"/.exec(l)?.[1]),
        )
        .map(String),
    );
    console.log(await flips(place.workspace));
  });

  /** How often each node was written as come or gone. */
  async function flips(workspace: string): Promise<Record<string, number>> {
    const log = servers.client.db(cluster.database).collection<{ entry: string }>('log');
    const entries = await log.find({ '_id.ws': workspace } as object).toArray();
    const counts: Record<string, number> = {};
    for (const { entry } of entries) {
      for (const { kind, name, type } of JSON.parse(entry).commit?.changes ?? []) {
        if (kind === 'Presence') counts[`${name} ${type}`] = (counts[`${name} ${type}`] ?? 0) + 1;
      }
    }
    return counts;
  }
});
