import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SHARES } from '../../plane/leadership/shares.ts';
import { type LabNode, labNodes } from '../kits/lab/natlab-node.ts';
import { isLong } from '../kits/lab/privileged.ts';
import { leaderOf as leaderIn, ledBy } from '../kits/leader-of.ts';
import { hasLabCluster, type LabCluster, type LabClusterPlane, startLabCluster } from '../kits/servers/lab-cluster.ts';
import { otherOf, untilAsBefore } from '../natlab/pair.ts';
import {
  type Ask,
  comeToBeDirect,
  PATIENCE,
  partForGood,
  SHUT,
  shutsAndOpens,
  withoutLoss,
} from '../natlab/while-in-use.ts';

const OF_NOBODY = { name: 'before', spec: { action: 'DENY', peerSelector: { matchLabels: { role: 'none' } } } };
const LONG_MS = 300_000;

describe.skipIf(!hasLabCluster)(
  'two machines on three control planes, three servers of the bus and a replica set',
  () => {
    let cluster: LabCluster;
    let one: LabNode;
    let two: LabNode;
    beforeAll(async () => {
      const routers = { home: { nat: 'easy' }, cafe: { nat: 'easy' } } as const;
      cluster = await startLabCluster({ routers, hosts: { one: { behind: 'home' }, two: { behind: 'cafe' } } });
      ({ one, two } = await labNodes(cluster.lab, cluster, ['one', 'two'], (node) => node.up()));
    }, LONG_MS);
    afterAll(() => cluster?.[Symbol.asyncDispose](), LONG_MS);

    const askOf =
      ({ api }: Pick<LabCluster, 'api'>): Ask =>
      async (method, route, body) => {
        const answer = await api(method, route, { ...cluster.admin, ...(body !== undefined && { body }) });
        if (answer.status >= 300) throw new Error(`${method} ${route} answered ${answer.status}: ${answer.text}`);
        return answer.body;
      };
    const leaderOf = () => leaderIn(cluster, cluster, cluster.workspace);
    const othersThan = (plane: LabClusterPlane) => cluster.planes.filter((other) => other !== plane);

    test('joined by the balancer, they have a direct tunnel', () => comeToBeDirect({ one, two }));

    test('a policy that is changed at any of the control planes is in force', async () => {
      for (const plane of cluster.planes) await shutsAndOpens(one, askOf(plane));
    });

    test('when the one that leads them is killed they lose no packet, and hear of what is changed by another one', async () => {
      const leader = await leaderOf();
      await withoutLoss({ one, two }, async () => {
        await leader.kill();
        await expect.poll(() => ledBy(othersThan(leader)), PATIENCE).toBe(SHARES);
      });
      for (const plane of othersThan(leader)) await shutsAndOpens(one, askOf(plane));
      await leader.start();
    });

    test('when the server of the bus that one of them is at is killed it goes on at another, and loses no packet', async () => {
      const at = await busServerOf(one);
      const server = cluster.bus.find(({ place }) => place === at);
      await withoutLoss({ one, two }, async () => {
        await server?.kill();
        await expect.poll(() => busServerOf(one), PATIENCE).not.toBe(at);
        await one.until(({ control }) => control.bus.isUp);
      });
      const [plane] = cluster.planes;
      await shutsAndOpens(one, askOf(plane as LabClusterPlane));
      await server?.start();
    });

    test.each(isLong ? (['silently', 'with a reset'] as const) : [])(
      'one that is cut off from the database (%s) leads nothing and says nothing old, while they go on by the others, and comes back by itself',
      async (how) => {
        await expect.poll(() => ledBy(cluster.planes), PATIENCE).toBe(SHARES);
        const cut = await leaderOf();
        const [other, ...more] = othersThan(cut) as [LabClusterPlane, LabClusterPlane];
        const { name } = await askOf(cut)('POST', '/api/v1/policies', OF_NOBODY);
        const { deviceToken } = JSON.parse(readFileSync(path.join(one.directory, 'node.json'), 'utf8'));
        await withoutLoss({ one, two }, async () => {
          await cutOff(cut, how);
          await expect.poll(() => ledBy([other, ...more]), PATIENCE).toBe(SHARES);
        });
        expect(await ledBy([cut])).toBe(0);
        const before = await said(cut);
        await askOf(other)('DELETE', `/api/v1/policies/${name}`);
        const asked = [
          cut.api('GET', '/api/v1/policies', cluster.admin),
          cut.api('POST', '/api/v1/policies', { ...cluster.admin, body: SHUT }),
          cut.api('GET', '/api/v1/devices/self/graph', { token: deviceToken }),
        ];
        expect((await fetch(`${cut.url}/readyz`)).status).toBe(503);
        for (const plane of [other, ...more]) await shutsAndOpens(one, askOf(plane));
        for (const { status, headers } of await Promise.all(asked))
          expect([status, headers.get('retry-after')]).toEqual([503, expect.any(String)]);
        await keyChanges();
        expect([await ledBy([cut]), await said(cut)]).toEqual([0, before]);
        await heal(cut);
        const policy = async () => (await cut.api('GET', `/api/v1/policies/${name}`, cluster.admin)).status;
        await expect.poll(policy, PATIENCE).toBe(404);
        await expect.poll(() => ledBy([cut]), PATIENCE).toBeGreaterThan(0);
        await shutsAndOpens(one, askOf(cut));
      },
      LONG_MS,
    );

    /** By the balancer, which still gives every third connection to the one that is cut off: who is not answered asks again. */
    async function keyChanges(): Promise<void> {
      const before = (await one.status()).node.publicKey;
      for (let tries = 0; (await one.mesh(['rotate-key'])).code !== 0; tries += 1) expect(tries).toBeLessThan(2);
      expect((await one.status()).node.publicKey).not.toBe(before);
      await untilAsBefore({ one, two, path: 'direct' });
      expect(await one.host.reaches(otherOf(one))).toBe(true);
    }

    test('who is revoked is cut off from both of them and from the bus', async () => {
      await askOf(cluster.planes[1] as LabClusterPlane)('POST', '/api/v1/peers/two/revoke');
      await partForGood({ one, two });
      await expect.poll(() => busServerOf(two), PATIENCE).toBeUndefined();
    });

    /** `address:port` of where its connection to the bus leads. */
    async function busServerOf(node: LabNode): Promise<string | undefined> {
      const connections = await node.host.must('ss', ['-Htn', 'state', 'established']);
      return cluster.bus.map(({ place }) => place).find((place) => connections.match(`${place}\\b`));
    }
  },
);

/** How often it has pushed graphs to nodes, and answered them. */
async function said({ url }: LabClusterPlane): Promise<readonly string[]> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return metrics.match(/^mesh_(?:graph_pushes|node_heartbeats|node_graph_requests).* \d+$/gm) ?? [];
}

/** Every connection to the database, without a word or with one. */
async function cutOff({ host }: LabClusterPlane, how: 'silently' | 'with a reset'): Promise<void> {
  const ports = '27017-27019';
  if (how === 'silently') for (const side of ['dport', 'sport']) await host.block(`tcp ${side} ${ports}`);
  else
    await host.nft(
      `table inet lab_reset {\nchain out { type filter hook output priority -200; tcp dport ${ports} reject with tcp reset; }\n}\n`,
    );
}

async function heal({ host }: LabClusterPlane): Promise<void> {
  await host.unblock();
  await host.nft('add table inet lab_reset\ndelete table inet lab_reset\n');
}
