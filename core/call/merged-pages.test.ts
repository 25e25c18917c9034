import { expect, test } from 'vitest';
import { mergedText } from './merged-pages.ts';

async function merged(...pages: readonly Record<string, unknown>[]): Promise<string> {
  async function* each() {
    yield* pages;
  }
  let text = '';
  for await (const piece of mergedText(each())) text += piece;
  return text;
}

test.each([
  ['one page', [{ id: 1, list: [1, 2], map: { a: 1 } }], { id: 1, list: [1, 2], map: { a: 1 } }],
  [
    'lists and maps that go on',
    [
      { id: 1, list: [1], next_cursor: 'x' },
      { id: 2, list: [2], more: [], next_cursor: 'y' },
      { id: 3, more: ['"]'], map: { a: 1 }, next_cursor: 'z' },
      { id: 4, map: { 'b"': 2 } },
    ],
    { id: 1, list: [1, 2], more: ['"]'], map: { a: 1, 'b"': 2 } },
  ],
  [
    'empty parts',
    [
      { list: [], next_cursor: 'x' },
      { list: [3], next_cursor: 'y' },
      { list: [], map: {} },
    ],
    { list: [3], map: {} },
  ],
  ['null and absent fields', [{ id: null, gone: undefined, list: [] }], { id: null, list: [] }],
  ['nothing', [{}], {}],
])('%s become one object', async (_what, pages, whole) => {
  expect(JSON.parse(await merged(...pages))).toEqual(whole);
});
