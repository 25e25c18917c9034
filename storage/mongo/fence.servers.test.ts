import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Store } from '../../core/base/ports.ts';
import { silentLog } from '../../core/base/silent-log.ts';
import { hasMongod, type ReplicaSet, startReplicaSet } from '../../test/kits/servers/replica-set.ts';
import { draft, outcome, peer, WHY, WS } from '../contract/kit.ts';
import { compactVersions } from './compact.ts';
import { type Connection, connect } from './connect.ts';
import { type CommitJob, writeGroup } from './group.ts';
import { acquireLease } from './lease.ts';
import { openMongoStore } from './store.ts';

const LEASE = 'leader';
const TAKE_OVERS = 60;

describe.skipIf(!hasMongod)('a former holder of a lease', () => {
  let servers: ReplicaSet;
  let databases = 0;
  beforeAll(async () => {
    servers = await startReplicaSet();
  });
  afterAll(() => servers.stop());

  const freshUrl = () => servers.url(`fence_${++databases}`);
  async function storeAt(url: string): Promise<Store> {
    const store = await openMongoStore({ url, clock: { now: () => Date.now() }, log: silentLog });
    onTestFinished(() => store.close());
    return store;
  }
  async function connectionTo(url: string): Promise<Connection> {
    const connection = await connect(url);
    onTestFinished(() => connection.close());
    return connection;
  }
  const jobUnder = (fence: number, name = 'a'): CommitJob => {
    const ops = [{ op: 'create', record: draft(name) }] as const;
    return { workspace: WS, ops, context: { ...WHY, fence: { lease: LEASE, fence } } };
  };

  test('does not commit what it had begun to write when another took the lease', async () => {
    const url = freshUrl();
    const [store, connection] = [await storeAt(url), await connectionTo(url)];
    const { fence = 0 } = (await store.acquire(LEASE, 'former', 0)) ?? {};
    let tries = 0;
    const outcomes = await connection.transaction(async (session) => {
      tries += 1;
      // From here on it sees the store as it is now.
      await connection.leases.findOne({ _id: LEASE }, { session });
      if (tries === 1) expect(await store.acquire(LEASE, 'next', 60_000)).toMatchObject({ fence: fence + 1 });
      return writeGroup(connection, session, [jobUnder(fence)], Date.now());
    });
    expect([tries, outcomes]).toEqual([2, [{ error: expect.objectContaining({ code: 'fenced' }) }]]);
    expect(await store.get(WS, peer('a'))).toBeUndefined();
  });

  test('is waited for where all is written and its commit is under way', async () => {
    const url = freshUrl();
    const [store, connection] = [await storeAt(url), await connectionTo(url)];
    const { fence = 0 } = (await store.acquire(LEASE, 'former', 0)) ?? {};
    const order: string[] = [];
    let taking: Promise<unknown> | undefined;
    await connection.transaction(async (session) => {
      await writeGroup(connection, session, [jobUnder(fence)], Date.now());
      taking = acquireLease(connection, { name: LEASE, holder: 'next', ttlMs: 60_000 }, Date, 'server').then(() =>
        order.push('taken'),
      );
      // So long that the one who takes it has met the transaction.
      await expect.poll(() => waitsAtLease(servers)).toBe(true);
      order.push('written');
    });
    await taking;
    expect(order).toEqual(['written', 'taken']);
    expect(await store.get(WS, peer('a'))).toMatchObject({ revision: 1 });
    expect(await outcome(store.commit(WS, [], jobUnder(fence).context))).toMatchObject({ code: 'fenced' });
  });

  test('stopped for good within a transaction keeps nobody from the lease, nor from what it wrote', async () => {
    const url = freshUrl();
    const [store, connection] = [await storeAt(url), await connectionTo(url)];
    await store.commit(WS, [{ op: 'create', record: draft('first') }], WHY);
    const { fence = 0 } = (await store.acquire(LEASE, 'former', 0)) ?? {};
    const session = connection.client.startSession();
    session.startTransaction({ readConcern: { level: 'snapshot' } });
    await writeGroup(connection, session, [jobUnder(fence)], Date.now());

    expect(await store.acquire(LEASE, 'next', 60_000)).toMatchObject({ fence: fence + 1 });
    expect(await store.commit(WS, jobUnder(0, 'b').ops, WHY)).toMatchObject({ revision: 2 });
    // And goes on after all.
    await expect(session.commitTransaction()).rejects.toThrow(/aborted|NoSuchTransaction/);
    await session.endSession();
    expect((await store.list(WS, 'MeshPeer')).items.map(({ name }) => name)).toEqual(['b', 'first']);
  });

  /** All that it does before its nth transaction is done; then another one takes the lease and does its work first. */
  const takenOverBefore = (nth: number, connection: Connection, theirs: () => Promise<unknown>): Connection => {
    let begun = 0;
    return {
      ...connection,
      async transaction(work) {
        begun += 1;
        if (begun === nth) await theirs();
        return connection.transaction(work);
      },
    };
  };

  test('that was stopped before it dropped old versions gives up nothing that the next one keeps', async () => {
    const url = freshUrl();
    const [store, connection] = [await storeAt(url), await connectionTo(url)];
    await store.commit(WS, [{ op: 'create', record: draft('a') }], WHY);
    for (const revision of [1, 2, 3]) {
      const record = draft('a', { spec: { hostname: `a${revision}` } });
      await store.commit(WS, [{ op: 'update', record, revision }], WHY);
    }
    const { fence = 0 } = (await store.acquire(LEASE, 'former', 0)) ?? {};
    const stopped = takenOverBefore(1, connection, async () => {
      const next = await store.acquire(LEASE, 'next', 60_000);
      expect(await store.compact(WS, 4, [2], { lease: LEASE, fence: next?.fence ?? 0 })).toBe(2);
    });
    const late = { workspace: WS, upTo: 4, keep: [], fence: { lease: LEASE, fence } };
    expect(await outcome(compactVersions(stopped, Date, late))).toEqual({ code: 'fenced', subject: LEASE });
    expect(await store.get(WS, peer('a'), { revision: 2 })).toMatchObject({ spec: { hostname: 'a1' } });
  });

  test('that is in the middle of dropping old versions ends there, the next one drops the rest, and others write on', async () => {
    const url = freshUrl();
    const [store, connection] = [await storeAt(url), await connectionTo(url)];
    const peers = (spec: object) => Array.from({ length: 600 }, (_, n) => draft(`a${n}`, { spec }));
    await store.commit(
      WS,
      peers({ at: 1 }).map((record) => ({ op: 'create', record }) as const),
      WHY,
    );
    for (const revision of [1, 2]) {
      const ops = peers({ at: revision + 1 }).map((record) => ({ op: 'update', record, revision }) as const);
      await store.commit(WS, ops, WHY);
    }
    const { fence = 0 } = (await store.acquire(LEASE, 'former', 0)) ?? {};
    let rest: unknown;
    // The mark, the first 500, and then the others.
    const cut = takenOverBefore(3, connection, async () => {
      const next = await store.acquire(LEASE, 'next', 60_000);
      rest = await outcome(store.compact(WS, 3, [2], { lease: LEASE, fence: next?.fence ?? 0 }));
    });
    const compaction = { workspace: WS, upTo: 3, keep: [2], fence: { lease: LEASE, fence } };
    const writes = Array.from({ length: 40 }, (_, n) =>
      store.commit(WS, [{ op: 'create', record: draft(`b${n}`) }], WHY),
    );
    const [former, ...written] = await Promise.all([outcome(compactVersions(cut, Date, compaction)), ...writes]);
    expect([former, rest]).toEqual([{ code: 'fenced', subject: LEASE }, 100]);
    expect(written.map(({ revision }) => revision)).toEqual(writes.map((_, n) => n + 4));
    const kept = (await store.list(WS, 'MeshPeer', { asOf: { revision: 2 } })).items;
    expect(kept.map(({ spec }) => spec)).toEqual(kept.map(() => ({ at: 2 })));
    expect(kept).toHaveLength(600);
    expect(await outcome(store.list(WS, 'MeshPeer', { asOf: { revision: 1 } }))).toMatchObject({ code: 'compacted' });
  });

  test('writes nothing after the first write of the next, however often and whenever they take turns', async () => {
    const url = freshUrl();
    const stores = await Promise.all([storeAt(url), storeAt(url), storeAt(url)]);
    const isOver = () => fences.size >= TAKE_OVERS;
    const fences = new Set<number>();
    let refused = 0;
    const hold = async (store: Store, holder: string) => {
      for (let n = 0; !isOver(); n += 1) {
        const { fence } = (await store.acquire(LEASE, holder, Math.floor(Math.random() * 8))) ?? {};
        if (fence === undefined) continue;
        fences.add(fence);
        // It goes on for longer than it may, as if it had been stopped in between.
        const writes = Array.from({ length: 6 }, (_, k) =>
          outcome(
            store.commit(WS, [{ op: 'create', record: draft(`${holder}-${n}-${k}`, { spec: { fence } }) }], {
              ...WHY,
              fence: { lease: LEASE, fence },
            }),
          ),
        );
        for (const answer of await Promise.all(writes)) {
          if ('revision' in answer) continue;
          expect(answer.code).toBe('fenced');
          refused += 1;
        }
      }
    };
    await Promise.all(stores.map((store, n) => hold(store, `h${n}`)));
    const [store] = stores;
    const commits = (await store?.commits(WS, 0, 1_000_000)) ?? [];
    const written = commits.flatMap(({ changes }) =>
      changes.map(({ record }) => (record.spec as unknown as { fence: number }).fence),
    );
    expect(written.length).toBeGreaterThan(TAKE_OVERS);
    expect(written).toEqual(written.toSorted((a, b) => a - b));
    expect(refused).toBeGreaterThan(0);
  });
});

/** Whether somebody is held up by the transaction of another at the lease. */
async function waitsAtLease(servers: ReplicaSet): Promise<boolean> {
  const waiting = await servers
    .db('admin')
    .aggregate([{ $currentOp: {} }, { $match: { 'command.findAndModify': 'lease', writeConflicts: { $gt: 0 } } }], {
      readConcern: { level: 'local' },
    })
    .toArray();
  return waiting.length > 0;
}
