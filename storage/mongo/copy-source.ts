import { randomUUID } from 'node:crypto';
import { formatInstant } from '../../core/base/time.ts';
import type { CopySource } from '../copy/copy-ends.ts';
import { unavailable } from '../unavailable.ts';
import { type Connection, connect } from './connect.ts';
import { contentsOf } from './contents.ts';
import { databaseText, moveNoteOf, touch } from './move-note.ts';
import { migrate } from './schema.ts';

/**
 * A database that others may have open. While it is held each commit of theirs is refused, since it reads the mark of its
 * workspace in its own transaction, or that of the database where it makes one.
 *
 * @throws StoreError `unavailable`
 */
export async function openMongoSource(url: string): Promise<CopySource> {
  const connection = await connect(url);
  try {
    await migrate(connection);
  } catch (error) {
    await connection.close();
    throw error;
  }
  const { run, workspaces, schema, transaction } = connection;
  const place = databaseText(connection);
  /** Identifies the process that moves the database; the last one that began owns the move. */
  const id = randomUUID();
  let isHeld = false;
  return {
    ...contentsOf(connection),
    place,
    moved: () => moveNoteOf(connection),
    async hold(moved) {
      await requireNobody(connection, place);
      isHeld = true;
      const mark = { $set: { moved: { ...moved, run: id } } };
      await run((session) => schema.updateOne({ _id: 'moved' }, mark, { session, upsert: true }));
      await run((session) => touch(schema, session));
      await run((session) => workspaces.updateMany({}, { $set: { moved: true } }, { session }));
    },
    /** Leaves a later hold of another process in place, unless the caller holds nothing itself and so gives up any hold. */
    release: () =>
      transaction(async (session) => {
        const filter = { _id: 'moved' as const, ...(isHeld && { 'moved.run': id }) };
        const { deletedCount } = await schema.deleteOne(filter, { session });
        if (isHeld && deletedCount === 0) return;
        await workspaces.updateMany({}, { $unset: { moved: '' } }, { session });
      }),
    async retire(moved) {
      const mark = { $set: { moved: { ...moved, run: id } } };
      const { matchedCount } = await run((session) =>
        schema.updateOne({ _id: 'moved', 'moved.run': id }, mark, { session }),
      );
      if (matchedCount === 0)
        throw unavailable(`another meshd copy of ${place} has begun meanwhile, and this one ends`);
    },
    close: connection.close,
  };
}

/** Control planes of a cluster hold leases while they live. @throws StoreError `unavailable` */
async function requireNobody({ run, leases }: Connection, place: string): Promise<void> {
  const held = await run((session) =>
    leases.findOne(
      { holder: { $ne: null }, $expr: { $gt: ['$expiresAt', { $toLong: '$$NOW' }] } },
      { session, sort: { expiresAt: -1 } },
    ),
  );
  if (!held) return;
  throw unavailable(
    `a control plane is at work on ${place} (${held.holder} has the lease ${held._id} until ${formatInstant(held.expiresAt)}): end every one of them first`,
  );
}
