import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { lineOfText, linesOfText, mapOf } from './text.ts';

const line = lineOfText(20);

test.each(['web-1', 'Büro Zürich', '東京', 'بيت', 'क्‍ष', '👩‍💻', 'a  b', ''])(
  '%j is one line of printable text',
  (text) => {
    expect(line.parse(text)).toBe(text);
  },
);

test.each([
  ['a line end', 'a\nb'],
  ['a line end at the end', 'a\n'],
  ['a carriage return', 'a\rb'],
  ['a tab', 'a\tb'],
  ['an escape of a terminal', 'a\u001b[2Jb'],
  ['a line separator', 'a\u2028b'],
  ['a next line', 'a\u0085b'],
  ['an override of direction', 'a\u202eb'],
  ['an isolate of direction', 'a\u2066b'],
  ['a space without width', 'a\u200bb'],
  ['a byte order mark', '\ufeffa'],
  ['a hidden tag', 'a\u{e0041}b'],
  ['a hidden variation', 'a\u{e0101}b'],
  ['half of a pair', 'a\ud800b'],
  ['private use', 'a\ue000b'],
])('%s is refused in a name', (_what, text) => {
  expect(line.safeParse(text).error?.issues).toMatchObject([{ message: 'one line of printable text is needed' }]);
});

test('several lines may have tabs, and nothing that shows nothing or turns the direction of text', () => {
  const lines = linesOfText(40);
  expect(lines.parse('let web\r\n\treach 東京 👩‍💻')).toBe('let web\r\n\treach 東京 👩‍💻');
  for (const letter of ['\u202e', '\u200b', '\u2028', '\u0085', '\u001b', '\u{e0041}', '\ue000']) {
    expect(lines.safeParse(`a${letter}b`).error?.issues).toMatchObject([
      { message: expect.stringContaining('printable') },
    ]);
  }
});

test('what a terminal or a list shows of any accepted text is one line', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      if (lineOfText(1_000).safeParse(text).success) expect(text.split(/[\n\v\f\r\u0085\u2028\u2029]/)).toHaveLength(1);
    }),
  );
});

test('a map with too many keys is refused before any of them is read', () => {
  let read = 0;
  const value = z.string().refine(() => {
    read += 1;
    return true;
  });
  const labels = mapOf(z.string(), value, 2, 'labels');
  expect(labels.safeParse({ a: '', b: '', c: '' }).error?.issues).toMatchObject([
    { path: [], message: 'at most 2 labels are accepted' },
  ]);
  expect(read).toBe(0);
  expect(labels.parse({ a: '1', b: '2' })).toEqual({ a: '1', b: '2' });
  expect(labels.safeParse('a').success).toBe(false);
});
