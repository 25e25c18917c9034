import { hash } from 'node:crypto';
import { leafHash } from './tree.ts';

/** Maximum bytes of one entry in an entry bundle: its length takes 16 bits (c2sp.org/tlog-tiles). */
const MAX_LEAF_BYTES = 65_535;
/** A UTF-16 code unit takes at most 3 bytes in UTF-8. */
const MAX_UTF8_BYTES_PER_UNIT = 3;

/**
 * The bytes that stand in the log for an entry: the text of the entry, or, where that is too long for an entry bundle,
 * who wrote it and when, with the digest of the text.
 */
export function leafDataOf(entry: string): string {
  if (entry.length * MAX_UTF8_BYTES_PER_UNIT <= MAX_LEAF_BYTES) return entry;
  if (Buffer.byteLength(entry) <= MAX_LEAF_BYTES) return entry;
  const { at, workspace, actor, type, commit } = JSON.parse(entry);
  const revision = commit?.revision;
  const sha256 = hash('sha256', entry, 'hex');
  return JSON.stringify({ at, workspace, actor, type, revision, entry: { bytes: Buffer.byteLength(entry), sha256 } });
}

/** The hash of an entry in the tree. A text that only stands in the place of one has another than the entry. */
export function hashOfEntry(entry: string): Uint8Array {
  return leafHash(LEAF_ALONE.test(entry) ? `no entry: ${entry}` : leafDataOf(entry));
}

/**
 * Matches the leaf that `leafDataOf` makes of a long entry; no entry has this form. If such a leaf were hashed as an entry, it
 * could replace the entry: the contents would be lost, and every root would stay the same.
 */
const LEAF_ALONE = /"entry":\{"bytes":\d+,"sha256":"[0-9a-f]{64}"\}\}$/;

/** The digest of the entry in whose place a leaf stands; undefined for a leaf that is the entry itself. */
export function digestInLeaf(leaf: { readonly entry?: unknown }): string | undefined {
  const { sha256 } = (leaf.entry ?? {}) as { sha256?: unknown };
  return typeof sha256 === 'string' ? sha256 : undefined;
}
