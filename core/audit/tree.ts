import { hash as digest } from 'node:crypto';
import type { HashId } from '../base/ports.ts';

/** The Merkle tree of RFC 6962, 2.1 (RFC 9162, 2.1) over SHA-256. Sizes and indexes are safe integers. */

/** Reads the hashes of complete subtrees, from which proofs and roots are computed; in the order of the ids. */
export type ReadHashes = (ids: readonly HashId[]) => Promise<readonly Uint8Array[]>;

/** Leaves from `from` up to, but without, `to`. */
type Range = readonly [from: number, to: number];

const LEAF_PREFIX = Uint8Array.of(0);
const NODE_PREFIX = Uint8Array.of(1);
const EMPTY_ROOT: Uint8Array = sha256('');

export function leafHash(data: Uint8Array | string): Uint8Array {
  return sha256(typeof data === 'string' ? `\0${data}` : Buffer.concat([LEAF_PREFIX, data]));
}

function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(Buffer.concat([NODE_PREFIX, left, right]));
}

/** In one call, which costs half of what an object that is fed does: each commit makes some. */
function sha256(data: Uint8Array | string): Uint8Array {
  return digest('sha256', data, 'buffer');
}

export async function rootOf(size: number, read: ReadHashes): Promise<Uint8Array> {
  const [root = EMPTY_ROOT] = size === 0 ? [] : await hashesOf([[0, size]], read);
  return root;
}

/** Returns the proof that the tree of a size contains the leaf at an index; index < size. */
export function inclusionProof(index: number, size: number, read: ReadHashes): Promise<Uint8Array[]> {
  return hashesOf(siblingsOf(index, [0, size]), read);
}

/** Returns the proof that the tree of size `to` begins with all leaves of the tree of size `from`; 0 < from <= to. */
export function consistencyProof(from: number, to: number, read: ReadHashes): Promise<Uint8Array[]> {
  return hashesOf(bridgesOf(from, [0, to], true), read);
}

/** RFC 9162, 2.1.3.2. */
export function provesInclusion(
  proof: readonly Uint8Array[],
  leaf: { readonly index: number; readonly hash: Uint8Array },
  tree: { readonly size: number; readonly root: Uint8Array },
): boolean {
  if (leaf.index < 0 || leaf.index >= tree.size) return false;
  let [at, last] = [leaf.index, tree.size - 1];
  let { hash } = leaf;
  for (const sibling of proof) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      hash = nodeHash(sibling, hash);
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, half(last)];
    } else {
      hash = nodeHash(hash, sibling);
    }
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && equal(hash, tree.root);
}

/** RFC 9162, 2.1.4.2. Every tree begins with the empty one, which no hashes prove. */
export function provesConsistency(
  proof: readonly Uint8Array[],
  from: { readonly size: number; readonly root: Uint8Array },
  to: { readonly size: number; readonly root: Uint8Array },
): boolean {
  if (from.size > to.size) return false;
  if (from.size === 0) return proof.length === 0 && equal(from.root, EMPTY_ROOT);
  if (from.size === to.size) return proof.length === 0 && equal(from.root, to.root);
  let [at, last] = [from.size - 1, to.size - 1];
  while (at % 2 === 1) [at, last] = [half(at), half(last)];
  // A tree of a power of two is a subtree of the larger one: its root stands for itself.
  const [first, ...rest] = at === 0 ? [from.root, ...proof] : proof;
  if (!first) return false;
  let [before, after] = [first, first];
  for (const sibling of rest) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      [before, after] = [nodeHash(sibling, before), nodeHash(sibling, after)];
      while (at % 2 === 0 && at !== 0) [at, last] = [at / 2, half(last)];
    } else {
      after = nodeHash(after, sibling);
    }
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && equal(before, from.root) && equal(after, to.root);
}

/** A tree to which leaves are appended, of which only as many hashes are kept as its size has ones in binary. */
export class GrowingTree {
  /** The complete subtrees that make up the tree, the largest first, each with its level. */
  readonly #peaks: { readonly level: number; readonly hash: Uint8Array }[];
  size: number;

  constructor(size = 0, peaks: readonly Uint8Array[] = []) {
    const ids = peaksOf(size);
    this.#peaks = peaks.map((hash, at) => ({ level: ids[at]?.level ?? 0, hash }));
    this.size = size;
  }

  /** @returns the hashes of the subtrees that end with the leaf, by level; the first is its own */
  append(leaf: Uint8Array): Uint8Array[] {
    const completed = [leaf];
    let hash = leaf;
    for (let last = this.#peaks.at(-1); last?.level === completed.length - 1; last = this.#peaks.at(-1)) {
      this.#peaks.pop();
      hash = nodeHash(last.hash, hash);
      completed.push(hash);
    }
    this.#peaks.push({ level: completed.length - 1, hash });
    this.size += 1;
    return completed;
  }

  /** From which it grows on: the hashes of the subtrees that make it up, the largest first. */
  peaks(): Uint8Array[] {
    return this.#peaks.map(({ hash }) => hash);
  }

  root(): Uint8Array {
    return this.#peaks.length === 0 ? EMPTY_ROOT : joined(this.peaks());
  }
}

/** The complete subtrees that make up a tree, the largest first: from their hashes it can grow on. */
export function peaksOf(size: number): HashId[] {
  return subtreesOf([0, size]);
}

/** Returns the sibling subtrees on the path from a leaf to the root of a range, bottom up. */
function siblingsOf(index: number, [from, to]: Range): Range[] {
  if (to - from === 1) return [];
  const middle = from + powerBelow(to - from);
  return index < middle
    ? [...siblingsOf(index, [from, middle]), [middle, to]]
    : [...siblingsOf(index, [middle, to]), [from, middle]];
}

/** RFC 9162, 2.1.4.1: SUBPROOF, with the end of the smaller tree in place of its size. */
function bridgesOf(end: number, [from, to]: Range, isKnown: boolean): Range[] {
  if (end === to) return isKnown ? [] : [[from, to]];
  const middle = from + powerBelow(to - from);
  return end <= middle
    ? [...bridgesOf(end, [from, middle], isKnown), [middle, to]]
    : [...bridgesOf(end, [middle, to], false), [from, middle]];
}

/** Reads what all ranges need at once. */
async function hashesOf(ranges: readonly Range[], read: ReadHashes): Promise<Uint8Array[]> {
  const parts = ranges.map(subtreesOf);
  const hashes = await read(parts.flat());
  let taken = 0;
  return parts.map(({ length }) => {
    taken += length;
    return joined(hashes.slice(taken - length, taken));
  });
}

/** The complete subtrees that make up a range of the tree, the largest first. */
function subtreesOf([from, to]: Range): HashId[] {
  const ids: HashId[] = [];
  for (let at = from; at < to; ) {
    let [level, width] = [0, 1];
    while (width * 2 <= to - at) [level, width] = [level + 1, width * 2];
    ids.push({ level, index: at / width });
    at += width;
  }
  return ids;
}

function joined(hashes: readonly Uint8Array[]): Uint8Array {
  return hashes.reduceRight((right, left) => nodeHash(left, right));
}

/** The largest power of two below a number above one. */
function powerBelow(number: number): number {
  let power = 1;
  while (power * 2 < number) power *= 2;
  return power;
}

function half(number: number): number {
  return Math.floor(number / 2);
}

function equal(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}
