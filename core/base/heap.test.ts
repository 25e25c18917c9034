import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Heap } from './heap.ts';

test('what is taken is always the least of what is there', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer())), (steps) => {
      const heap = new Heap<number>((a, b) => a < b);
      const there: number[] = [];
      for (const step of steps) {
        if (step !== null) {
          heap.add(step);
          there.push(step);
        } else {
          there.sort((a, b) => a - b);
          expect([heap.least, heap.takeLeast()]).toEqual([there[0], there.shift()]);
        }
        expect(heap.size).toBe(there.length);
      }
    }),
  );
});
