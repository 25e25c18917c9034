import { expect, test } from 'vitest';
import { isFresh, pages } from './generate.ts';

test.each(Object.keys(pages))('the page %s says what the source says (else: npm run docs)', (name) => {
  expect(isFresh(name)).toBe(true);
});
