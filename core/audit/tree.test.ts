import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { HashId } from '../base/ports.ts';
import {
  consistencyProof,
  GrowingTree,
  inclusionProof,
  leafHash,
  peaksOf,
  provesConsistency,
  provesInclusion,
  rootOf,
} from './tree.ts';

/** The leaves, roots and proofs that Certificate Transparency's own implementations are tested against. */
const CT_LEAVES = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
const CT_ROOTS = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];
const A = '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7';
const B = '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e';
const C = '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4';
const D = 'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b';
const E = 'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0';
const F = '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a';
const [ONE = '', TWO = '', , FOUR = ''] = CT_ROOTS;

const LARGEST = 300;
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** The definition of RFC 6962, 2.1, word by word: what the tree must be equal to. */
function naiveRoot(leaves: readonly Uint8Array[]): Uint8Array {
  const sha = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest();
  if (leaves.length === 0) return sha();
  if (leaves.length === 1) return sha(Buffer.of(0), leaves[0] ?? Buffer.of());
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  return sha(Buffer.of(1), naiveRoot(leaves.slice(0, split)), naiveRoot(leaves.slice(split)));
}

/** Keeps the hashes of complete subtrees as a store does. */
function treeOf(leaves: readonly Uint8Array[]) {
  const hashes = new Map<string, Uint8Array>();
  const key = ({ level, index }: HashId) => `${level}/${index}`;
  const kept = (id: HashId) => hashes.get(key(id)) ?? expect.fail(`no hash ${key(id)}`);
  const tree = new GrowingTree();
  for (const [index, leaf] of leaves.entries()) {
    for (const [level, hash] of tree.append(leafHash(leaf)).entries()) {
      hashes.set(key({ level, index: Math.floor(index / 2 ** level) }), hash);
    }
  }
  return async (ids: readonly HashId[]) => ids.map(kept);
}

test('roots of the reference leaves are those of Certificate Transparency', async () => {
  const leaves = CT_LEAVES.map((leaf) => Buffer.from(leaf, 'hex'));
  const read = treeOf(leaves);
  expect(hex(await rootOf(0, read))).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  for (const [index, root] of CT_ROOTS.entries()) expect(hex(await rootOf(index + 1, read))).toBe(root);
});

test.each([
  { index: 0, size: 1, proof: [] },
  { index: 0, size: 8, proof: [A, B, C] },
  { index: 5, size: 8, proof: [D, E, FOUR] },
  { index: 2, size: 3, proof: [TWO] },
  { index: 1, size: 5, proof: [ONE, B, D] },
])('leaf $index of $size has the reference proof of inclusion', async ({ index, size, proof }) => {
  const read = treeOf(CT_LEAVES.map((leaf) => Buffer.from(leaf, 'hex')));
  expect((await inclusionProof(index, size, read)).map(hex)).toEqual(proof);
});

test.each([
  { from: 1, to: 1, proof: [] },
  { from: 1, to: 8, proof: [A, B, C] },
  { from: 6, to: 8, proof: [F, E, FOUR] },
  { from: 2, to: 5, proof: [B, D] },
])('sizes $from and $to have the reference proof of consistency', async ({ from, to, proof }) => {
  const read = treeOf(CT_LEAVES.map((leaf) => Buffer.from(leaf, 'hex')));
  expect((await consistencyProof(from, to, read)).map(hex)).toEqual(proof);
});

test('every root up to 300 leaves is that of the definition, appended one by one, grown on from its peaks, or read from kept hashes', async () => {
  const leaves = Array.from({ length: LARGEST }, (_, n) => Buffer.from(`leaf ${n}`));
  const read = treeOf(leaves);
  const growing = new GrowingTree();
  for (let size = 0; size <= LARGEST; size += 1) {
    const root = hex(naiveRoot(leaves.slice(0, size)));
    const resumed = new GrowingTree(size, await read(peaksOf(size)));
    expect([await rootOf(size, read), growing.root(), resumed.root()].map(hex)).toEqual([root, root, root]);
    const leaf = leafHash(leaves[size] ?? Buffer.of());
    expect(resumed.append(leaf)).toEqual(new GrowingTree(size, await read(peaksOf(size))).append(leaf));
    growing.append(leafHash(leaves[size] ?? Buffer.of()));
  }
});

test('proofs of all sizes hold for their leaf and trees, and for no other', async () => {
  const leaves = Array.from({ length: LARGEST }, (_, n) => Buffer.from(`leaf ${n}`));
  const read = treeOf(leaves);
  const roots = await Promise.all(Array.from({ length: LARGEST + 1 }, (_, size) => rootOf(size, read)));
  const treeAt = (size: number) => ({ size, root: roots[size] ?? expect.fail() });
  const leafAt = (index: number) => ({ index, hash: leafHash(leaves[index] ?? Buffer.of()) });
  // All pairs of small sizes, and of larger ones those about powers of two.
  const sizes = Array.from({ length: LARGEST }, (_, n) => n + 1).filter((n) => n < 40 || n % 32 < 2 || n === LARGEST);
  for (const to of sizes) {
    for (const from of sizes.filter((each) => each <= to)) {
      const bridge = await consistencyProof(from, to, read);
      expect(provesConsistency(bridge, treeAt(from), treeAt(to))).toBe(true);
      const other = { size: from, root: roots[from - 1] ?? expect.fail() };
      expect(provesConsistency(bridge, other, treeAt(to))).toBe(false);
      expect(provesConsistency([...bridge, roots[1] ?? expect.fail()], treeAt(from), treeAt(to))).toBe(false);
      if (bridge.length > 0) expect(provesConsistency(bridge.slice(1), treeAt(from), treeAt(to))).toBe(false);

      const index = from - 1;
      const path = await inclusionProof(index, to, read);
      expect(provesInclusion(path, leafAt(index), treeAt(to))).toBe(true);
      expect(provesInclusion(path, { ...leafAt(index), hash: leafHash('other') }, treeAt(to))).toBe(false);
      expect(provesInclusion(path, { ...leafAt(index), index: to }, treeAt(to))).toBe(false);
      expect(provesInclusion([...path, roots[1] ?? expect.fail()], leafAt(index), treeAt(to))).toBe(false);
      if (path.length > 0) expect(provesInclusion(path.slice(1), leafAt(index), treeAt(to))).toBe(false);
    }
  }
});

test('a tree of a million leaves is proven with as many hashes as it has levels', async () => {
  const asked: HashId[] = [];
  const read = async (ids: readonly HashId[]) => {
    asked.push(...ids);
    return ids.map(({ level }) => leafHash(String(level)));
  };
  expect(await inclusionProof(777_777, 1_000_000, read)).toHaveLength(20);
  expect(asked.length).toBeLessThan(40);
});
