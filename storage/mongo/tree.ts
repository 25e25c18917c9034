import type { AuditTree, HashId, StoredCheckpoint } from '../../core/base/ports.ts';
import { StoreError } from '../../core/base/ports.ts';
import type { Connection } from './connect.ts';
import { bytesOf, entryId } from './documents.ts';
import { isDuplicate } from './errors.ts';
import { findWorkspace, requireHere } from './workspaces.ts';

const HASH_BYTES = 32;
const DAY_MS = 86_400_000;

export function treeOf(connection: Connection, ws: string): AuditTree {
  const { run, log, checkpoints } = connection;
  return {
    size: () => run(async (session) => (await findWorkspace(connection, ws, session))?.size ?? 0),
    hashes: (ids) =>
      run(async (session) => {
        const found = await log
          .find(
            { _id: { $in: [...new Set(ids.map(lastOf))].map((seq) => entryId(ws, seq)) } },
            { session, projection: { hashes: 1 } },
          )
          .toArray();
        const bySeq = new Map(found.map(({ _id, hashes }) => [_id.seq, bytesOf(hashes)]));
        return ids.map((id) => hashIn(bySeq.get(lastOf(id)), id));
      }),
    entries: (from, limit) =>
      run(async (session) => {
        if (limit <= 0) return [];
        const found = await log
          .find(
            { _id: { $gte: entryId(ws, from), $lt: entryId(ws, from + limit) } },
            { session, sort: { _id: 1 }, projection: { entry: 1 } },
          )
          .toArray();
        return found.map(({ entry }) => entry);
      }),
    checkpoints: (limit) =>
      run(async (session) => {
        const found = await checkpoints
          .find({ '_id.ws': ws }, { session, sort: { _id: -1 }, limit: Math.min(limit, MAX_LIMIT) })
          .toArray();
        return found.map(({ at, size, note }) => ({ at, size, note }));
      }),
    keepCheckpoint: (checkpoint) => keepCheckpoint(connection, ws, checkpoint),
  };
}

/** The largest signed 32-bit number, which is the largest limit that the server takes. */
const MAX_LIMIT = 2 ** 31 - 1;

/** The hash of a subtree stands with the entry that completed it, after those of the levels below. */
function lastOf({ level, index }: HashId): number {
  return (index + 1) * 2 ** level - 1;
}

/** @throws StoreError `not_found` where the subtree is not complete */
function hashIn(hashes: Uint8Array | undefined, { level, index }: HashId): Uint8Array {
  const hash = hashes?.subarray(level * HASH_BYTES, (level + 1) * HASH_BYTES);
  if (hash?.length !== HASH_BYTES) throw new StoreError('not_found', `level ${level}, index ${index} of the log`);
  return new Uint8Array(hash);
}

/** Stores a checkpoint; of the checkpoints of a day the largest stays. */
function keepCheckpoint(connection: Connection, ws: string, { at, size, note }: StoredCheckpoint): Promise<void> {
  return connection.run(async (session) => {
    const workspace = await findWorkspace(connection, ws, session);
    if (!workspace) throw new StoreError('not_found', `a log of ${ws}`);
    requireHere(workspace);
    try {
      await connection.checkpoints.updateOne(
        { _id: { ws, day: Math.floor(at / DAY_MS) }, size: { $lte: size } },
        { $set: { at, size, note } },
        { session, upsert: true },
      );
    } catch (error) {
      // A larger one is there.
      if (!isDuplicate(error)) throw error;
    }
  });
}
