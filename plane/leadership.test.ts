import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { LeaseState, Store } from '../core/base/ports.ts';
import { StoreError } from '../core/base/ports.ts';
import { silentLog } from '../core/base/silent-log.ts';
import { SHARES, shareOf } from './leadership/shares.ts';
import { startLeadership } from './leadership.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** One workspace for each share. */
const WORKSPACES = Array.from({ length: SHARES }, (_, share) => {
  for (let n = 0; ; n += 1) if (shareOf(`w_${n}`) === share) return `w_${n}`;
});

type LeaseStore = Pick<Store, 'acquire' | 'renew' | 'release' | 'leases' | 'workspaces' | 'caughtUp'>;

/** The leases of a store, in memory. */
function memoryOfLeases(): LeaseStore {
  const held = new Map<string, { holder: string | null; fence: number; expiresAt: number }>();
  const isFree = (name: string) => {
    const lease = held.get(name);
    return !lease || lease.holder === null || lease.expiresAt <= Date.now();
  };
  return {
    async acquire(name, holder, ttlMs) {
      const lease = held.get(name);
      if (!isFree(name) && lease?.holder !== holder) return undefined;
      const fence = lease?.holder === holder ? lease.fence : (lease?.fence ?? 0) + 1;
      held.set(name, { holder, fence, expiresAt: Date.now() + ttlMs });
      return { fence, expiresAt: Date.now() + ttlMs };
    },
    async renew(fences, holder, ttlMs) {
      const own = fences.filter(({ lease, fence }) => {
        const found = held.get(lease);
        return found?.holder === holder && found.fence === fence;
      });
      for (const { lease, fence } of own) held.set(lease, { holder, fence, expiresAt: Date.now() + ttlMs });
      return own.length === fences.length;
    },
    async release(name, holder) {
      const lease = held.get(name);
      if (lease?.holder === holder) held.set(name, { ...lease, holder: null });
    },
    leases: async (prefix) =>
      [...held]
        .filter(([name]) => name.startsWith(prefix))
        .map(([name, { holder }]): LeaseState => (isFree(name) || holder === null ? { name } : { name, holder })),
    workspaces: async () => WORKSPACES,
    caughtUp: async () => undefined,
  };
}

/** A plane on them, and what befalls it. */
function planeOn(shared: LeaseStore, self: string) {
  const fault = {
    isAway: false,
    hangs: false,
    writes: 0,
    cannotRead: false,
    readsForMs: 0,
    damaged: [] as string[],
    found: [] as string[],
  };
  const asked = async <T>(answer: () => Promise<T>): Promise<T> => {
    if (fault.isAway) throw new StoreError('unavailable', 'no primary');
    if (fault.hangs) return new Promise(() => {});
    return answer();
  };
  const leadership = startLeadership({
    store: {
      acquire: (...args) => {
        fault.writes += 1;
        return asked(() => shared.acquire(...args));
      },
      renew: (...args) => {
        fault.writes += 1;
        return asked(() => shared.renew(...args));
      },
      release: (...args) => asked(() => shared.release(...args)),
      leases: (...args) => asked(() => shared.leases(...args)),
      workspaces: () => asked(() => shared.workspaces()),
      damaged: () => fault.found,
      caughtUp: async (workspaces) => {
        if (workspaces.some((each) => fault.damaged.includes(each))) throw new StoreError('lost', 'the log');
        if (fault.cannotRead) throw new StoreError('unavailable', 'no change stream');
        if (fault.readsForMs > 0) await new Promise((resolve) => setTimeout(resolve, fault.readsForMs));
      },
    },
    log: silentLog,
    self,
    now: () => Date.now(),
  });
  onTestFinished(() => {
    // What hangs in a test is over with it.
    fault.isAway = true;
    void leadership.stop();
  });
  return Object.assign(leadership, { fault, led: () => WORKSPACES.filter((each) => leadership.leads(each)) });
}

type TestPlane = ReturnType<typeof planeOn>;

