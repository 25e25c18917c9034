import fc from 'fast-check';
import { expect, test } from 'vitest';
import { movesOf, SHARES, shareOf } from './shares.ts';

const free = (): (string | undefined)[] => Array.from({ length: SHARES }, () => undefined);

test('a workspace has the same share on every plane and in every version', () => {
  expect(['w_1', 'w_2', 'sys'].map(shareOf)).toEqual([shareOf('w_1'), shareOf('w_2'), shareOf('sys')]);
  const many = Array.from({ length: 2_000 }, (_, n) => shareOf(`w_${n}`));
  expect(new Set(many).size).toBe(SHARES);
});

test('the only plane takes all, and gives half away when another one comes', () => {
  const all = movesOf('a', { planes: ['a'], shares: free() });
  expect(all).toEqual({ take: Array.from({ length: SHARES }, (_, n) => n), give: [] });
  const { take, give } = movesOf('a', { planes: ['b', 'a'], shares: free().fill('a') });
  expect([take.length, give.length]).toEqual([0, SHARES / 2]);
});

test('a plane that is not among those who live gives all away', () => {
  const shares = free().fill('a', 0, 3);
  expect(movesOf('a', { planes: ['b'], shares })).toEqual({ take: [], give: [0, 1, 2] });
});

test('two planes that find shares free do not begin with the same', () => {
  const look = { planes: ['a', 'b'], shares: free() };
  const [a, b] = [movesOf('a', look).take, movesOf('b', look).take];
  expect(new Set([...a, ...b]).size).toBe(SHARES);
});

test('from whatever was, planes that move one after the other come to an even spread and stay there', () => {
  const plane = fc.constantFrom<(string | undefined)[]>('a', 'b', 'c', 'd', 'e', 'gone', undefined);
  const living = fc.uniqueArray(fc.constantFrom<string[]>('a', 'b', 'c', 'd', 'e'), { minLength: 1 });
  fc.assert(
    fc.property(fc.array(plane, { minLength: SHARES, maxLength: SHARES }), living, (holders, planes) => {
      // The leases of who is gone are over.
      const shares = holders.map((holder) => (holder !== undefined && planes.includes(holder) ? holder : undefined));
      for (let turn = 0; turn < 3 * planes.length; turn += 1) {
        const self = planes[turn % planes.length] ?? '';
        const { take, give } = movesOf(self, { planes, shares });
        for (const share of take) {
          expect(shares[share]).toBeUndefined();
          shares[share] = self;
        }
        for (const share of give) {
          expect(shares[share]).toBe(self);
          shares[share] = undefined;
        }
      }
      const counts = planes.map((each) => shares.filter((holder) => holder === each).length);
      expect(counts.reduce((a, b) => a + b, 0)).toBe(SHARES);
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
      expect(planes.map((self) => movesOf(self, { planes, shares }))).toEqual(
        planes.map(() => ({ take: [], give: [] })),
      );
    }),
  );
});
