import { randomBytes } from 'node:crypto';
import type { ClientSession } from 'mongodb';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import type { Commit, Store, StoreError } from '../../core/base/ports.ts';
import { silentLog } from '../../core/base/silent-log.ts';
import { type Databases, hasMongod, startLoneServer } from '../../test/kits/servers/replica-set.ts';
import { shareReplicaSet } from '../../test/kits/servers/shared-replica-set.ts';
import { draft, outcome, peer, testClock, WHY, WS } from '../contract/kit.ts';
import { openStore } from '../open.ts';
import { type Connection, connect } from './connect.ts';
import { examineMongo } from './examine.ts';
import { writeGroup } from './group.ts';
import { openMongoStore } from './store.ts';

describe.skipIf(!hasMongod)('a database that several processes have open', () => {
  let servers: Databases;
  let databases = 0;
  beforeAll(async () => {
    servers = await shareReplicaSet();
  });
  afterAll(() => servers.stop());

  /** As many stores on one new database. */
  async function together(count: number): Promise<Store[]> {
    const url = freshUrl();
    const stores = await Promise.all(Array.from({ length: count }, () => openAt(url)));
    return stores;
  }
  function freshUrl(): string {
    databases += 1;
    return servers.url(`shared_${databases}`);
  }
  async function openAt(url: string): Promise<Store> {
    const store = await openStore(url, { clock: testClock(), log: silentLog });
    onTestFinished(() => store.close());
    return store;
  }
  const create = (name: string, over = {}) => [{ op: 'create', record: draft(name, over) }] as const;

  test('opened at once by several for the first time, it is one', async () => {
    const stores = await together(4);
    await Promise.all(stores.map((store, n) => store.commit(WS, create(`n${n}`), WHY)));
    for (const store of stores) {
      expect((await store.list(WS, 'MeshPeer')).items.map(({ name }) => name)).toEqual(['n0', 'n1', 'n2', 'n3']);
    }
  });

  test('each reads at once what another has committed, and refuses by it', async () => {
    const [one, other] = await pair();
    await one.commit(WS, create('a', { unique: ['ip:1'] }), WHY);
    expect((await other.get(WS, peer('a')))?.revision).toBe(1);
    expect(await outcome(other.commit(WS, create('b', { unique: ['ip:1'] }), WHY))).toEqual({
      code: 'unique',
      subject: 'ip:1',
    });
    await one.commit(WS, [{ op: 'delete', key: peer('a') }], WHY);
    expect(await outcome(other.commit(WS, create('b', { unique: ['ip:1'] }), WHY))).toMatchObject({ revision: 3 });
  });

  test('of writers who read the same version one wins, whichever process they are in', async () => {
    const stores = await together(3);
    await stores[0]?.commit(WS, create('a'), WHY);
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        outcome(
          (stores[n % 3] as Store).commit(
            WS,
            [{ op: 'update', record: draft('a', { spec: { n } }), revision: 1 }],
            WHY,
          ),
        ),
      ),
    );
    expect(answers.filter((answer) => 'revision' in answer)).toHaveLength(1);
    expect(answers.filter((answer) => 'code' in answer && answer.code === 'conflict')).toHaveLength(29);
  });

  test('every process is told of each commit of all, once and in order, with the changes of every kind', async () => {
    const stores = await together(3);
    const heard = stores.map((store) => {
      const commits: Commit[] = [];
      store.onCommit((commit) => commits.push(commit));
      return commits;
    });
    const made = await Promise.all(
      Array.from({ length: 90 }, (_, n) =>
        (stores[n % 3] as Store).commit(
          WS,
          create(`n${n}`, n % 2 === 0 ? { kind: 'Token', uid: `tok_${n}` } : {}),
          WHY,
        ),
      ),
    );
    await stores[1]?.commit(WS, [{ op: 'delete', key: { kind: 'Token', name: 'n0' } }], WHY);
    const inOrder = [...made].sort((a, b) => a.revision - b.revision);
    for (const commits of heard) {
      await expect.poll(() => commits.length).toBe(91);
      expect(commits.slice(0, 90)).toEqual(inOrder);
      expect(commits[90]?.changes[0]).toMatchObject({ type: 'deleted', record: { kind: 'Token', name: 'n0' } });
    }
  });

  test('a process that writes without a pause is told of what others commit', async () => {
    const [one, other] = await pair();
    const told = new Set<number>();
    one.onCommit(({ workspace, revision }) => workspace === WS && told.add(revision));
    let writes = 0;
    const isTold = new Promise<number>((resolve) =>
      one.onCommit(({ workspace }) => workspace === WS && resolve(writes)),
    );
    const writer = async () => {
      while (!told.has(1) && writes < 3_000) {
        writes += 1;
        await one.commit('w_busy', create(`n${writes}`), WHY);
      }
    };
    const writers = [writer(), writer(), writer()];
    await other.commit(WS, create('a'), WHY);
    await Promise.all(writers);
    expect(await isTold).toBeLessThan(3_000);
  });

  test('one that was away until changes were no longer kept for it relies on nothing that it knew', async () => {
    const url = freshUrl();
    const { promise: gap, resolve: onGap } = Promise.withResolvers<StoreError>();
    const one = await openMongoStore({ url, clock: testClock(), log: silentLog, onGap });
    onTestFinished(() => one.close());
    const token = { kind: 'Token', name: 't' } as const;
    await one.commit(WS, create('t', { kind: 'Token', uid: 'tok_t' }), WHY);
    const connection = await connect(url);
    onTestFinished(() => connection.close());
    const heard: number[] = [];
    one.onCommit(({ revision }) => heard.push(revision));
    await connection.transaction(async (session) => {
      await writeGroup(connection, session, [{ workspace: WS, ops: [{ op: 'delete', key: token }], context: WHY }], 0);
      // As the server does an hour later, while nobody has read it.
      await connection.versions.deleteMany({ expires: { $exists: true } }, { session });
    });
    expect(await outcome(one.caughtUp([WS]))).toMatchObject({
      code: 'unavailable',
      subject: expect.stringContaining('away for longer than changes are kept'),
    });
    expect((await gap).subject).toContain(`${WS} at revision 2`);
    expect(heard).toEqual([]);
  });

  const DAMAGES: Record<string, (connection: Connection, session: ClientSession) => Promise<unknown>> = {
    'all entries are gone': ({ log }, session) => log.deleteMany({ '_id.ws': 'w_damaged' }, { session }),
    'an entry in the middle is gone': ({ log }, session) =>
      log.deleteOne({ '_id.ws': 'w_damaged', commit: 2 }, { session }),
    'an entry is not what was written': ({ log }, session) =>
      log.updateOne({ '_id.ws': 'w_damaged', commit: 2 }, { $set: { entry: '{"at' } }, { session }),
    'what a commit wrote is gone': ({ records }, session) =>
      records.deleteOne({ '_id.ws': 'w_damaged', '_id.name': 'b' }, { session }),
  };

  test.each(Object.entries(DAMAGES))(
    'a damaged log of one workspace (%s) keeps nobody from hearing of the others, and is no outage of the store',
    async (_, damage) => {
      const url = freshUrl();
      const onGap = vi.fn();
      const one = await openMongoStore({ url, clock: testClock(), log: silentLog, onGap });
      onTestFinished(() => one.close());
      const [other, connection] = [await openAt(url), await connect(url)];
      onTestFinished(() => connection.close());
      const heard = new Set<string>();
      one.onCommit(({ workspace, revision }) => heard.add(`${workspace}/${revision}`));
      await connection.transaction(async (session) => {
        const jobs = ['a', 'b', 'c'].map((name) => ({ workspace: 'w_damaged', ops: create(name), context: WHY }));
        await writeGroup(connection, session, jobs, 0);
        await damage(connection, session);
      });
      expect(await outcome(one.caughtUp(['w_damaged']))).toMatchObject({ code: 'lost' });
      expect(one.damaged()).toEqual(['w_damaged']);
      await other.commit(WS, create('a'), WHY);
      await expect.poll(() => [...heard]).toContain(`${WS}/1`);
      expect([...heard]).not.toContain('w_damaged/3');
      expect(onGap).not.toHaveBeenCalled();
    },
  );

  test('what one has acknowledged every other was told of once it is caught up', async () => {
    const stores = await together(3);
    const heard = stores.map((store) => {
      const commits = new Set<string>();
      store.onCommit(({ workspace, revision }) => commits.add(`${workspace}/${revision}`));
      return commits;
    });
    for (let n = 1; n <= 40; n += 1) {
      const ws = n % 2 === 0 ? SYSTEM_WORKSPACE : WS;
      const { revision } = await (stores[n % 3] as Store).commit(ws, create(`n${n}`), WHY);
      await Promise.all(stores.map((store) => store.caughtUp([SYSTEM_WORKSPACE, WS])));
      expect(heard.map((commits) => commits.has(`${ws}/${revision}`))).toEqual([true, true, true]);
    }
  });

  test('what a snapshot reads it reads as of one instant', async () => {
    const url = freshUrl();
    const store = await openAt(url);
    await store.commit(WS, create('a'), WHY);
    const connection = await connect(url);
    onTestFinished(() => connection.close());
    const revisions = await connection.snapshot(async (session, { workspaces }) => {
      const read = async () => (await workspaces.findOne({ _id: WS }, { session }))?.revision;
      const before = await read();
      await store.commit(WS, create('b'), WHY);
      return [before, await read()];
    });
    expect(revisions).toEqual([1, 1]);
  });

  test('the first says whose the database is, and all name its life alike until it was restored or given up', async () => {
    const url = freshUrl();
    const open = () => openStore(url, { clock: testClock(), log: silentLog });
    const stores = await Promise.all([open(), open(), open()]);
    const claims = await Promise.all(stores.map((store, n) => store.shared?.claim(`keys ${n}`)));
    const [first] = claims;
    expect(first?.keys).toMatch(/^keys [012]$/);
    expect(claims).toEqual([first, first, first]);
    const renewed = await stores[0]?.shared?.renew();
    expect(renewed).toEqual({ keys: first?.keys, epoch: expect.not.stringMatching(`^${first?.epoch}$`) });
    await stores[1]?.commit(WS, create('a'), WHY);
    await Promise.all(stores.map((store) => store.close()));
    const again = await open();
    expect(await again.shared?.claim('keys 9')).toEqual(renewed);
    await again.close();
    // As mongorestore does: the same documents in collections that are new.
    const database = servers.db(`shared_${databases}`);
    await database
      .collection('workspace')
      .aggregate([{ $out: 'restored' }])
      .toArray();
    await database.collection('restored').rename('workspace', { dropTarget: true });
    const restored = await open();
    onTestFinished(() => restored.close());
    expect(await restored.revision(WS)).toBe(1);
    const claim = await restored.shared?.claim('keys 9');
    expect(claim?.keys).toBe(first?.keys);
    expect([first?.epoch, renewed?.epoch]).not.toContain(claim?.epoch);
  });

  test('64 writers of the largest records at once, more than a transaction can hold, are all written', async () => {
    const store = await openAt(freshUrl());
    /** A megabyte, of which 8 KB are left once compressed. */
    const large = () => ({ spec: { hostname: randomBytes(16).toString('hex').repeat(32_000) } });
    const commits = Array.from({ length: 64 }, (_, n) =>
      store.commit(WS, [...create(`a${n}`, large()), ...create(`b${n}`, large())], WHY),
    );
    const revisions = (await Promise.all(commits)).map(({ revision }) => revision);
    expect(revisions).toEqual(revisions.map((_, n) => n + 1));
  });

  test('a watch goes on over what other processes commit', async () => {
    const [one, other] = await pair();
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const seen: number[] = [];
    const watching = (async () => {
      for await (const { revision } of other.watch(WS, 0, stop.signal)) if (seen.push(revision) === 20) return;
    })();
    for (let n = 0; n < 20; n += 1) await one.commit(WS, create(`n${n}`), WHY);
    await watching;
    expect(seen).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
  });

  test('a lease has one holder among all processes', async () => {
    const stores = await together(3);
    const asked = await Promise.all(stores.map((store, n) => store.acquire('leader', `holder ${n}`, 60_000)));
    expect(asked.filter((lease) => lease !== undefined)).toEqual([expect.objectContaining({ fence: 1 })]);
    const holder = asked.findIndex((lease) => lease !== undefined);
    await stores[holder]?.release('leader', `holder ${holder}`);
    expect(await stores[(holder + 1) % 3]?.acquire('leader', 'next', 60_000)).toMatchObject({ fence: 2 });
  });

  test('a newer schema, a lost index and a server that is in no replica set are refused, with what to do', async () => {
    const url = freshUrl();
    await (await openStore(url, { clock: testClock(), log: silentLog })).close();
    const database = servers.db(`shared_${databases}`);
    const open = () => outcome(openStore(url, { clock: testClock(), log: silentLog }));
    await database.collection('record').dropIndex('unique');
    expect(await open()).toMatchObject({
      code: 'unavailable',
      subject: expect.stringMatching(/record .*index unique/),
    });
    await expect(examineMongo(url)).rejects.toThrow(/index unique/);
    await database.collection('schema').updateOne({}, { $set: { version: 99 } });
    expect(await open()).toMatchObject({
      subject: expect.stringMatching(/schema 99, newer .* start the newer version/),
    });
    const lone = await startLoneServer();
    onTestFinished(() => lone.stop());
    expect(await outcome(openStore(lone.url, { clock: testClock(), log: silentLog }))).toMatchObject({
      code: 'unavailable',
      subject: expect.stringMatching(/replica set.*rs\.initiate/),
    });
  });

  test('a URL that is none is refused without a word of its password', async () => {
    const refused = await outcome(openStore('mongodb://ada:s3cret@', { clock: testClock(), log: silentLog }));
    expect(refused).toMatchObject({ code: 'unavailable' });
    expect(JSON.stringify(refused)).not.toContain('s3cret');
  });

  async function pair(): Promise<[Store, Store]> {
    const [one, other] = await together(2);
    if (!one || !other) throw new Error('two were asked for');
    return [one, other];
  }
});
