import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { type Databases, hasMongod } from '../../test/kits/servers/replica-set.ts';
import { shareReplicaSet } from '../../test/kits/servers/shared-replica-set.ts';
import { draft, outcome, START, testClock, WHY, WS } from '../contract/kit.ts';
import { openStore, storeAt } from '../open.ts';
import { verifyDatabase } from '../sqlite/verify/verify.ts';
import { copyStore } from './copy.ts';
import type { CopySource } from './copy-ends.ts';
import { answersOf, fill, writeOn } from './filled.testkit.ts';

describe.skipIf(!hasMongod)('between a file and a replica set', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'mesh-copy-'));
  let servers: Databases;
  beforeAll(async () => {
    servers = await shareReplicaSet();
  });
  afterAll(async () => {
    await servers.stop();
    rmSync(folder, { recursive: true });
  });

  async function opened(url: string) {
    const store = await openStore(url, { clock: testClock(START + 200_000_000), log: silentLog });
    onTestFinished(() => store.close());
    return store;
  }

  async function filled(url: string): Promise<unknown> {
    const clock = testClock();
    const store = await openStore(url, { clock, log: silentLog });
    await fill(store, clock);
    const answers = await answersOf(store);
    await store.close();
    return answers;
  }

  async function copy(from: string, to: string, over: Partial<CopySource> = {}) {
    const source = { ...(await storeAt(from).openSource()), ...over };
    const target = await storeAt(to).openTarget(START);
    try {
      return await copyStore({ source, target, installation: 'mesh:1/', keys: 'of-1', now: START, progress() {} });
    } finally {
      await source.close();
      await target.close();
    }
  }

  test('all answers, roots and checkpoints are the same there, and the same again once it is back', async () => {
    const [file, back, url] = [path.join(folder, 'a.db'), path.join(folder, 'b.db'), servers.url('moved')];
    const answers = await filled(file);
    const there = await copy(file, url);
    await expect(opened(file)).rejects.toThrow('was moved to mongodb://127.0.0.1:');
    const served = await opened(url);
    expect(await answersOf(served)).toEqual(answers);
    expect(await writeOn(served)).toEqual({ code: 'unique', subject: 'ip:10.0.1.4' });
    const newer = await answersOf(served);
    await served.close();
    const { workspaces } = await copy(url, back);
    expect(workspaces.find(({ head }) => head.name === 'w_other')).toEqual(
      there.workspaces.find(({ head }) => head.name === 'w_other'),
    );
    expect(await answersOf(await opened(back))).toEqual(newer);
    const found = verifyDatabase(back).flatMap(({ findings }) => findings);
    // The notes of this test are signed by nobody.
    expect(found.filter(({ code }) => code !== 'signature')).toEqual([]);
    await expect(opened(url)).rejects.toThrow('was moved to sqlite:');
  });

  test('a control plane that still runs on what is moved writes nothing any more', async () => {
    const url = servers.url('running');
    await filled(url);
    const plane = await opened(url);
    let refused: unknown;
    const source = await storeAt(url).openSource();
    const written = async () => {
      refused = await outcome(plane.commit(WS, [{ op: 'create', record: draft('late') }], WHY));
      return source.heads();
    };
    await copy(url, path.join(folder, 'c.db'), { heads: written });
    await source.close();
    const told = { code: 'unavailable', subject: expect.stringContaining('start it on the new one') };
    expect(refused).toMatchObject(told);
    expect(await outcome(plane.record(WS, [{ type: 'login', actor: 'user:ada', result: 'ok' }]))).toMatchObject(told);
    expect(await outcome(plane.compact(WS, 5, []))).toMatchObject(told);
    // Nor a workspace that was never marked.
    expect(await outcome(plane.commit('w_new', [{ op: 'create', record: draft('first') }], WHY))).toMatchObject(told);
  });

  test('a copy is of the keys of what was copied, and another life of it; what is counted and held there is not moved', async () => {
    const [url, back, again] = [servers.url('lives'), path.join(folder, 'h.db'), servers.url('lives2')];
    const clock = testClock();
    const plane = await openStore(url, { clock, log: silentLog });
    await fill(plane, clock);
    const first = await plane.shared?.claim('of-1');
    // What is over by the clock of the server is cleared away.
    const later = Date.now() + 1_000_000;
    await plane.shared?.counts.add(new Map([['logins', 3]]), later);
    await plane.close();
    await copy(url, again);
    const moved = await opened(again);
    const second = await moved.shared?.claim('of-2');
    expect([first?.keys, second?.keys]).toEqual(['of-1', 'of-1']);
    expect(second?.epoch).not.toBe(first?.epoch);
    expect(await moved.shared?.counts.add(new Map([['logins', 1]]), later)).toEqual(new Map([['logins', 1]]));
    await moved.close();
    await copy(again, back);
    await copy(back, url);
    const third = await (await opened(url)).shared?.claim('of-1');
    expect([first?.epoch, second?.epoch]).not.toContain(third?.epoch);
  });

  test('what a control plane of a cluster has a lease of is not copied, and goes on', async () => {
    const url = servers.url('leased');
    const plane = await opened(url);
    await plane.commit(WS, [{ op: 'create', record: draft('a') }], WHY);
    await plane.acquire('jobs', 'plane-1', 60_000);
    await expect(copy(url, path.join(folder, 'd.db'))).rejects.toThrow('(plane-1 has the lease jobs until');
    await plane.commit(WS, [{ op: 'create', record: draft('b') }], WHY);
  });

  test('a copy that ends in the middle leaves a database that nothing opens, and the next one begins again', async () => {
    const [file, url] = [path.join(folder, 'e.db'), servers.url('middle')];
    const answers = await filled(file);
    await expect(copy(file, url, { retire: () => Promise.reject(new Error('killed')) })).rejects.toThrow('killed');
    await expect(opened(url)).rejects.toThrow(`is a copy of sqlite:${file} that was begun on`);
    await copy(file, url);
    expect(await answersOf(await opened(url))).toEqual(answers);
    await expect(copy(url, url)).rejects.toThrow('is not empty');
  });

  test('of two that are moved at once to different places one alone is', async () => {
    const [url, first, second] = [servers.url('twice'), path.join(folder, 'i.db'), path.join(folder, 'j.db')];
    const answers = await filled(url);
    const meanwhile = storeAt(url).openSource();
    const heads = async () => {
      // It had looked before the first one held it.
      await copy(url, second, { moved: async () => undefined }).catch(() => undefined);
      return (await meanwhile).heads();
    };
    await expect(copy(url, first, { heads })).rejects.toThrow('another meshd copy of mongodb://');
    await (await meanwhile).close();
    await expect(opened(url)).rejects.toThrow(`was moved to sqlite:${second}`);
    expect(await answersOf(await opened(second))).toEqual(answers);
  });

  test('one that another one has overtaken does not say that it is whole', async () => {
    const [first, second, url] = [path.join(folder, 'k.db'), path.join(folder, 'l.db'), servers.url('overtaken')];
    for (const file of [first, second]) await filled(file);
    const retire = async () => void (await copy(second, url));
    await expect(copy(first, url, { retire })).rejects.toThrow('another meshd copy to mongodb://');
    await opened(url);
  });

  test('a database that somebody began to use a moment ago is no target, nor used by who came a moment before', async () => {
    const mark = { installation: 'mesh:1/', from: 'elsewhere', at: START };
    const [used, open] = [servers.url('raced'), servers.url('raced2')];
    const targets = [await storeAt(used).openTarget(START), await storeAt(open).openTarget(START)];
    onTestFinished(async () => {
      for (const target of targets) await target.close();
    });
    for (const target of targets) expect(await target.find()).toEqual({ is: 'empty' });
    const [one, other] = [await opened(used), await opened(open)];
    await one.commit(WS, [{ op: 'create', record: draft('a') }], WHY);
    await expect(targets[0]?.begin(mark, 'of-1')).rejects.toThrow('somebody has begun to use');
    expect(await one.revision(WS)).toBe(1);
    await targets[1]?.begin(mark, 'of-1');
    expect(await outcome(other.commit(WS, [{ op: 'create', record: draft('a') }], WHY))).toMatchObject({
      code: 'unavailable',
      subject: expect.stringContaining('is a copy of elsewhere'),
    });
  });

  test('what was moved away from is taken again, where it has nothing that is not in what is moved', async () => {
    const [file, url] = [path.join(folder, 'f.db'), servers.url('again')];
    await filled(url);
    await copy(url, file);
    const store = await opened(file);
    await writeOn(store);
    const newer = await answersOf(store);
    await store.close();
    await copy(file, url);
    expect(await answersOf(await opened(url))).toEqual(newer);
  });

  test('a database of another program is no target', async () => {
    await servers.db('theirs').collection('things').insertOne({ a: 1 });
    const file = path.join(folder, 'g.db');
    await filled(file);
    await expect(copy(file, servers.url('theirs'))).rejects.toThrow(/theirs is not empty/);
    expect(await servers.db('theirs').collection('things').countDocuments()).toBe(1);
  });
});
