import { randomUUID } from 'node:crypto';
import { type AnyBulkWriteOperation, Collection } from 'mongodb';
import type { CopyTarget } from '../copy/copy-ends.ts';
import { unavailable } from '../unavailable.ts';
import { type Connection, connect } from './connect.ts';
import { contentsOf } from './contents.ts';
import { installationIn } from './installation.ts';
import { copyMarkOf, databaseText, moveNoteOf } from './move-note.ts';
import { migrate } from './schema.ts';
import { ROW_WRITERS } from './write-rows.ts';

/** A database, which says of itself that it is no whole one until it is. @throws StoreError `unavailable` */
export async function openMongoTarget(url: string): Promise<CopyTarget> {
  const connection = await connect(url);
  const { run, workspaces, schema, transaction } = connection;
  const place = databaseText(connection);
  /** Identifies the process that copies; the last one that began owns the copy. */
  const id = randomUUID();
  let wasEmpty = false;
  const requireLast = (begun: { readonly run: string } | undefined) => {
    if (begun?.run !== id) throw unavailable(`another meshd copy to ${place} has begun meanwhile, and this one ends`);
  };

  return {
    place,
    async find() {
      const [mark, moved] = [await copyMarkOf(connection), await moveNoteOf(connection)];
      if (mark) return { is: 'unfinished', mark };
      if (moved?.done) return { is: 'retired', contents: contentsOf(connection) };
      wasEmpty = !moved && !(await hasDocuments(connection));
      return { is: wasEmpty ? 'empty' : 'used' };
    },
    async begin(mark, keys) {
      const copy = { ...mark, run: id };
      await run((session) => schema.updateOne({ _id: 'copy' }, { $set: { copy } }, { session, upsert: true }));
      // From here on none starts there; one may have, a moment ago.
      if (wasEmpty && (await hasDocuments(connection))) {
        await run((session) => schema.deleteOne({ _id: 'copy', 'copy.run': id }, { session }));
        throw unavailable(`somebody has begun to use ${place}, so it was left as it is: name an empty one`);
      }
      for (const collection of collectionsOf(connection)) {
        if (collection.collectionName !== schema.collectionName) await collection.drop();
      }
      await run((session) => schema.deleteMany({ _id: { $ne: 'copy' } }, { session }));
      await migrate(connection);
      // Claims the collections that were created just now, so that the copy gets an epoch of its own.
      await installationIn(connection).claim(keys);
    },
    async addWorkspace({ name: _id, peaks, ...head }) {
      const document = { ...head, peaks: peaks.map((peak) => Buffer.from(peak, 'hex')) };
      await run((session) => workspaces.replaceOne({ _id }, document, { session, upsert: true }));
    },
    async write({ name }, part, rows) {
      requireLast(await copyMarkOf(connection));
      const operations = ROW_WRITERS[part](name, rows as never) as AnyBulkWriteOperation[];
      // Written twice where an answer was lost: it is the same both times.
      const collection = connection[part] as unknown as Collection;
      await run((session) => collection.bulkWrite(operations, { session, ordered: false }));
    },
    written: async () => contentsOf(connection),
    async finish() {
      await transaction(async (session) => {
        requireLast((await schema.findOne({ _id: 'copy' }, { session }))?.copy);
        await schema.deleteOne({ _id: 'copy' }, { session });
      });
      return undefined;
    },
    close: connection.close,
  };
}

function collectionsOf(connection: Connection): Collection[] {
  return Object.values(connection).filter((each) => each instanceof Collection);
}

/** True if the database holds documents of any program. */
async function hasDocuments({ client, schema }: Connection): Promise<boolean> {
  const database = client.db(schema.dbName);
  for (const { name } of await database.listCollections({}, { nameOnly: true }).toArray()) {
    if (name === schema.collectionName || name.startsWith('system.')) continue;
    if (await database.collection(name).findOne({}, { projection: { _id: 1 } })) return true;
  }
  return false;
}
