import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../kits/cluster.ts';
import { freshWorkspace } from '../kits/http/harness.ts';
import { startReceiver } from '../kits/http/receiver.ts';
import { leaderOf } from '../kits/leader-of.ts';
import { type Databases, hasMongod } from '../kits/servers/replica-set.ts';
import { shareReplicaSet } from '../kits/servers/shared-replica-set.ts';

const WAIT = { timeout: 40_000 };
const EVENTS = 12;
const SPEC = { action: 'DENY', peerSelector: {} };

type Place = Awaited<ReturnType<typeof freshWorkspace>>;

describe.skipIf(!hasMongod)('webhooks of three control planes on one replica set', { timeout: 120_000 }, () => {
  let servers: Databases;
  let cluster: Cluster;
  beforeAll(async () => {
    servers = await shareReplicaSet();
    cluster = await startCluster({ servers, env: { MESH_WEBHOOK_ALLOW: '127.0.0.0/8' } });
  });
  afterAll(async () => {
    await cluster?.stop();
    await servers?.stop();
  });

  const hooksOf = ({ workspace }: Place) => `/api/v1/workspaces/${workspace}/webhooks`;

  /** @returns its id */
  async function hook(place: Place, port: number): Promise<string> {
    const body = { url: `http://127.0.0.1:${port}/hook`, events: ['policy.created'] };
    const made = await cluster.api('POST', hooksOf(place), { ...place, body });
    expect(made.status).toBe(201);
    return made.body.id;
  }

  /** Each at another control plane that runs. @returns the names, once all are acknowledged */
  async function write(place: Place, prefix: string): Promise<string[]> {
    const names = Array.from({ length: EVENTS }, (_, n) => `${prefix}-${n}`);
    for (const name of names) {
      const { status } = await cluster.api('POST', '/api/v1/policies', { ...place, body: { name, spec: SPEC } });
      expect([name, status]).toEqual([name, 201]);
    }
    return names;
  }

  /** What became of each delivery. */
  async function statuses(place: Place, id: string): Promise<string[]> {
    const { body } = await cluster.api('GET', `${hooksOf(place)}/${id}/deliveries?limit=200`, place);
    return body.items.map(({ status }: { status: string }) => status);
  }
  const delivered = (names: readonly string[]) => names.map(() => 'delivered');

  /** What was received, by the policy that it tells of. */
  const told = (received: Awaited<ReturnType<typeof startReceiver>>['received']) =>
    received.map(({ body, headers }) => ({
      name: JSON.parse(body).data.items[0].name as string,
      id: headers['webhook-id'],
    }));

  test('are told of each change once, at whichever it was made, also when another one comes to lead in good order', async () => {
    await using receiver = await startReceiver((response) => void response.writeHead(204).end());
    const place = await freshWorkspace(cluster.api, 'told-once');
    const id = await hook(place, receiver.port);
    const before = await write(place, 'before');
    const leader = await leaderOf(servers, cluster, place.workspace);
    await leader.stop();
    const meanwhile = await write(place, 'meanwhile');
    await leader.start();
    const after = await write(place, 'after');
    const all = [...before, ...meanwhile, ...after];
    await expect.poll(() => statuses(place, id), WAIT).toEqual(delivered(all));
    expect(
      told(receiver.received)
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(all.toSorted());
  });

  test('are told by another one, by the same id, what the one that leads was killed with', async () => {
    /** Of the first: never answered. */
    const hanging: ServerResponse[] = [];
    let isUp = false;
    await using receiver = await startReceiver((response) => {
      if (isUp) response.writeHead(204).end();
      else hanging.push(response);
    });
    const place = await freshWorkspace(cluster.api, 'killed-sending');
    const id = await hook(place, receiver.port);
    const names = await write(place, 'killed');
    await expect.poll(() => hanging.length, WAIT).toBeGreaterThan(0);
    const leader = await leaderOf(servers, cluster, place.workspace);
    await leader.kill();
    const before = receiver.received.length;
    isUp = true;
    await expect.poll(() => statuses(place, id), WAIT).toEqual(delivered(names));
    const after = told(receiver.received.slice(before));
    expect(after.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
    for (const [name, all] of Map.groupBy(told(receiver.received), (each) => each.name))
      expect([name, new Set(all.map((each) => each.id)).size]).toEqual([name, 1]);
    await leader.start();
  });
});
