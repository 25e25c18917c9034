import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { SHARES } from '../../plane/leadership/shares.ts';
import { type Cluster, type ClusterPlane, startCluster } from '../kits/cluster.ts';
import { freshWorkspace } from '../kits/http/harness.ts';
import { giveUp, sendUnread, type UnreadRequest } from '../kits/http/unread-request.ts';
import { leaderOf as leaderIn, ledBy } from '../kits/leader-of.ts';
import { expectWithin } from '../kits/process/stopwatch.ts';
import { type Databases, hasMongod } from '../kits/servers/replica-set.ts';
import { shareReplicaSet } from '../kits/servers/shared-replica-set.ts';

const TAKEN_OVER_MS = 6_000;
const LATE_MS = 2_000;
/** A control plane that stood still for 5 s refuses to write what had been sent before. */
const STANDSTILL_MS = 5_500;
/** Fewer than a listening socket has waiting. */
const GIVEN_UP = 400;
const POLICIES = '/api/v1/policies';
/** While all are tried at once, on a machine that is busy with more. */
const PATIENCE = { timeout: 20_000 };

describe.skipIf(!hasMongod)('of three control planes on one replica set', () => {
  let servers: Databases;
  let cluster: Cluster;
  beforeAll(async () => {
    servers = await shareReplicaSet();
    cluster = await startCluster({ servers });
    await vi.waitFor(async () => expect(await isSpread(cluster.planes)).toBe(true), PATIENCE);
  });
  afterAll(async () => {
    await cluster?.stop();
    await servers.stop();
  });

  test('one that is killed is followed within six seconds, and what ends meanwhile ends on time and once', async () => {
    const place = await freshWorkspace(cluster.api, 'killed');
    const leader = await leaderOf(place.workspace);
    const ends = await policiesThatEnd(place, [2, 4, 6, 8, 10]);
    const killedAt = Date.now();
    await leader.kill();
    const next = cluster.planes.filter((plane) => plane !== leader);
    await expect.poll(() => isSpread(next), PATIENCE).toBe(true);
    await requireEnded(place, ends, killedAt + TAKEN_OVER_MS);
    await leader.start();
    await expect.poll(() => isSpread(cluster.planes), PATIENCE).toBe(true);
  });

  test('one that is stopped for a while and goes on does nothing that another one did meanwhile', async () => {
    const place = await freshWorkspace(cluster.api, 'stopped');
    const leader = await leaderOf(place.workspace);
    const ends = await policiesThatEnd(place, [2, 5, 8, 11, 14]);
    leader.meshd.signal('SIGSTOP');
    const stoppedAt = Date.now();
    try {
      await expect.poll(async () => (await leaderOf(place.workspace)) !== leader, PATIENCE).toBe(true);
    } finally {
      leader.meshd.signal('SIGCONT');
    }
    await requireEnded(place, ends, stoppedAt + TAKEN_OVER_MS);
    await expect.poll(() => isSpread(cluster.planes), PATIENCE).toBe(true);
    expect(leader.meshd.errors()).toEqual([]);
  });

  test('one that was stopped carries out nothing that was sent to it before it goes on, and then serves', async () => {
    const place = await freshWorkspace(cluster.api, 'given-up');
    const [paused, other] = cluster.planes as readonly [ClusterPlane, ClusterPlane, ClusterPlane];
    const allow = { action: 'ALLOW', peerSelector: {}, ingress: [{ from: [{ peerSelector: {} }] }] };
    const deny = { action: 'DENY', peerSelector: {} };
    const send = (method: string, path: string, body: object) => other.api(method, path, { ...place, body });
    expect((await send('POST', POLICIES, { name: 'keeper', spec: deny })).status).toBe(201);
    paused.meshd.signal('SIGSTOP');
    const stoppedAt = Date.now();
    let halfOpen: Promise<number> | undefined;
    try {
      const unread = (method: string, path: string, body: object) => ({ url: paused.url, place, method, path, body });
      await giveUp(unread('POST', POLICIES, { name: 'zombie', spec: allow }));
      await giveUp(unread('PUT', `${POLICIES}/keeper`, { name: 'keeper', spec: allow }));
      // More than are accepted in the first second.
      await Promise.all(
        Array.from({ length: GIVEN_UP }, (_, n) =>
          giveUp(unread('POST', POLICIES, { name: `zombie-${n}`, spec: allow })),
        ),
      );
      halfOpen = whoWaits(unread('POST', POLICIES, { name: 'waits', spec: deny }));
      expect((await send('POST', POLICIES, { name: 'zombie', spec: deny })).status).toBe(201);
      expect((await other.api('DELETE', `${POLICIES}/zombie`, place)).status).toBe(200);
      expect((await send('PUT', `${POLICIES}/keeper`, { name: 'keeper', spec: deny })).status).toBe(200);
      const isOver = () => Date.now() > stoppedAt + STANDSTILL_MS;
      await expect.poll(isOver, PATIENCE).toBe(true);
    } finally {
      paused.meshd.signal('SIGCONT');
    }
    expect(await halfOpen).toBe(503);
    const again = () => paused.api('POST', POLICIES, { ...place, body: { name: 'again', spec: deny } });
    await expect.poll(async () => (await again()).status, PATIENCE).toBe(201);
    const { body } = await other.api('GET', POLICIES, place);
    const found = (body.items as { name: string; spec: { action: string } }[]).map(
      ({ name, spec }) => `${name} ${spec.action}`,
    );
    expect(found.sort()).toEqual(['again DENY', 'keeper DENY']);
    await expect.poll(() => isSpread(cluster.planes), PATIENCE).toBe(true);
  });

  test('one that ends in good order is followed at once, and one that comes gets its part', async () => {
    const place = await freshWorkspace(cluster.api, 'handed-over');
    const leader = await leaderOf(place.workspace);
    const ends = await policiesThatEnd(place, [1, 2, 3, 4]);
    const endedAt = Date.now();
    const ended = leader.stop();
    const next = cluster.planes.filter((plane) => plane !== leader);
    await expect.poll(() => isSpread(next), PATIENCE).toBe(true);
    expect(await ended).toBe(0);
    await requireEnded(place, ends, endedAt);
    await leader.start();
    await expect.poll(() => isSpread(cluster.planes), PATIENCE).toBe(true);
  });

  test('the damaged log of one workspace keeps no plane from leading the others', async () => {
    const [bad, good] = [await freshWorkspace(cluster.api, 'damaged'), await freshWorkspace(cluster.api, 'beside-it')];
    const leader = await leaderOf(bad.workspace);
    const ends = await policiesThatEnd(good, [4, 6, 8, 10, 12]);
    /** As if the end of its log were gone, or there again. */
    const move = (by: 1 | -1) =>
      servers
        .db(cluster.database)
        .collection<{ _id: string; revision: number }>('workspace')
        .updateOne({ _id: bad.workspace }, { $inc: { revision: by } });
    await move(1);
    const readiness = async (url: string) => (await fetch(`${url}/readyz?verbose`)).text();
    const named = `but not ${bad.workspace}, whose audit log is damaged`;
    await expect.poll(() => readiness(leader.url), PATIENCE).toContain(named);
    const killedAt = Date.now();
    await leader.kill();
    const next = cluster.planes.filter((plane) => plane !== leader);
    await expect.poll(() => isSpread(next), PATIENCE).toBe(true);
    await requireEnded(good, ends, killedAt + TAKEN_OVER_MS);
    const said = await Promise.all(next.map(({ url }) => readiness(url)));
    expect(said.filter((text) => text.includes(named))).toHaveLength(1);
    expect((await cluster.api('GET', '/api/v1/policies', bad)).status).toBe(503);
    await move(-1);
    await leader.start();
    await expect.poll(() => isSpread(cluster.planes), PATIENCE).toBe(true);
    expect((await cluster.api('GET', '/api/v1/policies', bad)).status).toBe(200);
    for (const { url } of cluster.planes) {
      await expect.poll(() => readiness(url), PATIENCE).not.toContain('damaged');
    }
  });

  /** @returns the status for a caller that closed its own direction */
  async function whoWaits(request: UnreadRequest): Promise<number> {
    const socket = (await sendUnread(request)).end();
    return Number((await text(socket)).split(' ', 2)[1]);
  }

  type Place = Awaited<ReturnType<typeof freshWorkspace>>;

  /** Policies that end so many seconds from now. @returns when, by their names */
  async function policiesThatEnd(place: Place, seconds: readonly number[]): Promise<Map<string, number>> {
    const made = seconds.map(async (after) => {
      const name = `after-${after}`;
      const body = { name, spec: { action: 'DENY', peerSelector: {} }, ttl: `${after}s` };
      const { status, body: policy } = await cluster.api('POST', '/api/v1/policies', { ...place, body });
      expect([status, policy.spec]).toEqual([201, expect.objectContaining({ expiresAt: expect.any(String) })]);
      return [name, Date.parse(policy.spec.expiresAt)] as const;
    });
    return new Map(await Promise.all(made));
  }

  /** Each was deleted once, at its instant or, where nobody led before, `LATE_MS` after the change of leader at the latest. */
  async function requireEnded(place: Place, ends: ReadonlyMap<string, number>, ledFrom: number): Promise<void> {
    const deleted = async () =>
      (await logOf(place.workspace)).flatMap(({ at, commit }) =>
        (commit?.changes ?? []).flatMap(({ type, kind, name }) =>
          type === 'deleted' && kind === 'MeshPolicy' ? [{ name, at }] : [],
        ),
      );
    await expect.poll(async () => (await deleted()).length, { timeout: 40_000 }).toBeGreaterThanOrEqual(ends.size);
    const found = await deleted();
    expect(found.map(({ name }) => name).toSorted()).toEqual([...ends.keys()].toSorted());
    for (const { name, at } of found) {
      const end = ends.get(name) ?? 0;
      expect(at).toBeGreaterThanOrEqual(end);
      expectWithin(at - Math.max(end, ledFrom), LATE_MS);
    }
    const taken = await servers
      .db(cluster.database)
      .collection<{ body: string }>('record')
      .find({ '_id.ws': place.workspace, '_id.kind': 'Snapshot', body: { $exists: true } } as object)
      .toArray();
    const revisions = taken.map(({ body }) => JSON.parse(body).spec.revision);
    expect(revisions).toHaveLength(new Set(revisions).size);
  }

  interface Entry {
    readonly at: number;
    readonly commit?: { readonly changes: readonly { type: string; kind: string; name: string }[] };
  }

  async function logOf(workspace: string): Promise<Entry[]> {
    const log = servers.db(cluster.database).collection<{ entry: string }>('log');
    return (await log.find({ '_id.ws': workspace } as object).toArray()).map(({ entry }) => JSON.parse(entry));
  }

  const leaderOf = (workspace: string) => leaderIn(servers, cluster, workspace);
});

async function isSpread(planes: readonly ClusterPlane[]): Promise<boolean> {
  const counts = await Promise.all(planes.map((plane) => ledBy([plane])));
  return counts.reduce((a, b) => a + b, 0) === SHARES && Math.max(...counts) - Math.min(...counts) <= 1;
}
