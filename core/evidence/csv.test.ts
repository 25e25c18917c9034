import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CsvReader, csvLine } from './csv.ts';

describe('a cell', () => {
  test.each([
    ['=1+1', `"'=1+1"\n`],
    ['+1', `"'+1"\n`],
    ['-1', `"'-1"\n`],
    ['@SUM(A1)', `"'@SUM(A1)"\n`],
    ['\t=1', `"'\t=1"\n`],
    ['\r=1', `"'\r=1"\n`],
    [' =1', `"' =1"\n`],
    ['＝1', `"'＝1"\n`],
    ['＠x', `"'＠x"\n`],
    ["'=1", `"''=1"\n`],
    ['a,"b"', `"a,""b"""\n`],
    ['plain', `"plain"\n`],
  ])('of %j is written so that no spreadsheet runs it', (cell, line) => {
    expect(csvLine([cell])).toBe(line);
  });

  test('of any text is read back as it was, from pieces of any size', () => {
    const rows = fc.array(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1, maxLength: 4 }), { maxLength: 5 });
    fc.assert(
      fc.property(rows, fc.integer({ min: 1, max: 7 }), (given, size) => {
        const text = [...given.map(csvLine).join('')];
        const reader = new CsvReader();
        const read: string[][] = [];
        for (let at = 0; at < text.length; at += size) read.push(...reader.read(text.slice(at, at + size).join('')));
        reader.end();
        expect(read).toEqual(given);
      }),
    );
  });
});

test.each(['a\n', '"a"b\n', '"a', '"a",'])('%j is not as it was written', (text) => {
  const reader = new CsvReader();
  expect(() => {
    reader.read(text);
    reader.end();
  }).toThrow(SyntaxError);
});

test.each([
  ['a cell without end', '"'.concat('a'.repeat(2_200_000))],
  ['a row of long cells', `"${'a'.repeat(200_000)}",`.repeat(11)],
  ['a row without end', '"",'.repeat(1_000)],
])('%s is refused before it is held', (_what, text) => {
  expect(() => new CsvReader().read(text)).toThrow(SyntaxError);
});
