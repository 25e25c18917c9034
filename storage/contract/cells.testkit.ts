import { describe, expect, test } from 'vitest';
import type { Cell, Cells } from '../../core/base/shared.ts';

interface Opened {
  readonly clock: { time: number };
  /** The same cells, as two control planes have them. */
  readonly cells: readonly [Cells<number>, Cells<number>];
}

/** Defines the tests that every implementation of cells must pass. */
export function cellsContract(name: string, open: () => Opened): void {
  const add = (cells: Cells<number>, key: string, expiresAt: number, tags?: readonly string[]) =>
    cells.change(key, (cell) => {
      const value = (cell?.value ?? 0) + 1;
      return { cell: { value, expiresAt, ...(tags && { tags }) }, result: value };
    });
  const numberAt = async (cells: Cells<number>, key: string) => (await cells.read([key])).get(key)?.value;

  describe(name, () => {
    test('answers each change with what it came to, and loses none of those at once', async () => {
      const { clock, cells } = open();
      const came = await Promise.all(
        Array.from({ length: 40 }, (_, n) => add(cells[n % 2 === 0 ? 0 : 1], 'key', clock.time + 1_000)),
      );
      expect([...came].sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
      expect(await numberAt(cells[1], 'key')).toBe(40);
    });

    test('has nothing under a key once its time is over, and begins anew there', async () => {
      const { clock, cells } = open();
      const [one, other] = cells;
      await add(one, 'key', clock.time + 1_000);
      clock.time += 999;
      expect(await numberAt(other, 'key')).toBe(1);
      clock.time += 1;
      expect([await numberAt(other, 'key'), await other.count([])]).toEqual([undefined, { all: 0, tagged: [] }]);
      expect(await add(other, 'key', clock.time + 1_000)).toBe(1);
    });

    test('leaves one as it is that is answered as it was, and takes one away where there is no other', async () => {
      const { clock, cells } = open();
      const [one, other] = cells;
      const read = (cell: Cell<number> | undefined) => ({ cell, result: cell?.value });
      expect(await one.change('key', read)).toBeUndefined();
      await add(one, 'key', clock.time + 1_000);
      expect(await other.change('key', read)).toBe(1);
      expect(await other.change('key', (cell) => ({ cell: undefined, result: cell?.value }))).toBe(1);
      expect(await numberAt(one, 'key')).toBeUndefined();
    });

    test('counts them by tag, and finds of a tag the one that ends first', async () => {
      const { clock, cells } = open();
      const [one, other] = cells;
      await add(one, 'late', clock.time + 3_000, ['red', 'large']);
      await add(other, 'early', clock.time + 1_000, ['red']);
      await add(one, 'none', clock.time + 500);
      expect(await other.count(['red', 'large', 'blue'])).toEqual({ all: 3, tagged: [2, 1, 0] });
      expect([await one.firstToEnd('red'), await one.firstToEnd('blue')]).toEqual(['early', undefined]);
      await add(one, 'early', clock.time + 9_000, ['red']);
      expect(await one.firstToEnd('red')).toBe('late');
      clock.time += 3_000;
      expect([await other.count(['red']), await other.firstToEnd('red')]).toEqual([{ all: 1, tagged: [1] }, 'early']);
    });
  });
}
