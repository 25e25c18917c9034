import { expect, onTestFinished, test } from 'vitest';
import { callerWith } from './plane.testkit.ts';
import { limitPrincipals } from './principal-rate.ts';
import { type SharedWindows, shareWindows } from './shared-windows.ts';

const MINUTE_MS = 60_000;
const agent = callerWith([], { kind: 'agent', id: 'a', line: ['a'] });

function planes(count: number) {
  const clock = { at: 10 * MINUTE_MS + 1, now: () => clock.at };
  const totals = new Map<string, number>();
  const store = { isAway: false, writes: 0 };
  const counts = {
    async add(added: ReadonlyMap<string, number>) {
      if (store.isAway) throw new Error('away');
      store.writes += 1;
      for (const [key, more] of added) totals.set(key, (totals.get(key) ?? 0) + more);
      return new Map([...added.keys()].map((key) => [key, totals.get(key) ?? 0]));
    },
  };
  const warnings: string[] = [];
  const log = { warn: (_fields: object, message: string) => void warnings.push(message) };
  const all = Array.from({ length: count }, () => {
    const shared = shareWindows(counts, clock, log);
    onTestFinished(() => shared.stop());
    return { shared, count: limitPrincipals(100, shared.windows('caller', MINUTE_MS, 1_000)) };
  });
  /** How many of these requests one of them lets in; a principal may ask 500 times a minute here. */
  const ask = (index: number, requests: number) => {
    let passes = 0;
    for (let asked = 0; asked < requests; asked += 1) {
      try {
        all[index]?.count(agent, clock.now());
        passes += 1;
      } catch {}
    }
    return passes;
  };
  const tell = async () => {
    for (const { shared } of all) await (shared as SharedWindows).tell();
  };
  return { clock, store, warnings, ask, tell };
}

test('a limit is one over all control planes, as soon as they have told each other', async () => {
  const { ask, tell } = planes(3);
  expect([ask(0, 200), ask(1, 200), ask(2, 50)]).toEqual([200, 200, 50]);
  await tell();
  expect(ask(2, 500)).toBe(50);
  await tell();
  // Who has told before the others had hears of them with what it counts next.
  expect(ask(0, 1)).toBe(1);
  await tell();
  expect([ask(0, 500), ask(2, 500)]).toEqual([0, 0]);
});

test('is passed by no more than what was let in before they told each other', async () => {
  const { ask, tell } = planes(2);
  let passed = 0;
  for (let round = 0; round < 20; round += 1) {
    passed += ask(0, 40) + ask(1, 40);
    await tell();
  }
  expect(passed).toBeGreaterThanOrEqual(500);
  expect(passed).toBeLessThanOrEqual(500 + 2 * 40);
});

test('of who asks seldom nothing is written', async () => {
  const { ask, tell, store } = planes(2);
  ask(0, 7);
  await tell();
  expect(store.writes).toBe(0);
});

test('while the store is away each control plane holds the limit by itself, and says so once', async () => {
  const { ask, tell, store, warnings } = planes(2);
  store.isAway = true;
  expect(ask(0, 600)).toBe(500);
  await tell();
  expect(ask(1, 400)).toBe(400);
  await tell();
  expect(ask(1, 200)).toBe(100);
  await tell();
  expect(warnings).toEqual(Array(2).fill('the limits of requests are held by each control plane alone'));
});

test('a window ends for all at the same instant', async () => {
  const { clock, ask, tell } = planes(2);
  ask(0, 500);
  await tell();
  clock.at = 11 * MINUTE_MS;
  expect([ask(0, 500), ask(1, 100)]).toEqual([500, 100]);
});
