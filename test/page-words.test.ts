import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { PAGES } from './kits/process/page-blocks.ts';

/** Words of our own that pages had, each with the word of the field. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\btapes?\b/i, 'shared buffer'],
  [/\bsurroundings\b/i, 'network'],
  [/\bresting\b|\brests until\b/i, 'quarantine'],
  [/\b(?:direct|relayed|best|which) ways?\b/i, 'path'],
  [/\bkin\b/i, 'relatives: ancestors, descendants, siblings'],
  [/\blanes?\b/i, 'queue'],
  [/\bsegments(?: of a TCP stream)? are joined\b/i, 'coalesced'],
];

test('pages use the words of the field, not words that a reader has to learn here', () => {
  const found = PAGES.flatMap((page) => {
    const text = readFileSync(path.resolve(import.meta.dirname, '..', page), 'utf8');
    return WORDS.flatMap(([own, field]) => (own.test(text) ? [`${page}: ${own.exec(text)?.[0]}, say ${field}`] : []));
  });
  expect(found).toEqual([]);
});
