import { expect, test } from 'vitest';
import { StoreError } from './ports.ts';
import { serialized, serializedFirst, serializedOnConflict } from './serialize.ts';
import { WriteQueue } from './write-queue.ts';

const storeOf = () => ({ queue: new WriteQueue() });

/** A store through which a writer writes beside others, and writes that end when they are told to. */
function writers() {
  const base = storeOf();
  const order: string[] = [];
  const ends = new Map<string, () => void>();
  const through = (id: string, mayWait = 10) => {
    return (name: string) => {
      const own = { queue: base.queue.for({ id, mayWait }) };
      return serialized(own, 'w', () => {
        order.push(name);
        const { promise, resolve } = Promise.withResolvers<void>();
        ends.set(name, resolve);
        return promise;
      });
    };
  };
  const end = (name: string) => ends.get(name)?.();
  return { base, order, through, end };
}

test('writers take turns, so nobody waits behind all that another one sent', async () => {
  const { order, through, end } = writers();
  const [agent, person] = [through('agent'), through('person')];
  const all = [agent('a1'), agent('a2'), agent('a3'), person('p1')];
  for (const name of ['a1', 'p1', 'a2', 'a3']) {
    await expect.poll(() => order.at(-1)).toBe(name);
    end(name);
  }
  await Promise.all(all);
  expect(order).toEqual(['a1', 'p1', 'a2', 'a3']);
});

test('more than a writer may have waiting are refused, and those of others are not', async () => {
  const { order, through, end } = writers();
  const [agent, person] = [through('agent', 1), through('person', 1)];
  const all = [agent('a1'), agent('a2')];
  await expect(agent('a3')).rejects.toMatchObject({ code: 'rate_limited' });
  all.push(person('p1'));
  for (const name of ['a1', 'p1', 'a2']) {
    await expect.poll(() => order.includes(name)).toBe(true);
    end(name);
  }
  await Promise.all(all);
});

test('writes beside others begin at once, and take turns only where another one came between', async () => {
  const base = storeOf();
  const first = { underWay: 0, most: 0 };
  const again = { underWay: 0, most: 0 };
  let attempts = 0;
  const write = () =>
    serializedOnConflict(base, 'w', async () => {
      attempts += 1;
      const round = attempts <= 4 ? first : again;
      round.underWay += 1;
      round.most = Math.max(round.most, round.underWay);
      await new Promise((resolve) => setImmediate(resolve));
      round.underWay -= 1;
      if (round === first) throw new StoreError('changed', 'MeshPolicy');
      return 'written';
    });
  expect(await Promise.all([write(), write(), write(), write()])).toEqual(Array(4).fill('written'));
  expect([first.most, again.most, attempts]).toEqual([4, 1, 8]);
});

test('a write that fails lets the next one begin', async () => {
  const { base } = writers();
  const failing = serialized(base, 'w', () => Promise.reject(new Error('no')));
  const next = serialized(base, 'w', async () => 'done');
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('done');
});

test.each(['conflict', 'unique', 'changed'] as const)(
  'a write that others come before many times in a row is written all the same: %s',
  async (code) => {
    let times = 0;
    const work = async () => {
      times += 1;
      if (times <= 90) throw new StoreError(code, 'slot:66');
      return 'done';
    };
    expect(await serialized(storeOf(), 'w', work)).toBe('done');
  },
);

test('a write that can never be made is given up', async () => {
  const never = serialized(storeOf(), 'w', () => Promise.reject(new StoreError('unique', 'slot:66')));
  await expect(never).rejects.toMatchObject({ code: 'unique' });
});

test('what ends a writer goes before all writes that wait, and in the order in which it came', async () => {
  const { base, order, through, end } = writers();
  const agent = through('agent', 2);
  const all: Promise<unknown>[] = [agent('a1'), agent('a2'), agent('a3')];
  for (const name of ['end one', 'end another']) all.push(serializedFirst(base, 'w', async () => order.push(name)));
  for (const name of ['a1', 'a2', 'a3']) {
    await expect.poll(() => order.at(-1)).toBe(name);
    end(name);
  }
  await Promise.all(all);
  expect(order).toEqual(['a1', 'end one', 'end another', 'a2', 'a3']);
});

test('of a writer of whom only so many may wait, what ends another waits like its other writes', async () => {
  const { base, order, through, end } = writers();
  const [person, agent] = [through('person'), { queue: base.queue.for({ id: 'agent', mayWait: 1 }) }];
  const first = person('p1');
  const ending = (name: string) => serializedFirst(agent, 'w', async () => order.push(name));
  const waiting = ending('e1');
  await expect(ending('e2')).rejects.toMatchObject({ code: 'rate_limited' });
  end('p1');
  await Promise.all([first, waiting]);
  expect(order).toEqual(['p1', 'e1']);
});

test.each([
  ['is costly to judge is judged for three seconds', 100, 30],
  ['takes longer than that to judge is judged three times', 5_000, 3],
  ['is judged at once is judged a hundred times', 0, 100],
])('what %s before others who write all the time have it given up', async (_what, ms, times) => {
  let [now, judged] = [0, 0];
  const judge = async () => {
    now += ms;
    judged += 1;
    throw new StoreError('changed', 'MeshPeer');
  };
  const clock = { now: () => now };
  const refusal = await serialized(storeOf(), 'w', judge, clock).catch((error: unknown) => error);
  expect([refusal, judged]).toEqual([expect.objectContaining({ code: 'changed' }), times]);
});

test('each attempt has a turn among processes, and none is made beside others where they conflict', async () => {
  const had: string[] = [];
  let isContended = false;
  const turns = {
    isContended: () => isContended,
    run<T>(_: string, work: () => Promise<T>): Promise<T> {
      had.push('turn');
      return work();
    },
  };
  const store = { queue: new WriteQueue(turns) };
  const write = async () => void had.push('write');
  await serializedOnConflict(store, 'w', write);
  isContended = true;
  await serializedOnConflict(store, 'w', write);
  let attempts = 0;
  await serialized(store, 'w', async () => {
    attempts += 1;
    if (attempts < 3) throw new StoreError('changed', 'MeshPolicy');
  });
  expect(had).toEqual(['write', 'turn', 'write', 'turn', 'turn', 'turn']);
});