/** At each tenth of a second nobody leads what another leads. @returns how long until `isSo`, ms */
async function until(planes: readonly TestPlane[], isSo: () => boolean): Promise<number> {
  const begun = Date.now();
  while (!isSo()) {
    expect(Date.now() - begun).toBeLessThan(20_000);
    await vi.advanceTimersByTimeAsync(100);
    const led = planes.flatMap((plane) => plane.led());
    expect(new Set(led).size).toBe(led.length);
  }
  return Date.now() - begun;
}

const total = (planes: readonly TestPlane[]) => planes.reduce((sum, plane) => sum + plane.led().length, 0);
const isSpread = (planes: readonly TestPlane[]) => {
  const counts = planes.map((plane) => plane.led().length);
  return total(planes) === SHARES && Math.max(...counts) - Math.min(...counts) <= 1;
};

async function spread(count: number): Promise<{ shared: LeaseStore; planes: TestPlane[] }> {
  const shared = memoryOfLeases();
  const planes = Array.from({ length: count }, (_, n) => planeOn(shared, `plane ${n}`));
  await until(planes, () => isSpread(planes));
  return { shared, planes };
}

test('the first plane leads all at once', async () => {
  const shared = memoryOfLeases();
  const plane = planeOn(shared, 'a');
  await vi.advanceTimersByTimeAsync(0);
  expect(plane.led()).toHaveLength(SHARES);
  expect(plane.state()).toEqual({ shares: SHARES, all: SHARES, planes: 1, changes: 1 });
});

test('a plane that joins gets its part within two seconds, of which nobody leads two at a time', async () => {
  const { shared, planes } = await spread(2);
  const all = [...planes, planeOn(shared, 'plane 2')];
  expect(await until(all, () => isSpread(all))).toBeLessThanOrEqual(2_000);
  expect(all.map((plane) => plane.state().planes)).toEqual([3, 3, 3]);
});

test('what a plane led that ended is led by the others within six seconds', async () => {
  const { planes } = await spread(3);
  const [dead, ...others] = planes as [TestPlane, TestPlane, TestPlane];
  dead.fault.hangs = true;
  expect(await until(planes, () => isSpread(others))).toBeLessThan(6_000);
});

test('what a plane led that stops in good order is led by the others within a second', async () => {
  const { planes } = await spread(3);
  const [leaving, ...others] = planes as [TestPlane, TestPlane, TestPlane];
  const stopped = leaving.stop();
  expect(leaving.led()).toEqual([]);
  expect(await until(planes, () => isSpread(others))).toBeLessThanOrEqual(1_000);
  await stopped;
});

test.each(['isAway', 'hangs'] as const)(
  'a plane that the store is away from (%s) has ended before another begins',
  async (how) => {
    const { planes } = await spread(2);
    const [cut, other] = planes as [TestPlane, TestPlane];
    const heard: string[] = [];
    cut.onChange(() => void heard.push(`cut ${cut.led().length}`));
    other.onChange(() => void heard.push(`other ${other.led().length}`));
    cut.fault[how] = true;
    await until(planes, () => other.led().length === SHARES);
    expect(heard).toEqual(['cut 0', `other ${SHARES}`]);
    cut.fault[how] = false;
    await until(planes, () => isSpread(planes));
  },
);

test('a plane renews its seat and all that it leads in two writes each 1.2 s', async () => {
  const { planes } = await spread(3);
  for (const { fault } of planes) fault.writes = 0;
  const [seconds, rounds] = [24, 24 / 1.2];
  await vi.advanceTimersByTimeAsync(seconds * 1_000);
  expect(isSpread(planes)).toBe(true);
  for (const { fault } of planes) expect(fault.writes).toBeLessThanOrEqual(2 * rounds);
});

test('a plane that was stopped and goes on leads nothing, before any timer has run', async () => {
  const { shared, planes } = await spread(1);
  const [plane] = planes as [TestPlane];
  expect(plane.led()).toHaveLength(SHARES);
  // The clock goes on, its timers do not.
  vi.setSystemTime(Date.now() + 4_000);
  expect(plane.led()).toEqual([]);
  expect(await shared.acquire('leadership/share/00', 'another', 4_000)).toBeDefined();
});

