import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FreeAddresses } from './free-addresses.ts';

const NOW = 1_000;
const CIDR = '10.96.0.0/29';
const hosts = Array.from({ length: 6 }, (_, index) => `10.96.0.${index + 1}`);

function nextAddress(held: ReadonlySet<string>, ends: Readonly<Record<string, number>>): string | undefined {
  const addresses = { isHeld: (one: string) => held.has(one), quarantinedUntil: (one: string) => ends[one] };
  return new FreeAddresses(CIDR, addresses).next(NOW);
}

test('the lowest address that is neither held nor in quarantine comes first', () => {
  const ends = { '10.96.0.2': NOW + 1, '10.96.0.3': NOW };
  expect(nextAddress(new Set(['10.96.0.1']), ends)).toBe('10.96.0.3');
});

test('where all are held or in quarantine, the one whose quarantine ends first is given', () => {
  const ends = { '10.96.0.2': NOW + 9, '10.96.0.5': NOW + 3, '10.96.0.6': NOW + 7 };
  expect(nextAddress(new Set(['10.96.0.1', '10.96.0.3', '10.96.0.4']), ends)).toBe('10.96.0.5');
});

test('a peer gets no address only where others hold them all, and never one that is held', () => {
  const state = fc.record({
    held: fc.subarray(hosts).map((held) => new Set(held)),
    ends: fc.dictionary(fc.constantFrom(...hosts), fc.integer({ min: 0, max: 2 * NOW })),
  });
  fc.assert(
    fc.property(state, ({ held, ends }) => {
      const address = nextAddress(held, ends);
      expect(address === undefined).toBe(held.size === hosts.length);
      expect(held.has(address ?? '')).toBe(false);
    }),
  );
});
