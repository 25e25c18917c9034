import { formatInstant } from '../../core/base/time.ts';
import type { Moved } from '../copy/moved.ts';
import type { CopySource } from '../copy/place.ts';
import { unavailable } from '../unavailable.ts';
import { type Connection, connect } from './connect.ts';
import { contentsOf } from './contents.ts';
import { movedOf, placeOf, touch } from './moved.ts';
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
  const { run, workspaces, schema } = connection;
  const place = placeOf(connection);
  const mark = (moved: Moved) =>
    run((session) => schema.updateOne({ _id: 'moved' }, { $set: { moved } }, { session, upsert: true }));
  return {
    ...contentsOf(connection),
    place,
    moved: () => movedOf(connection),
    async hold(moved) {
      await requireNobody(connection, place);
      await mark(moved);
      await run((session) => touch(schema, session));
      await run((session) => workspaces.updateMany({}, { $set: { moved: true } }, { session }));
    },
    async release() {
      await run((session) => workspaces.updateMany({}, { $unset: { moved: '' } }, { session }));
      await run((session) => schema.deleteOne({ _id: 'moved' }, { session }));
    },
    async retire(moved) {
      await mark(moved);
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
