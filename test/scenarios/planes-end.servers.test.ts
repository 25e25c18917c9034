import { setTimeout as after } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../kits/cluster.ts';
import { pace, policyNames, writePolicies } from '../kits/cluster-load.ts';
import { type ApiAnswer, freshWorkspace } from '../kits/http/harness.ts';
import type { Place } from '../kits/http/joining.ts';
import { reading } from '../kits/http/read-events.ts';
import { stopwatch } from '../kits/process/stopwatch.ts';
import { type Databases, hasMongod } from '../kits/servers/replica-set.ts';
import { shareReplicaSet } from '../kits/servers/shared-replica-set.ts';

const TRIES = 100;
const RETRY_MS = 50;
const POLL = { timeout: 90_000 };
const LONG_MS = 300_000;
/** Then what it cost is told. */
const isLong = process.env['MESH_LONG'] === '1';

describe.skipIf(!hasMongod)('of three control planes under load', () => {
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

  test(
    'one after the other is restarted, and every request is answered',
    async () => {
      const place = await freshWorkspace(cluster.api, 'rolling');
      const names = ['a', 'b', 'c', 'd'];
      const spec = (round: number) => ({ action: 'DENY', peerSelector: { matchLabels: { round: `${round}` } } });
      for (const name of names) {
        await cluster.api('POST', '/api/v1/policies', { ...place, body: { name, spec: spec(0) } });
      }
      let isOver = false;
      let rounds = 0;
      const statuses = new Set<number | string>();
      let requests = 0;
      let again = 0;
      let longest = 0;
      const asked = async (method: string, route: string, body?: unknown) => {
        const sinceBegin = stopwatch();
        const { status, tries } = await untilAnswered(() =>
          cluster.api(method, route, { ...place, ...(body !== undefined && { body }) }),
        );
        statuses.add(status);
        requests += 1;
        if (tries > 1) again += 1;
        longest = Math.max(longest, sinceBegin());
      };
      const clients = names.map(async (name) => {
        for (let round = 1; !isOver; round += 1) {
          await asked('PUT', `/api/v1/policies/${name}`, { spec: spec(round) });
          await asked('GET', `/api/v1/policies/${name}`);
          rounds += 1;
          await pace();
        }
      });
      for (const plane of cluster.planes) {
        const before = rounds;
        await expect.poll(() => rounds, POLL).toBeGreaterThan(before + 10);
        expect(await plane.stop()).toBe(0);
        await plane.start();
      }
      isOver = true;
      await Promise.all(clients);
      if (isLong) console.info('of %d requests %d were asked again; the longest took %d ms', requests, again, longest);
      expect([...statuses]).toEqual([200]);
    },
    LONG_MS,
  );

  test(
    'one that is killed loses nothing that it acknowledged and leaves nothing half done',
    async () => {
      const place = await freshWorkspace(cluster.api, 'killed');
      for (const plane of cluster.planes) {
        const work = writePolicies(cluster.api, place, `k${cluster.planes.indexOf(plane)}`);
        const before = work.acknowledged.length;
        await expect.poll(() => work.acknowledged.length, POLL).toBeGreaterThan(before + 10);
        await plane.kill();
        const meanwhile = work.acknowledged.length;
        await expect.poll(() => work.acknowledged.length, POLL).toBeGreaterThan(meanwhile + 10);
        await plane.start();
        await work.end();
        expect(work.failures).toEqual([]);
        for (const { api } of cluster.planes) {
          const names = await policyNames(api, place);
          expect(work.acknowledged.filter((name) => !names.has(name))).toEqual([]);
        }
      }
      // Every revision of the log stands, and each is signed over the one before.
      const log = servers.db(cluster.database).collection('log');
      const commits = await log.find({ '_id.ws': place.workspace, commit: { $exists: true } } as object).toArray();
      const revisions = commits.map((entry) => entry['commit'] as number).sort((a, b) => a - b);
      expect(revisions).toEqual(revisions.map((_, nth) => nth + 1));
    },
    LONG_MS,
  );

  test(
    'a reader of events who goes on from the last one misses none and hears none twice, whether they end or are killed',
    async () => {
      const place = await freshWorkspace(cluster.api, 'read');
      const reader = readOn(cluster.url, place);
      const work = writePolicies(cluster.api, place, 'e');
      for (const [nth, plane] of cluster.planes.entries()) {
        const before = work.acknowledged.length;
        await expect.poll(() => work.acknowledged.length, POLL).toBeGreaterThan(before + 10);
        await plane[nth === 1 ? 'kill' : 'stop']();
        await plane.start();
      }
      await work.end();
      const names = [...(await policyNames(cluster.api, place))].toSorted();
      const missed = () => names.filter((name) => !reader.names.includes(name));
      await expect.poll(missed, POLL).toEqual([]);
      expect(await reader.end()).toBeGreaterThan(1);
      expect(reader.names.toSorted()).toEqual(names);
      expect(work.failures).toEqual([]);
    },
    LONG_MS,
  );
});

/** What a client hears that connects anew, with the last event that it had, as often as its stream ends. */
function readOn(url: string, { token, workspace }: Place) {
  const names: string[] = [];
  const ending = new AbortController();
  let connections = 0;
  let last = '0';
  const read = async () => {
    const headers = { authorization: `Bearer ${token}`, 'x-workspace-id': workspace, 'last-event-id': last };
    const response = await fetch(new URL('/api/v1/events', url), { headers, signal: ending.signal });
    if (!response.ok) return;
    connections += 1;
    const stream = reading(response);
    for (let event = await stream.next(); event; event = await stream.next()) {
      last = event.id ?? last;
      for (const { kind, name } of event.data.changes ?? []) if (kind === 'MeshPolicy') names.push(name);
    }
  };
  const running = (async () => {
    while (!ending.signal.aborted) {
      await read().catch(() => undefined);
      await after(RETRY_MS);
    }
  })();
  return {
    names,
    /** @returns how often it has connected */
    async end() {
      ending.abort();
      await running;
      return connections;
    },
  };
}

/** As every client does with a request that may be made twice: again, where the connection ended or it was told to wait. */
async function untilAnswered(ask: () => Promise<ApiAnswer>) {
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const answer = await ask().catch(() => undefined);
    if (answer && !(answer.status === 503 && answer.headers.has('retry-after')))
      return { status: answer.status, tries };
    await after(RETRY_MS);
  }
  return { status: 'never answered', tries: TRIES };
}
