import { expect, test } from 'vitest';
import { csvOf } from './csv.ts';

test('cells with commas, quotes and line ends are quoted, others stay', () => {
  expect(
    csvOf(
      ['a', 'b'],
      [
        ['x,y', 'say "hi"'],
        ['line\nend', 'plain'],
      ],
    ),
  ).toBe('a,b\n"x,y","say ""hi"""\n"line\nend",plain\n');
});

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', ' =cmd|x', '＝1'])(
  'the cell %j does not run as a formula',
  (cell) => {
    expect(csvOf([], [[cell]])).toContain(`'${cell}`);
  },
);

test('a minus inside of a cell is no formula', () => {
  expect(csvOf(['n'], [['web-1']])).toBe('n\nweb-1\n');
});
