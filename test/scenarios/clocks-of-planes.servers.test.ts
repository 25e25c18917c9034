import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cluster, startCluster } from '../kits/cluster.ts';
import { type Api, freshWorkspace } from '../kits/http/harness.ts';
import { isInstalled } from '../kits/process/needs.ts';
import { hostIn } from '../kits/process/set-clock.ts';
import { expectWithin } from '../kits/process/stopwatch.ts';
import { type Databases, hasMongod } from '../kits/servers/replica-set.ts';
import { shareReplicaSet } from '../kits/servers/shared-replica-set.ts';

const LATE_MS = 2_000;
/** What an instant that is answered may be off from when the test itself looks: it is read in between. */
const NEAR_MS = 1_000;
const SPEC = { action: 'DENY', peerSelector: {} };

describe.skipIf(!hasMongod || !isInstalled('faketime'))(
  'three control planes whose hosts do not agree on the time',
  () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'mesh-clocks-'));
    const hosts = ['+5', '-5', '+0'].map((offset, nth) => {
      const host = hostIn(mkdtempSync(path.join(folder, `${nth}-`)));
      host.set(offset);
      return host;
    });
    let servers: Databases;
    let cluster: Cluster;
    beforeAll(async () => {
      servers = await shareReplicaSet();
      cluster = await startCluster({ servers, envOf: (nth) => hosts[nth]?.env ?? {} });
    });
    afterAll(async () => {
      await cluster?.stop();
      await servers.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    type Place = Awaited<ReturnType<typeof freshWorkspace>>;
    /** A clock that goes forward looks as if the host had been paused, so a write may have to be sent again. */
    const make = async (api: Api, place: Place, name: string, ttl: string) => {
      let answer: Awaited<ReturnType<Api>> | undefined;
      const send = async () => {
        answer = await api('POST', '/api/v1/policies', { ...place, body: { name, spec: SPEC, ttl } });
        return [name, answer.status, answer.headers.get('retry-after')];
      };
      const first = await send();
      if (first[1] === 503) expect(first).toEqual([name, 503, '1']);
      if (first[1] !== 201) await expect.poll(send, { timeout: 30_000 }).toEqual([name, 201, null]);
      return Date.parse(answer?.body.spec.expiresAt);
    };

    test('all go by the clock of the database, and say whose host is off', async () => {
      const place = await freshWorkspace(cluster.api, 'apart');
      for (const [nth, { api }] of cluster.planes.entries()) {
        const asked = Date.now();
        const end = await make(api, place, `by-${nth}`, '1h');
        expect(isNear(end - 3_600_000, asked)).toBe(true);
      }
      const clocks = cluster.planes.map(async ({ url }) => {
        const { checks } = (await (await fetch(`${url}/readyz?verbose`)).json()) as { checks: { name: string }[] };
        return checks.find(({ name }) => name === 'clock');
      });
      expect(await Promise.all(clocks)).toMatchObject([
        { state: 'degraded', detail: expect.stringContaining('5 s ahead of that of the database') },
        { state: 'degraded', detail: expect.stringContaining('5 s behind that of the database') },
        { state: 'ok' },
      ]);
    });

    test('while their clocks jump all is recorded in order, nothing in the future, and what ends does so on time', async () => {
      const place = await freshWorkspace(cluster.api, 'jumping');
      const ends = new Map<string, number>();
      for (const offsets of [
        ['+1h', '-1h', '+5'],
        ['-5', '+5', '-1d'],
        ['+1d', '+0', '+0'],
      ]) {
        for (const [nth, host] of hosts.entries()) host.set(offsets[nth] ?? '+0');
        for (const [nth, { api }] of cluster.planes.entries()) {
          const name = `by-${nth}-${ends.size}`;
          ends.set(name, await make(api, place, name, '3s'));
        }
      }
      await make(cluster.api, place, 'stays', '1h');
      const left = async (api: Api) => {
        const { status, body } = await api('GET', '/api/v1/policies', place);
        return [status, ...(body.items ?? []).map(({ name }: { name: string }) => name)];
      };
      await expect.poll(() => left(cluster.api), { timeout: 30_000 }).toEqual([200, 'stays']);
      for (const { api } of cluster.planes) expect(await left(api)).toEqual([200, 'stays']);

      const log = servers.db(cluster.database).collection<{ entry: string }>('log');
      const found = await log
        .find({ '_id.ws': place.workspace } as object)
        .sort({ _id: 1 })
        .toArray();
      const entries = found.map(({ entry }) => JSON.parse(entry) as Entry);
      const instants = entries.map(({ at }) => at);
      expect(instants).toEqual(instants.toSorted((a, b) => a - b));
      expect(instants.filter((at) => isAhead(at))).toEqual([]);
      const deleted = entries.flatMap(({ at, commit }) =>
        (commit?.changes ?? []).flatMap(({ type, kind, name }) =>
          type === 'deleted' && kind === 'MeshPolicy' ? [{ name, late: at - (ends.get(name) ?? 0) }] : [],
        ),
      );
      expect(deleted.map(({ name }) => name).toSorted()).toEqual([...ends.keys()].toSorted());
      for (const { name, late } of deleted) {
        expect([name, late]).toEqual([name, expect.toSatisfy((ms: number) => ms >= 0)]);
        expectWithin(late, LATE_MS);
      }
    });
  },
);

interface Entry {
  readonly at: number;
  readonly commit?: { readonly changes: readonly { type: string; kind: string; name: string }[] };
}

/** Of an instant of a control plane since one that was read here, by the clock of this machine. */
function isNear(at: number, since: number): boolean {
  return !isAhead(at) && at > since - NEAR_MS;
}

function isAhead(at: number): boolean {
  return at > Date.now() + NEAR_MS;
}
