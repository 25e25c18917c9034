import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { PROBATION_MS, RouteGuard, WITHOUT_MS } from './route-guard.ts';

let heardAt: number | null;
let calls: string[];
let guard: RouteGuard;
beforeEach(() => {
  vi.useFakeTimers({ now: 1_000 });
  heardAt = null;
  calls = [];
  guard = new RouteGuard({
    heardAt: () => heardAt,
    ask: () => {},
    withdraw: (block) => calls.push(`withdraw ${block}`),
    restore: (block) => calls.push(`restore ${block}`),
    clock: { now: Date.now },
    log: silentLog,
  });
});
afterEach(() => {
  guard.stop();
  vi.useRealTimers();
});

const hear = () => {
  heardAt = Date.now();
};
const pass = (ms: number) => vi.advanceTimersByTime(ms + 5_000);

function routeNew(block: string, before?: string): void {
  hear();
  guard.graphCame(block, before);
  guard.routed(block);
}

test('a route over which the control plane is not heard is withdrawn, and stays so once it is heard without', () => {
  routeNew('10.5.0.0/16', '10.96.0.0/24');
  pass(PROBATION_MS);
  expect(calls).toEqual(['withdraw 10.5.0.0/16']);
  hear();
  pass(WITHOUT_MS);
  expect(calls).toEqual(['withdraw 10.5.0.0/16']);
});

test('a control plane that is away without the route too was not cut off by it: the route comes back', () => {
  routeNew('10.5.0.0/16');
  pass(PROBATION_MS);
  pass(WITHOUT_MS);
  expect(calls).toEqual(['withdraw 10.5.0.0/16', 'restore 10.5.0.0/16']);
  pass(PROBATION_MS + WITHOUT_MS);
  expect(calls).toHaveLength(2);
});

test('a route over which the control plane was heard once stays through every later outage', () => {
  routeNew('10.5.0.0/16');
  vi.advanceTimersByTime(1);
  hear();
  pass(PROBATION_MS);
  pass(24 * 3_600_000);
  expect(calls).toEqual([]);
});

test('a block that is routed already, or comes from the disk, is not on probation', () => {
  routeNew('10.96.0.0/24', '10.96.0.0/24');
  pass(PROBATION_MS);
  guard.routed('10.7.0.0/24');
  pass(PROBATION_MS);
  expect(calls).toEqual([]);
});

test('what an earlier run withdrew is routed again where the control plane is away', () => {
  guard.withdrawn('10.5.0.0/16');
  pass(WITHOUT_MS);
  expect(calls).toEqual(['restore 10.5.0.0/16']);
});
