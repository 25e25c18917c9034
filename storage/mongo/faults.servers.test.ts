import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GrowingTree, leafHash, rootOf } from '../../core/audit/tree.ts';
import type { Store } from '../../core/base/ports.ts';
import { silentLog } from '../../core/base/silent-log.ts';
import { hasMongod, type ReplicaSet, startReplicaSet } from '../../test/kits/servers/replica-set.ts';
import { draft, outcome, peer, WHY, WS } from '../contract/kit.ts';
import { openStore } from '../open.ts';

const WRITERS = 8;

describe.skipIf(!hasMongod)('while the servers of a database fail', () => {
  let servers: ReplicaSet;
  const stores: Store[] = [];
  beforeAll(async () => {
    servers = await startReplicaSet();
    const open = () => openStore(servers.url('faults'), { clock: { now: () => Date.now() }, log: silentLog });
    stores.push(await open(), await open());
  });
  afterAll(async () => {
    for (const store of stores) await store.close();
    await servers.stop();
  });

  test.each<[string, () => Promise<void>]>([
    ['steps down', () => servers.stepDown()],
    [
      'is killed and comes back',
      async () => {
        const primary = await servers.primary();
        await primary.kill();
        await primary.start();
      },
    ],
    [
      'is killed twice in a row',
      async () => {
        for (let n = 0; n < 2; n += 1) {
          const primary = await servers.primary();
          await primary.kill();
          await primary.start();
        }
      },
    ],
  ])('nothing acknowledged is lost and nothing is written twice when the primary %s', async (how, fault) => {
    const ws = `${WS}_${how.replaceAll(' ', '_')}`;
    const [one, other] = stores as [Store, Store];
    await one.commit(ws, [{ op: 'create', record: draft('counter', { spec: 0 }) }], WHY);
    const stop = new AbortController();
    const watched = watchAll(other, ws, stop.signal);
    const acknowledged = new Map<string, number>();
    const failures: string[] = [];
    let increments = 0;
    let written = 0;

    const write = async (writer: number) => {
      const store = stores[writer % 2] as Store;
      for (let n = 0; !stop.signal.aborted; n += 1) {
        const name = `w${writer}-${n}`;
        const created = await outcome(store.commit(ws, [{ op: 'create', record: draft(name) }], WHY));
        if ('revision' in created) acknowledged.set(name, created.revision);
        else failures.push(created.code);
        const counter = await store.get(ws, peer('counter'));
        const next = draft('counter', { spec: Number(counter?.spec) + 1 });
        const op = { op: 'update', record: next, revision: counter?.revision ?? 0 } as const;
        const counted = await outcome(store.commit(ws, [op], WHY));
        if ('revision' in counted) increments += 1;
        else if (counted.code !== 'conflict') failures.push(counted.code);
        written += 1;
      }
    };
    const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer));
    await expect.poll(() => written, { timeout: 30_000 }).toBeGreaterThan(2 * WRITERS);
    await fault();
    const afterwards = written;
    await expect.poll(() => written, { timeout: 40_000 }).toBeGreaterThan(afterwards + 2 * WRITERS);
    stop.abort();
    await Promise.all(writers);

    // Had one been written twice, the second time would have found its name taken.
    expect(failures.filter((code) => code !== 'unavailable')).toEqual([]);
    const commits = await one.commits(ws, 0, 1_000_000);
    expect(commits.map(({ revision }) => revision)).toEqual(commits.map((_, n) => n + 1));
    const revisions = new Map(
      commits.flatMap(({ changes, revision }) => changes.map(({ record }) => [record.name, revision])),
    );
    for (const [name, revision] of acknowledged) expect([name, revisions.get(name)]).toEqual([name, revision]);
    const unknown = failures.length;
    expect(Number((await other.get(ws, peer('counter')))?.spec) - increments).toBeLessThanOrEqual(unknown);
    expect(Number((await other.get(ws, peer('counter')))?.spec)).toBeGreaterThanOrEqual(increments);
    const seen = await watched;
    expect(seen).toEqual(seen.map((_, n) => n + 1));
    await requireWholeTree(one, ws);
  });

  test('who waits for what others wrote is held up by a change of primary, and not refused', async () => {
    const [one, other] = stores as [Store, Store];
    const ws = `${WS}_heard`;
    await one.commit(ws, [{ op: 'create', record: draft('seen') }], WHY);
    let [isOver, heard] = [false, 0];
    const asking = Array.from({ length: WRITERS }, async (_, nth) => {
      while (!isOver) {
        await (nth % 2 ? one : other).caughtUp([ws]);
        heard += 1;
      }
    });
    const asked = Promise.all(asking);
    asked.catch(() => undefined);
    await expect.poll(() => heard).toBeGreaterThan(WRITERS);
    await servers.stepDown();
    const before = heard;
    await Promise.race([asked, expect.poll(() => heard, { timeout: 40_000 }).toBeGreaterThan(before + 2 * WRITERS)]);
    isOver = true;
    await asked;
  });
});

async function watchAll(store: Store, ws: string, signal: AbortSignal): Promise<number[]> {
  const seen: number[] = [];
  for await (const { revision } of store.watch(ws, 0, signal)) seen.push(revision);
  return seen;
}

async function requireWholeTree(store: Store, ws: string): Promise<void> {
  const tree = store.auditTree(ws);
  const size = await tree.size();
  const growing = new GrowingTree();
  for (const text of await tree.entries(0, size)) growing.append(leafHash(text));
  const root = await rootOf(size, (ids) => tree.hashes(ids));
  expect(Buffer.from(growing.root()).equals(root)).toBe(true);
}
