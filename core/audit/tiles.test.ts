import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeBundle, encodeBundle, hashesIn, hasTile, parseTilePath, tilePath, tilesOf } from './tiles.ts';

test.each([
  ['tile/0/000', { level: 0, index: 0, width: 256 }],
  ['tile/0/273.p/112', { level: 0, index: 273, width: 112 }],
  ['tile/1/x001/x234/067', { level: 1, index: 1_234_067, width: 256 }],
  ['tile/entries/x001/000.p/1', { level: 'entries', index: 1_000, width: 1 }],
] as const)('the path %s is that of one tile', (path, tile) => {
  expect(parseTilePath(path)).toEqual(tile);
  expect(tilePath(tile)).toBe(path);
});

test.each([
  'tile/0/0',
  'tile/00/000',
  'tile/0/x000/000',
  'tile/0/001/000',
  'tile/0/x001',
  'tile/0/000.p/0',
  'tile/0/000.p/256',
  'tile/0/000.p/01',
  'tile/-1/000',
  'tile/64/000',
  'tile/data/000',
  'tile/0/000/',
  'tile/0/../000',
  '',
])('the path %j is that of none', (path) => {
  expect(parseTilePath(path)).toBeUndefined();
});

test('a log has exactly the tiles that the specification says for its size', () => {
  // "A tree of size 70,000 will be represented by 273 full level 0 tiles, one partial level 0 tile of width 112, …"
  const size = 70_000;
  const leaves = tilesOf(0, size);
  expect([leaves.length, leaves.at(-2)?.width, leaves.at(-1)?.width]).toEqual([274, 256, 112]);
  const has = (path: string) => hasTile(parseTilePath(path) ?? expect.fail(path), size);
  expect(['tile/0/272', 'tile/0/273.p/112', 'tile/1/000', 'tile/1/001.p/17', 'tile/2/000.p/1'].map(has)).toEqual(
    Array.from({ length: 5 }, () => true),
  );
  expect(['tile/0/273', 'tile/0/273.p/113', 'tile/1/001.p/18', 'tile/2/000.p/2', 'tile/3/000.p/1'].map(has)).toEqual(
    Array.from({ length: 5 }, () => false),
  );
  expect(hashesIn({ level: 1, index: 1, width: 2 }, 1)).toEqual([
    { level: 8, index: 256 },
    { level: 8, index: 257 },
  ]);
});

test('a bundle is read as it was written, and none that is cut or longer', () => {
  fc.assert(
    fc.property(fc.array(fc.string(), { minLength: 1, maxLength: 20 }), (leaves) => {
      const bundle = encodeBundle(leaves);
      const read = decodeBundle(bundle, leaves.length)?.map((leaf) => Buffer.from(leaf).toString());
      expect(read).toEqual(leaves.map((leaf) => Buffer.from(leaf).toString()));
      expect(decodeBundle(bundle.subarray(0, -1), leaves.length)).toBeUndefined();
      expect(decodeBundle(Buffer.concat([bundle, Buffer.of(0, 0)]), leaves.length)).toBeUndefined();
      expect(decodeBundle(bundle, leaves.length + 1)).toBeUndefined();
    }),
  );
});
