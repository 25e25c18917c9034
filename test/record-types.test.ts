import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const files = globSync('**/*.ts', { exclude: ['**/node_modules/**', 'dist/**', 'test/record-types.test.ts'] });
/** A record or spec said to be of a kind, one or a list of them: the store and `kind` say that. */
const CAST = /\bas\s+(?:unknown\s+as\s+)?(?:readonly\s+)?(?:\w+\.)?[A-Z]\w*(?:Record|Spec)\b/;

const castsIn = (text: string) => text.split('\n').filter((line) => CAST.test(line) && !/^import\b/.test(line));

test('no record is said to be of a kind that the compiler has not seen it to be', () => {
  const found = files.flatMap((file) => castsIn(readFileSync(file, 'utf8')).map((line) => `${file}: ${line.trim()}`));
  expect(found).toEqual([]);
});

test.each([
  'const peer = record as PeerRecord;',
  'const was = before as PeerRecord | undefined;',
  'const all = items as readonly TokenRecord[];',
  'const record = { kind } as unknown as StoredRecord;',
  'const { network } = next.spec as PolicySpec;',
])('it is found where it is planted: %s', (planted) => {
  expect(castsIn(planted)).toEqual([planted]);
});