test('what is under way in a share ends before another plane leads it, and may be written until then', async () => {
  const { shared, planes } = await spread(1);
  const [first] = planes as [TestPlane];
  const ended = Promise.withResolvers<void>();
  first.onChange(() => ended.promise);
  const second = planeOn(shared, 'plane 1');
  await until([first, second], () => first.led().length === SHARES / 2);
  const given = WORKSPACES.filter((each) => !first.leads(each));
  await vi.advanceTimersByTimeAsync(500);
  expect(second.led()).toEqual([]);
  const commits: unknown[] = [];
  const commit = async (...args: unknown[]) => commits.push(args[2]);
  const store = first.under({ commit } as unknown as Store, given[0] ?? '');
  await store.commit(given[0] ?? '', [], { actor: 'system:test', reason: '', requestId: 'r' });
  expect(commits).toEqual([expect.objectContaining({ fence: expect.objectContaining({ fence: 1 }) })]);
  ended.resolve();
  await until([first, second], () => second.led().length === SHARES / 2);
  await expect(first.under({ commit } as unknown as Store, given[0] ?? '').commit('', [], {} as never)).rejects.toThrow(
    'fenced',
  );
});

test('a plane that cannot read what others wrote leads nothing, and the others all', async () => {
  const { shared, planes } = await spread(1);
  const blind = planeOn(shared, 'blind');
  blind.fault.cannotRead = true;
  await until(planes, () => blind.state().problem !== undefined);
  expect(blind.led()).toEqual([]);
  await until([...planes, blind], () => total(planes) === SHARES);
  blind.fault.cannotRead = false;
  await until([...planes, blind], () => isSpread([...planes, blind]));
  expect(blind.state().problem).toBeUndefined();
});

test('a damaged log keeps a plane from leading that workspace alone, until it can be read again', async () => {
  const { shared, planes } = await spread(1);
  const [first] = planes as [TestPlane];
  const [bad = '', ...good] = WORKSPACES;
  const second = planeOn(shared, 'plane 1');
  first.fault.damaged = [bad];
  second.fault.damaged = [bad];
  const stopped = first.stop();
  await until([first, second], () => second.led().length === SHARES - 1);
  await stopped;
  expect(second.led()).toEqual(good);
  expect(second.state()).toMatchObject({ shares: SHARES, damaged: [bad] });
  const heard: number[] = [];
  second.onChange(() => void heard.push(second.led().length));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(heard).toEqual([]);
  second.fault.damaged = [];
  await until([second], () => second.led().length === SHARES);
  expect([heard, second.state().damaged]).toEqual([[SHARES], undefined]);
});

test('a log that turns out to be damaged under its leader is led no more and told of, until it can be read again', async () => {
  const { planes } = await spread(1);
  const [first] = planes as [TestPlane];
  const [bad = '', ...good] = WORKSPACES;
  first.fault.damaged = [bad];
  first.fault.found = [bad];
  await until([first], () => first.led().length === SHARES - 1);
  expect([first.led(), first.state()]).toMatchObject([good, { shares: SHARES, damaged: [bad] }]);
  first.fault.damaged = [];
  first.fault.found = [];
  await until([first], () => first.led().length === SHARES);
  expect(first.state().damaged).toBeUndefined();
});

test('on a store that is late for all somebody leads, and all do once it is not', async () => {
  const shared = memoryOfLeases();
  const planes = ['a', 'b', 'c'].map((name) => planeOn(shared, name));
  for (const { fault } of planes) fault.readsForMs = 3_000;
  await until(planes, () => total(planes) > 0);
  for (const { fault } of planes) fault.readsForMs = 0;
  await until(planes, () => isSpread(planes));
  await until(planes, () => planes.every((plane) => plane.state().problem === undefined));
});

test('more planes than there are shares live with nothing to lead', async () => {
  const shared = memoryOfLeases();
  const planes = Array.from({ length: SHARES + 2 }, (_, n) => planeOn(shared, `plane ${String(n).padStart(2, '0')}`));
  await until(planes, () => total(planes) === SHARES && Math.max(...planes.map((each) => each.led().length)) === 1);
});
