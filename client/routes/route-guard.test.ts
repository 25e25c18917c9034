import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { AGAIN_MS, PROBATION_MS, RouteGuard, WITHOUT_MS } from './route-guard.ts';

/** Probation, and what it is asked for after. */
const ROUTED_MS = PROBATION_MS + 10_000;

let isThere: boolean;
/** Tells whether the block itself is what cuts the node off. */
let isCut: boolean;
let isRouted: boolean;
let calls: string[];
let kept: string | undefined;
let asked: number[];
let guard: RouteGuard;

function newGuard(): RouteGuard {
  return new RouteGuard({
    async reaches() {
      asked.push(Date.now());
      return isThere && !(isCut && isRouted);
    },
    withdraw(block) {
      calls.push(`withdraw ${block}`);
      isRouted = false;
      guard.routed(undefined);
    },
    restore(block) {
      calls.push(`restore ${block}`);
      route(block);
    },
    keep: (block) => {
      kept = block;
    },
    log: silentLog,
  });
}

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
  [isThere, isCut, isRouted, calls, kept, asked] = [true, false, false, [], undefined, []];
  guard = newGuard();
});
afterEach(() => {
  guard.stop();
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

function route(block: string): void {
  isRouted = true;
  guard.routed(block);
}

function routeNew(block: string, before?: string): void {
  guard.graphCame(block, before);
  route(block);
}

/** The node ends without a word, and another run begins with what it kept and nothing up. */
function restart(): void {
  guard.stop();
  guard = newGuard();
  if (kept === undefined) return;
  guard.doubt(kept);
  route(kept);
}

const BLOCK = '10.5.0.0/16';

test('a route over which the control plane does not answer is withdrawn, and stays so once it answers without', async () => {
  isCut = true;
  routeNew(BLOCK, '10.96.0.0/24');
  await pass(ROUTED_MS);
  expect(calls).toEqual([`withdraw ${BLOCK}`]);
  await pass(24 * 3_600_000);
  expect([calls, kept]).toEqual([[`withdraw ${BLOCK}`], undefined]);
});

test('an answer to what was asked right after the route proves nothing, and one after the probation is enough', async () => {
  routeNew(BLOCK);
  await pass(PROBATION_MS - 1);
  expect([asked, kept]).toEqual([[], BLOCK]);
  await pass(1);
  expect([asked, kept]).toEqual([[PROBATION_MS], undefined]);
  isThere = false;
  await pass(24 * 3_600_000);
  expect([calls, asked]).toEqual([[], [PROBATION_MS]]);
});

test('a control plane that is away without the route too proves nothing: the route comes back and is watched on', async () => {
  isThere = false;
  routeNew(BLOCK);
  await pass(ROUTED_MS + WITHOUT_MS);
  expect(calls).toEqual([`withdraw ${BLOCK}`, `restore ${BLOCK}`]);
  expect(kept).toBe(BLOCK);
  isThere = true;
  await pass(AGAIN_MS);
  expect([calls, kept]).toEqual([[`withdraw ${BLOCK}`, `restore ${BLOCK}`], undefined]);
});

test('a block that cuts the node off while the control plane is away is withdrawn for good once that is back', async () => {
  isCut = true;
  isThere = false;
  routeNew(BLOCK);
  await pass(ROUTED_MS + WITHOUT_MS + 1);
  isThere = true;
  expect(calls.at(-1)).toBe(`restore ${BLOCK}`);
  await pass(AGAIN_MS + WITHOUT_MS);
  expect([calls.at(-1), kept]).toEqual([`withdraw ${BLOCK}`, undefined]);
  await pass(24 * 3_600_000);
  expect(calls).toHaveLength(3);
});

test('a control plane that stays away costs the route a minute ever more rarely, at least once in an hour', async () => {
  isThere = false;
  routeNew(BLOCK);
  await pass(24 * 3_600_000);
  const withdrawals = calls.filter((call) => call.startsWith('withdraw')).length;
  expect(withdrawals).toBeGreaterThan(20);
  expect(withdrawals).toBeLessThan(32);
});

test('a restart within the probation begins it again', async () => {
  isCut = true;
  routeNew(BLOCK);
  await pass(PROBATION_MS - 1);
  restart();
  await pass(ROUTED_MS);
  expect(calls).toEqual([`withdraw ${BLOCK}`]);
});

test('while a block is not routed for another reason nothing is learned of it', async () => {
  isCut = true;
  routeNew(BLOCK);
  isRouted = false;
  guard.routed(undefined);
  await pass(3_600_000);
  expect([calls, asked, kept]).toEqual([[], [], BLOCK]);
  route(BLOCK);
  await pass(ROUTED_MS);
  expect(calls).toEqual([`withdraw ${BLOCK}`]);
});

test('graphs with the same block do not prolong its probation, and one with another begins that of the other', async () => {
  isCut = true;
  routeNew(BLOCK);
  await pass(PROBATION_MS);
  guard.graphCame(BLOCK, BLOCK);
  guard.graphCame(BLOCK, undefined);
  await pass(ROUTED_MS - PROBATION_MS);
  expect(calls).toEqual([`withdraw ${BLOCK}`]);
  routeNew('10.7.0.0/16');
  expect(kept).toBe('10.7.0.0/16');
});

test('a block that is routed already, or was trusted by an earlier run, is not on probation', async () => {
  routeNew('10.96.0.0/24', '10.96.0.0/24');
  guard.routed('10.7.0.0/24');
  await pass(3_600_000);
  expect([calls, asked, kept]).toEqual([[], [], undefined]);
});

test('what an earlier run withdrew is routed again where the control plane is away', async () => {
  isThere = false;
  guard.withdrawn(BLOCK);
  await pass(WITHOUT_MS);
  expect([calls, kept]).toEqual([[`restore ${BLOCK}`], BLOCK]);
});
