import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { SharedState } from '../../core/base/shared.ts';
import { silentLog } from '../../core/base/silent-log.ts';
import { TRACE_LIMITS } from '../../core/model/call-trace.ts';
import { type Databases, hasMongod } from '../../test/kits/servers/replica-set.ts';
import { shareReplicaSet } from '../../test/kits/servers/shared-replica-set.ts';
import { cellsContract } from '../contract/cells.testkit.ts';
import { openStore } from '../open.ts';

const number = (value: unknown) => (typeof value === 'number' ? value : undefined);

describe.skipIf(!hasMongod)('what control planes share', () => {
  let servers: Databases;
  let databases = 0;
  const clock = { time: Date.now(), now: () => clock.time };
  let one: SharedState;
  let other: SharedState;
  beforeAll(async () => {
    servers = await shareReplicaSet();
    [one, other] = await pair();
  });
  afterAll(() => servers.stop());

  async function pair(): Promise<[SharedState, SharedState]> {
    databases += 1;
    const url = servers.url(`kept_together_${databases}`);
    const open = async () => {
      const store = await openStore(url, { clock, log: silentLog });
      opened.push(() => store.close());
      if (!store.shared) throw new Error('nothing is shared');
      return store.shared;
    };
    return [await open(), await open()];
  }
  const opened: (() => Promise<void>)[] = [];
  afterAll(async () => {
    for (const close of opened) await close();
  });

  let spaces = 0;
  cellsContract('cells of two processes', () => {
    spaces += 1;
    const space = `space ${spaces}`;
    return { clock, cells: [one.cells(space, number), other.cells(space, number)] };
  });

  test('cells of one space are none of another, were its name the beginning of it', async () => {
    const [short, long] = [one.cells('login', number), one.cells('login-source', number)];
    await long.change('a', () => ({ cell: { value: 1, expiresAt: clock.time + 1_000 }, result: undefined }));
    expect([(await short.count([])).all, (await long.count([])).all]).toEqual([0, 1]);
  });

  test('counts add up over processes, however many add at once', async () => {
    const added = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        (n % 2 ? one : other).counts.add(
          new Map([
            ['a', 3],
            [`b${n % 2}`, 1],
          ]),
          clock.time + 60_000,
        ),
      ),
    );
    expect(Math.max(...added.map((totals) => totals.get('a') ?? 0))).toBe(60);
    expect(
      await one.counts.add(
        new Map([
          ['b0', 1],
          ['b1', 1],
        ]),
        clock.time,
      ),
    ).toEqual(
      new Map([
        ['b0', 11],
        ['b1', 11],
      ]),
    );
  });

  test('calls are kept of each family, the newest of all processes, and told of each caller newest first', async () => {
    const of = (caller: string, family: string) => ({ workspace: 'w_1', caller, family });
    const call = (seq: number, caller = 'agent', family = 'root') => ({ ...of(caller, family), seq, text: `${seq}` });
    await one.calls.append([call(1), call(3), call(2, 'quiet', 'quiet')]);
    await other.calls.append([call(4)]);
    expect(await one.calls.newest(of('agent', 'root'), 2)).toEqual(['4', '3']);
    await other.calls.append(Array.from({ length: TRACE_LIMITS.calls }, (_, n) => call(n + 10, 'child')));
    expect(await one.calls.newest(of('agent', 'root'), 9)).toEqual([]);
    expect(await one.calls.newest(of('quiet', 'quiet'), 9)).toEqual(['2']);
    expect(await one.calls.newest(of('child', 'root'), 9_999)).toHaveLength(TRACE_LIMITS.calls);
  });

  test('what one posts every other one reads, once, and what is posted meanwhile with the next', async () => {
    await one.messages.post(['a', 'b']);
    await other.messages.post(['c']);
    expect([...(await other.messages.read())].sort()).toEqual(['a', 'b']);
    await one.messages.post(['d']);
    expect([await one.messages.read(), await other.messages.read()]).toEqual([['c'], ['d']]);
    expect([await one.messages.read(), await other.messages.read()]).toEqual([[], []]);
  });

  test('a message ends by the clock that all go by, whatever the host shows that posts it', async () => {
    const { time } = clock;
    clock.time = time + 1_000_000;
    onTestFinished(() => {
      clock.time = time;
    });
    await one.messages.post(['of another hour']);
    const found = await servers
      .db(`kept_together_${databases}`)
      .collection('message')
      .findOne({ text: 'of another hour' });
    expect(found?.['gone'].getTime()).toBe(clock.time + 60_000);
  });

  test('what is over is cleared away by the server, later than it counts', async () => {
    for (const collection of ['cell', 'count', 'call', 'message']) {
      const indexes = await servers.db(`kept_together_${databases}`).collection(collection).indexes();
      expect(indexes).toContainEqual(expect.objectContaining({ key: { gone: 1 }, expireAfterSeconds: 0 }));
      const [doc] = await servers.db(`kept_together_${databases}`).collection(collection).find().toArray();
      expect(doc?.['gone'].getTime()).toBeGreaterThan(clock.time);
    }
  });
});
