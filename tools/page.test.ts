import { expect, test } from 'vitest';
import { MAX_PAGE_CHARACTERS, pageOf } from './page.ts';

const named = (names: readonly string[]) => names.map((name) => ({ name }));

test('pages follow each other in the order of names until there is no next one', () => {
  const records = named(['c', 'a', 'b']);
  const nameOf = ({ name }: { name: string }) => name;
  expect(pageOf(records, { limit: 2 }, nameOf)).toEqual({ items: ['a', 'b'], next_cursor: 'b' });
  expect(pageOf(records, { cursor: 'b', limit: 2 }, nameOf)).toEqual({ items: ['c'] });
});

test('a page ends before it is longer than one answer, and the next one goes on from there', () => {
  const records = named(['a', 'b', 'c', 'd']);
  const third = ({ name }: { name: string }) => name.repeat(MAX_PAGE_CHARACTERS / 3);
  const { items, next_cursor: cursor } = pageOf(records, { limit: 200 }, third);
  expect({ shown: items.length, cursor }).toEqual({ shown: 2, cursor: 'b' });
  expect(pageOf(records, { cursor, limit: 200 }, third).items).toHaveLength(2);
});

test('a record that alone is longer than a page is a page', () => {
  const huge = ({ name }: { name: string }) => name.repeat(MAX_PAGE_CHARACTERS + 1);
  expect(pageOf(named(['a', 'b']), { limit: 200 }, huge)).toMatchObject({
    items: [expect.any(String)],
    next_cursor: 'a',
  });
});
