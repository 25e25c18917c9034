import { expect, test } from 'vitest';
import { MeshError } from '../base/errors.ts';
import { KeyAllowance, LOST_KEYS_PER_HOUR } from './key-allowance.ts';

const NOW = Date.UTC(2026, 0, 5, 12);
const HOUR_MS = 3_600_000;

/** Seconds that a workspace waits for another key; 0 where it need not. */
function waitOf(allowance: KeyAllowance, workspace: string, now: number): number {
  try {
    allowance.requireRoom(workspace, now);
    return 0;
  } catch (error) {
    if (!(error instanceof MeshError) || error.code !== 'rate_limited') throw error;
    return Number(error.details['retryAfterSeconds']);
  }
}

test('a workspace that lost as many places as an hour allows gets new keys at once, and one more costs what it is worth', () => {
  const allowance = new KeyAllowance();
  allowance.lost('a', LOST_KEYS_PER_HOUR, NOW);
  expect(waitOf(allowance, 'a', NOW)).toBe(0);
  allowance.lost('a', 1, NOW);
  expect([waitOf(allowance, 'a', NOW), waitOf(allowance, 'a', NOW + 1_000)]).toEqual([1, 0]);
});

test('ten thousand places lost at once close a workspace to new keys for an hour and a half, and no other one', () => {
  const allowance = new KeyAllowance();
  allowance.lost('a', 10_000, NOW);
  expect(waitOf(allowance, 'a', NOW)).toBe(1.5 * 3_600);
  expect(waitOf(allowance, 'a', NOW + 1.5 * HOUR_MS)).toBe(0);
  expect(waitOf(allowance, 'b', NOW)).toBe(0);
});

test('a fleet that comes and goes with three thousand nodes an hour is never held up', () => {
  const allowance = new KeyAllowance();
  const waits = Array.from({ length: 48 }, (_, hours) => {
    const at = NOW + hours * HOUR_MS;
    allowance.lost('a', 3_000, at);
    return waitOf(allowance, 'a', at);
  });
  expect(Math.max(...waits)).toBe(0);
});

test('whoever takes a key again as soon as it may loses no more than the hour allows, however it goes about it', () => {
  const allowance = new KeyAllowance();
  let [lost, at] = [0, NOW];
  while (at < NOW + 2 * HOUR_MS) {
    const wait = waitOf(allowance, 'a', at);
    if (wait === 0) {
      allowance.lost('a', 1, at);
      lost += 1;
    }
    at += wait * 1_000;
  }
  expect(lost).toBeGreaterThan(2 * LOST_KEYS_PER_HOUR);
  expect(lost).toBeLessThanOrEqual(3 * LOST_KEYS_PER_HOUR + 1);
});

test('agents get no new key once half is used up, so that one that delegates and ends in a loop leaves people theirs', () => {
  const allowance = new KeyAllowance();
  allowance.lost('a', LOST_KEYS_PER_HOUR / 2, NOW);
  const isAgents = (at: number) => refusalOf(() => allowance.requireRoom('a', at, { isAgents: true }));
  expect(isAgents(NOW)).toBe(undefined);
  allowance.lost('a', 10, NOW);
  expect(isAgents(NOW)).toMatchObject({
    code: 'rate_limited',
    message: expect.stringContaining('2000 times'),
    details: { retryAfterSeconds: 9 },
  });
  expect(waitOf(allowance, 'a', NOW)).toBe(0);
  expect(isAgents(NOW + 9_000)).toBe(undefined);
});

function refusalOf(ask: () => void): unknown {
  try {
    ask();
    return undefined;
  } catch (error) {
    return error;
  }
}
