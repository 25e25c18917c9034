import { expect, test } from 'vitest';
import { csvText } from '../../web/src/ui/csv-text.ts';

test('cells with commas, quotes and line ends are quoted, and none is a formula', () => {
  expect(
    csvText([
      ['Name', 'Says'],
      ['a, "b"', 'one\ntwo'],
      ['=1+1', '-x'],
    ]),
  ).toBe('Name,Says\r\n"a, ""b""","one\ntwo"\r\n\'=1+1,\'-x\r\n');
});
