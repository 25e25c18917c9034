import { setTimeout as after } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../kits/cluster.ts';
import { type ApiAnswer, freshWorkspace } from '../kits/http/harness.ts';
import { type Databases, hasMongod } from '../kits/servers/replica-set.ts';
import { shareReplicaSet } from '../kits/servers/shared-replica-set.ts';

const TRIES = 100;
const RETRY_MS = 50;
const POLL = { timeout: 90_000 };
const LONG_MS = 300_000;

interface Place {
  readonly token: string;
  readonly workspace: string;
}

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

  /** Writers that each make one policy after the other until they are told to end. */
  function load(place: Place, prefix: string, writers = 4) {
    let isOver = false;
    const acknowledged: string[] = [];
    const asked: string[] = [];
    const failures: unknown[] = [];
    const work = Array.from({ length: writers }, async (_, writer) => {
      for (let n = 0; !isOver; n += 1) {
        const name = `${prefix}-${writer}-${n}`;
        asked.push(name);
        const created = await createOnce(place, name).catch((error: unknown) => ({ error }));
        if (created === 'acknowledged') acknowledged.push(name);
        else if (created !== 'unknown') failures.push(created);
      }
    });
    return {
      acknowledged,
      asked,
      failures,
      async end() {
        isOver = true;
        await Promise.all(work);
      },
    };
  }

  /**
   * As a client does: what was told not to have been done is asked for again, after a connection that ended nobody knows, and
   * a look says which it was.
   */
  async function createOnce(place: Place, name: string): Promise<'acknowledged' | 'unknown' | object> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const body = { name, spec: { action: 'DENY', peerSelector: {} } };
      const answer = await cluster.api('POST', '/api/v1/policies', { ...place, body }).catch(() => undefined);
      if (answer === undefined) return 'unknown';
      if (answer.status === 201) return 'acknowledged';
      // What was answered with 503 may stand.
      if (answer.status === 409 && tries > 0) return 'unknown';
      if (answer.status !== 503 || !answer.headers.has('retry-after'))
        return { name, status: answer.status, body: answer.body };
      await after(RETRY_MS);
    }
    return { name, status: 'never answered' };
  }

  async function namesOf(place: Place, api = cluster.api): Promise<Set<string>> {
    const names = new Set<string>();
    let cursor: string | undefined;
    do {
      const query = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { body } = await api('GET', `/api/v1/policies?limit=100${query}`, place);
      for (const item of body.items) names.add(item.name);
      cursor = body.next_cursor;
    } while (cursor !== undefined);
    return names;
  }

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
      const statuses = new Map<number | string, number>();
      const asked = async (method: string, route: string, body?: unknown) => {
        const answer = await untilAnswered(() =>
          cluster.api(method, route, { ...place, ...(body !== undefined && { body }) }),
        );
        statuses.set(answer, (statuses.get(answer) ?? 0) + 1);
      };
      const clients = names.map(async (name) => {
        for (let round = 1; !isOver; round += 1) {
          await asked('PUT', `/api/v1/policies/${name}`, { spec: spec(round) });
          await asked('GET', `/api/v1/policies/${name}`);
          rounds += 1;
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
      expect([...statuses.keys()]).toEqual([200]);
    },
    LONG_MS,
  );

  test(
    'one that is killed loses nothing that it acknowledged and leaves nothing half done',
    async () => {
      const place = await freshWorkspace(cluster.api, 'killed');
      for (const plane of cluster.planes) {
        const work = load(place, `k${cluster.planes.indexOf(plane)}`);
        const before = work.acknowledged.length;
        await expect.poll(() => work.acknowledged.length, POLL).toBeGreaterThan(before + 10);
        await plane.kill();
        const meanwhile = work.acknowledged.length;
        await expect.poll(() => work.acknowledged.length, POLL).toBeGreaterThan(meanwhile + 10);
        await plane.start();
        await work.end();
        expect(work.failures).toEqual([]);
        for (const { api } of cluster.planes) {
          const names = await namesOf(place, api);
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
});

/** As every client does with a request that may be made twice: again, where the connection ended or it was told to wait. */
async function untilAnswered(ask: () => Promise<ApiAnswer>): Promise<number | string> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const answer = await ask().catch(() => undefined);
    if (answer && !(answer.status === 503 && answer.headers.has('retry-after'))) return answer.status;
    await after(RETRY_MS);
  }
  return 'never answered';
}
