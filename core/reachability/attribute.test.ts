import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { attribute } from './attribute.ts';

/** A row is gone where one of its sets of changes is taken back as a whole, or all changes are. */
type Row = readonly (readonly string[])[];
const ALL = Array.from({ length: 9 }, (_, index) => `c${index}`);
const isGone = (row: Row, undone: ReadonlySet<string>) =>
  undone.size === ALL.length || row.some((set) => set.every((one) => undone.has(one)));
const causesOf = (rows: readonly Row[], changes = ALL) => {
  const found = attribute(rows, changes, (undone) => (row: Row) => isGone(row, undone));
  return rows.map((row) => found.get(row));
};

describe('attribute', () => {
  test('names each change that takes a row back alone', () => {
    expect(causesOf([[['c1']], [['c2'], ['c7'], ['c0', 'c3']]])).toEqual([
      { causes: ['c1'], together: false },
      { causes: ['c2', 'c7'], together: false },
    ]);
  });

  test('names the smallest set where no change does it alone', () => {
    expect(causesOf([[['c1', 'c8', 'c3']]])).toEqual([{ causes: ['c1', 'c3', 'c8'], together: true }]);
  });

  test('asks nothing where there is one change', () => {
    const row: Row = [['c0']];
    const found = attribute([row], ['c0'], () => {
      throw new Error('was asked');
    });
    expect(found.get(row)).toEqual({ causes: ['c0'], together: false });
  });

  test('never names a set that does not do it, or of which one can be left out, and never a set where one does it', () => {
    const sets = fc.array(fc.subarray(ALL, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(fc.array(sets, { minLength: 1, maxLength: 8 }), (rows) => {
        for (const [index, found] of causesOf(rows).entries()) {
          const row = rows[index] ?? [];
          const { causes = [], together } = found ?? {};
          const alone = ALL.filter((one) => isGone(row, new Set([one])));
          expect(together).toBe(alone.length === 0);
          if (!together) expect(causes).toEqual(alone);
          else {
            expect(isGone(row, new Set(causes))).toBe(true);
            for (const one of causes) expect(isGone(row, new Set(causes.filter((other) => other !== one)))).toBe(false);
          }
        }
      }),
    );
  });
});
