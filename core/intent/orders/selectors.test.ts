import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Selector } from '../../model/policy.ts';
import { selects } from '../../model/selector.ts';
import { both, complement, minus } from './selectors.ts';

const value = fc.constantFrom('x', 'y');
const key = fc.constantFrom('a', 'b');
const ids = fc.subarray(['p1', 'p2', 'p3']);
const selector: fc.Arbitrary<Selector> = fc
  .record(
    {
      peers: ids,
      notPeers: ids,
      matchLabels: fc.dictionary(key, value, { maxKeys: 2 }),
      matchExpressions: fc.array(
        fc.oneof(
          fc.record({
            key,
            operator: fc.constantFrom('In' as const, 'NotIn' as const),
            values: fc.array(value, { minLength: 1 }),
          }),
          fc.record({ key, operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const) }),
        ),
        { maxLength: 2 },
      ),
    },
    { requiredKeys: [] },
  )
  .map((made) => made as Selector);
const peer = fc.record({
  uid: fc.constantFrom('p1', 'p2', 'p3', 'p4'),
  labels: fc.dictionary(key, value, { maxKeys: 2 }),
});

test('intersection, complement and difference of selectors match exactly the peers that they should', () => {
  fc.assert(
    fc.property(selector, selector, peer, (a, b, one) => {
      const [inA, inB] = [selects(a, one), selects(b, one)];
      const joined = both(a, b);
      expect(joined !== undefined && selects(joined, one)).toBe(inA && inB);
      expect(complement(a).some((part) => selects(part, one))).toBe(!inA);
      expect(minus(a, [b]).some((part) => selects(part, one))).toBe(inA && !inB);
    }),
    { numRuns: 2_000 },
  );
});

test('exceptions that divide peers into too many kinds are refused', () => {
  const labels = (index: number) => ({ matchLabels: { [`a${index}`]: 'x', [`b${index}`]: 'x', [`c${index}`]: 'x' } });
  const many = Array.from({ length: 20 }, (_, index) => labels(index));
  expect(() => minus({}, many)).toThrow('leave out fewer');
});
