import { ObjectId } from 'mongodb';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Store } from '../../core/base/ports.ts';
import { serialized } from '../../core/base/serialize.ts';
import { silentLog } from '../../core/base/silent-log.ts';
import { type Databases, hasMongod } from '../../test/kits/servers/replica-set.ts';
import { shareReplicaSet } from '../../test/kits/servers/shared-replica-set.ts';
import { draft, testClock, WHY, WS } from '../contract/kit.ts';
import { openStore } from '../open.ts';
import { type Connection, connect } from './connect.ts';
import { buildWriteQueue, type MongoWriteQueue } from './write-queue.ts';

const hear = async () => undefined;

describe.skipIf(!hasMongod)('turns of processes at a workspace', { timeout: 60_000 }, () => {
  let servers: Databases;
  let databases = 0;
  beforeAll(async () => {
    servers = await shareReplicaSet();
  });
  afterAll(() => servers.stop());

  function freshUrl(): string {
    databases += 1;
    return servers.url(`turns_${databases}`);
  }

  async function connected(url: string): Promise<Connection> {
    const connection = await connect(url);
    onTestFinished(() => connection.close());
    return connection;
  }

  /** Processes that met each other, each with a clock that stands still: a turn ends with its work alone. */
  async function processes(count: number): Promise<{ turns: MongoWriteQueue[]; connection: Connection }> {
    const connection = await connected(freshUrl());
    const turns = Array.from({ length: count }, () => buildWriteQueue(connection, { hear, now: () => 0 }));
    for (const each of turns) each.met(WS);
    return { turns, connection };
  }

  const queued = async ({ turns }: Connection) => (await turns.findOne({ _id: WS }))?.waiting.length ?? 0;

  test('writes run at once and ask nothing where no other process was met', async () => {
    const connection = await connected(freshUrl());
    const turns = buildWriteQueue(connection, { hear });
    expect(await turns.run(WS, async () => 'done')).toBe('done');
    expect(turns.isContended(WS)).toBe(false);
    expect(await connection.turns.findOne({ _id: WS })).toBeNull();
  });

  test('processes have their turns in the order in which they asked', async () => {
    const { turns, connection } = await processes(3);
    const order: number[] = [];
    const { promise: first, resolve: end } = Promise.withResolvers<void>();
    const works: Promise<unknown>[] = [];
    for (const [nth, each] of turns.entries()) {
      works.push(
        each.run(WS, async () => {
          order.push(nth);
          if (nth === 0) await first;
        }),
      );
      await expect.poll(() => queued(connection), { interval: 5 }).toBe(nth + 1);
    }
    expect(order).toEqual([0]);
    end();
    await Promise.all(works);
    expect(order).toEqual([0, 1, 2]);
    await expect.poll(() => queued(connection)).toBe(0);
  });

  test('what is part of a work has the turn of that work, however long it is held', async () => {
    const connection = await connected(freshUrl());
    let now = 0;
    const turns = buildWriteQueue(connection, { hear, now: () => now });
    turns.met(WS);
    const whole = turns.run(WS, () => {
      now = 1_000;
      return turns.run(WS, async () => 'part');
    });
    expect(await whole).toBe('part');
  });

  test('a holder that died keeps the turn no longer than its lease', async () => {
    const { turns, connection } = await processes(1);
    const left = { ticket: new ObjectId(), until: Date.now() + 700 };
    await connection.turns.insertOne({ _id: WS, waiting: [left] });
    await turns[0]?.run(WS, async () => undefined);
    expect(Date.now()).toBeGreaterThanOrEqual(left.until);
    await expect.poll(() => queued(connection)).toBe(0);
  });

  test('a write that fails gives its turn to the next', async () => {
    const { turns } = await processes(2);
    const [one, other] = turns as [MongoWriteQueue, MongoWriteQueue];
    await expect(one.run(WS, () => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
    expect(await other.run(WS, async () => 'next')).toBe('next');
  });

  test('work is done where the turns cannot be asked for', async () => {
    const connection = await connect(freshUrl());
    const turns = buildWriteQueue(connection, { hear });
    turns.met(WS);
    await connection.close();
    expect(await turns.run(WS, async () => 'done')).toBe('done');
  });

  test('writes of three processes that rest on each other all stand, and once each', async () => {
    const url = freshUrl();
    const stores = await Promise.all(
      Array.from({ length: 3 }, async (): Promise<Store> => {
        const store = await openStore(url, { clock: testClock(), log: silentLog });
        onTestFinished(() => store.close());
        return store;
      }),
    );
    let judged = 0;
    const writes = Array.from({ length: 24 }, (_, n) => {
      const store = stores[n % 3] as Store;
      return serialized(store, WS, async () => {
        judged += 1;
        const readSet = { groups: ['MeshPeer'], revision: await store.revision(WS) } as const;
        return store.commit(WS, [{ op: 'create', record: draft(`n${n}`) }], { ...WHY, readSet });
      });
    });
    const revisions = (await Promise.all(writes)).map(({ revision }) => revision);
    expect(revisions.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 24 }, (_, n) => n + 1));
    expect(stores.some(({ queue }) => queue.isBusy(WS))).toBe(true);
    // Without turns two of three judgements are in vain.
    expect(judged).toBeLessThan(3 * 24);
  });
});
