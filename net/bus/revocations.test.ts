import { expect, test } from 'vitest';
import { isSame, MAX_REVOCATIONS, mergedRevocations } from './revocations.ts';

const NOW = 1_000_000;
const DAY = 86_400;
const none = new Set<string>();

test('who lost its place is revoked beside those that are, until what it was given is over', () => {
  const lost = new Map([
    ['UA', NOW + DAY],
    ['UOLD', NOW - 1],
  ]);
  const merged = mergedRevocations({ UB: NOW + 5, UOVER: NOW - 1 }, lost, none, NOW);
  expect(merged).toEqual({ UA: NOW + DAY, UB: NOW + 5 });
  expect(isSame(merged, mergedRevocations(merged, lost, none, NOW))).toBe(true);
});

test('one that is revoked already stays as it is, so that control planes that start do not change the account', () => {
  const held = { UA: NOW + 5 };
  expect(mergedRevocations(held, new Map([['UA', NOW + DAY]]), none, NOW)).toEqual(held);
});

test('who has its place again is not revoked, whoever revoked it', () => {
  const lost = new Map([['UB', NOW + DAY]]);
  expect(mergedRevocations({ UA: NOW + 5 }, lost, new Set(['UA', 'UB']), NOW)).toEqual({});
});

test('beyond the limit everybody has to come anew who was let in before the last of those that are left out', () => {
  const lost = new Map(Array.from({ length: MAX_REVOCATIONS + 1 }, (_, n) => [`U${n}`, NOW + n] as const));
  const merged = mergedRevocations({}, lost, none, NOW);
  const kept = Object.keys(merged).filter((key) => key !== '*');
  expect(kept).toHaveLength(MAX_REVOCATIONS / 2);
  const lastLeftOut = NOW + MAX_REVOCATIONS / 2;
  expect([merged['*'], kept.includes(`U${MAX_REVOCATIONS / 2}`), kept.includes(`U${MAX_REVOCATIONS}`)]).toEqual([
    lastLeftOut - DAY + 60,
    false,
    true,
  ]);
  // Gone once nothing lives that was issued before.
  expect(mergedRevocations(merged, new Map(), none, NOW + 3 * DAY)).toEqual({});
});
