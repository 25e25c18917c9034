import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type FetchOutcome, GraphFetches } from './graph-fetches.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Fetches that take 100 ms each, and when they began. */
function fetching(outcome: () => FetchOutcome) {
  const start = Date.now();
  const begun: (readonly [number, string])[] = [];
  const fetch = async (why: string) => {
    begun.push([Date.now() - start, why]);
    await new Promise((resolve) => setTimeout(resolve, 100));
    return outcome();
  };
  return { begun, fetches: new GraphFetches(fetch, { now: Date.now }) };
}

test('whoever asks while one is under way shares it', async () => {
  const { begun, fetches } = fetching(() => 'answered');
  const both = Promise.all([fetches.now('one'), fetches.now('two')]);
  await vi.advanceTimersByTimeAsync(10_000);
  await both;
  expect(begun).toEqual([[0, 'one']]);
});

test('a confirmation follows what is under way, at most one a second', async () => {
  const { begun, fetches } = fetching(() => 'answered');
  void fetches.now('start');
  for (const why of ['a', 'b', 'c']) void fetches.confirm(why);
  await vi.advanceTimersByTimeAsync(10_000);
  void fetches.confirm('later');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(begun).toEqual([
    [0, 'start'],
    [1_000, 'a'],
    [10_000, 'later'],
  ]);
});

test('without an answer it is fetched again, ever more rarely but each minute and a half at least', async () => {
  let outcome: FetchOutcome = 'away';
  const { begun, fetches } = fetching(() => outcome);
  void fetches.now('start');
  await vi.advanceTimersByTimeAsync(600_000);
  const gaps = begun.map(([at], index) => at - (begun[index - 1]?.[0] ?? 0)).slice(1);
  expect(gaps[0]).toBeLessThanOrEqual(1_600);
  for (const [n, gap] of gaps.entries()) {
    const wait = Math.min(1_000 * 2 ** n, 60_000);
    expect([gap >= wait / 2, gap <= wait * 1.5 + 100]).toEqual([true, true]);
  }
  outcome = 'answered';
  await vi.advanceTimersByTimeAsync(90_100);
  const { length } = begun;
  await vi.advanceTimersByTimeAsync(600_000);
  expect(begun).toHaveLength(length);
});

test('the end waits for the one under way, and none follows', async () => {
  const { begun, fetches } = fetching(() => 'away');
  void fetches.now('start');
  const stopped = fetches.stop();
  await vi.advanceTimersByTimeAsync(1_000);
  await stopped;
  void fetches.confirm('more');
  await fetches.now('more');
  await vi.advanceTimersByTimeAsync(600_000);
  expect(begun).toEqual([[0, 'start']]);
});
