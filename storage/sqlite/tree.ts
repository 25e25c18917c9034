import { GrowingTree, peaksOf } from '../../core/audit/tree.ts';
import type { AuditTree, HashId, StoredCheckpoint } from '../../core/base/ports.ts';
import { StoreError } from '../../core/base/ports.ts';
import type { Database } from './database.ts';
import { findWorkspace } from './workspaces.ts';

const HASH_BYTES = 32;
const DAY_MS = 86_400_000;
/** Kept in memory; about 2 KB each. */
const MAX_TREES = 2_048;

/** Entries in the log of a workspace. */
export function sizeOf(database: Database, ws: number): number {
  const row = database.statement<{ size: number }>('SELECT max(seq) + 1 AS size FROM audit WHERE ws = ?').get(ws);
  return row?.size ?? 0;
}

/** The log of a workspace as it stands, to be written on. */
export function treeOf(database: Database, ws: number): GrowingTree {
  const known = database.trees.get(ws);
  if (known) return known;
  const size = sizeOf(database, ws);
  const tree = new GrowingTree(
    size,
    peaksOf(size).map((id) => subtreeHash(database, ws, id)),
  );
  if (database.trees.size >= MAX_TREES) database.trees.clear();
  database.trees.set(ws, tree);
  return tree;
}

/** The column `hashes` of the entry that completes subtrees: theirs, by level. */
export function joinHashes(hashes: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(hashes);
}

/** @throws StoreError `not_found` where the subtree is not complete */
export function subtreeHash(database: Database, ws: number, { level, index }: HashId): Uint8Array {
  // It stands with the entry that completed it, after those of the levels below.
  const last = (index + 1) * 2 ** level - 1;
  const row = database
    .statement<{ hash: Uint8Array }>('SELECT substr(hashes, ?, ?) AS hash FROM audit WHERE ws = ? AND seq = ?')
    .get(level * HASH_BYTES + 1, HASH_BYTES, ws, last);
  if (row?.hash.length !== HASH_BYTES) throw new StoreError('not_found', `level ${level}, index ${index} of the log`);
  return row.hash;
}

export type TreeReads = Omit<AuditTree, 'keepCheckpoint'>;

export function readTree(database: Database, name: string): TreeReads {
  const workspace = () => findWorkspace(database, name)?.id ?? -1;
  return {
    size: async () => sizeOf(database, workspace()),
    async hashes(ids) {
      const ws = workspace();
      return ids.map((id) => subtreeHash(database, ws, id));
    },
    entries: async (from, limit) =>
      database
        .statement<{ entry: string }>('SELECT entry FROM audit WHERE ws = ? AND seq >= ? ORDER BY seq LIMIT ?')
        .all(workspace(), from, limit)
        .map(({ entry }) => entry),
    checkpoints: async (limit) =>
      database
        .statement<StoredCheckpoint>('SELECT at, size, note FROM checkpoint WHERE ws = ? ORDER BY day DESC LIMIT ?')
        .all(workspace(), limit),
  };
}

/** Runs in a write job. */
export function keepCheckpoint(database: Database, name: string, { at, size, note }: StoredCheckpoint): void {
  const ws = findWorkspace(database, name)?.id;
  if (ws === undefined) throw new StoreError('not_found', `a log of ${name}`);
  database
    .statement(
      `INSERT INTO checkpoint (ws, day, at, size, note) VALUES (:ws, :day, :at, :size, :note)
       ON CONFLICT (ws, day) DO UPDATE SET at = :at, size = :size, note = :note WHERE :size >= size`,
    )
    .run({ ws, day: Math.floor(at / DAY_MS), at, size, note });
}
