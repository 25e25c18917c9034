import { expect, test } from 'vitest';
import { lineDiff } from './line-diff.ts';

test('what stays, goes and comes is marked, what goes before what comes', () => {
  expect(lineDiff('a: 1\nb: 2\nc: 3\n', 'a: 1\nb: 4\nc: 3\nd: 5\n')).toEqual([
    ' a: 1',
    '-b: 2',
    '+b: 4',
    ' c: 3',
    '+d: 5',
  ]);
});

test('an empty text has no lines', () => {
  expect(lineDiff('', 'a\n')).toEqual(['+a']);
  expect(lineDiff('a\n', '')).toEqual(['-a']);
  expect(lineDiff('', '')).toEqual([]);
});

test('texts with too little in common are shown one after the other', () => {
  const lines = (mark: string) => Array.from({ length: 3_000 }, (_, n) => `${mark}${n}`);
  const shown = lineDiff(lines('a').join('\n'), lines('b').join('\n'));
  expect(shown).toEqual([...lines('-a'), ...lines('+b')]);
});
