import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nextAddress } from './address.ts';

const NOW = 1_000;
const CIDR = '10.96.0.0/29';
const hosts = Array.from({ length: 6 }, (_, index) => `10.96.0.${index + 1}`);

const restingUntil = (rests: Readonly<Record<string, number>>) =>
  new Map(Object.entries(rests).map(([address, until]) => [address, { until, revision: 1 }]));

test('the lowest address that neither is held nor rests comes first', () => {
  const resting = restingUntil({ '10.96.0.2': NOW + 1, '10.96.0.3': NOW });
  expect(nextAddress(CIDR, new Set(['10.96.0.1']), resting, NOW)).toBe('10.96.0.3');
});

test('where all are held or rest, the one that has rested longest is given', () => {
  const resting = restingUntil({ '10.96.0.2': NOW + 9, '10.96.0.5': NOW + 3, '10.96.0.6': NOW + 7 });
  expect(nextAddress(CIDR, new Set(['10.96.0.1', '10.96.0.3', '10.96.0.4']), resting, NOW)).toBe('10.96.0.5');
});

test('a peer gets no address only where others hold them all, and never one that is held', () => {
  const state = fc.record({
    held: fc.subarray(hosts).map((held) => new Set(held)),
    rests: fc.dictionary(fc.constantFrom(...hosts), fc.integer({ min: 0, max: 2 * NOW })),
  });
  fc.assert(
    fc.property(state, ({ held, rests }) => {
      const address = nextAddress(CIDR, held, restingUntil(rests), NOW);
      expect(address === undefined).toBe(held.size === hosts.length);
      expect(held.has(address ?? '')).toBe(false);
    }),
  );
});
