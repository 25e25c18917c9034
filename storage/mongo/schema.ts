import type { IndexDescription } from 'mongodb';
import { unavailable } from '../unavailable.ts';
import type { Connection } from './connect.ts';

type CollectionName =
  | 'records'
  | 'versions'
  | 'log'
  | 'workspaces'
  | 'leases'
  | 'checkpoints'
  | 'cells'
  | 'counts'
  | 'calls'
  | 'messages';
type IndexDeclarations = Readonly<Record<CollectionName, Index[]>>;
type Index = IndexDescription & { readonly name: string };

/** Readers ignore expired documents; the server only clears them away. */
const ENDS: Index = { name: 'gone', key: { gone: 1 }, expireAfterSeconds: 0 };

/** The server also enforces uniqueness; a commit checks it before and reports what is wrong. */
const INDEXES: IndexDeclarations = {
  workspaces: [],
  records: [
    {
      name: 'uid',
      key: { uid: 1, '_id.ws': 1 },
      unique: true,
      partialFilterExpression: { uid: { $exists: true } },
    },
    {
      name: 'unique',
      key: { unique: 1, '_id.ws': 1 },
      unique: true,
      partialFilterExpression: { unique: { $exists: true } },
    },
  ],
  versions: [
    { name: 'until', key: { '_id.ws': 1, '_id.kind': 1, until: 1, '_id.revision': 1 } },
    { name: 'expires', key: { expires: 1 }, expireAfterSeconds: 0 },
  ],
  log: [
    {
      name: 'commit',
      key: { '_id.ws': 1, commit: 1 },
      unique: true,
      partialFilterExpression: { commit: { $exists: true } },
    },
    { name: 'at', key: { '_id.ws': 1, at: 1, '_id.seq': 1 } },
  ],
  leases: [],
  checkpoints: [],
  cells: [{ name: 'tags', key: { tags: 1, expiresAt: 1 } }, ENDS],
  counts: [ENDS],
  calls: [
    { name: 'caller', key: { ws: 1, caller: 1, seq: -1 } },
    { name: 'family', key: { ws: 1, family: 1, seq: -1 } },
    ENDS,
  ],
  messages: [ENDS],
};

interface Step {
  bring(connection: Connection): Promise<void>;
  /**
   * True if running control planes of earlier versions may go on: they then read nothing wrongly, and what they write lacks
   * nothing. Otherwise they refuse all requests, and write nothing more, from before the step begins.
   */
  readonly isAdditive: boolean;
}

/** Step n brings the database from schema n to n + 1. Steps are never changed once released; each can be run twice. */
const MIGRATIONS: readonly Step[] = [
  { bring: createCollections, isAdditive: true },
  { bring: createCollections, isAdditive: true },
  { bring: createCollections, isAdditive: true },
];

/** The schema that a version must know to open a database that this version has migrated. */
export const NEEDED_SCHEMA = MIGRATIONS.findLastIndex(({ isAdditive }) => !isAdditive) + 1;

/** Brings the database to the newest schema, forward only, however many control planes start at once. @throws StoreError */
export async function migrate(connection: Connection): Promise<void> {
  const present = await schemaOf(connection);
  if (present > MIGRATIONS.length) {
    throw unavailable(
      `the database has schema ${present}, newer than the ${MIGRATIONS.length} this version knows; start the newer version`,
    );
  }
  for (const [offset, { bring, isAdditive }] of MIGRATIONS.slice(present).entries()) {
    const version = present + offset + 1;
    if (!isAdditive) await shutOutEarlier(connection, version);
    await bring(connection);
    await connection.schema.updateOne({ _id: 'schema' }, { $max: { version } }, { upsert: true });
  }
  await requireIndexes(connection);
}

/** Each commit of theirs reads one of these marks in its own transaction. Whoever makes a workspace now meets the first. */
async function shutOutEarlier({ schema, workspaces }: Connection, needs: number): Promise<void> {
  await schema.updateOne({ _id: 'schema' }, { $max: { needs }, $inc: { begun: 1 } }, { upsert: true });
  await workspaces.updateMany({}, { $max: { needs } });
}

/** For whom a newer version overtakes. @throws StoreError `unavailable` where this one would not understand what is there */
export function requireKnown(needs = 0): void {
  if (needs <= MIGRATIONS.length) return;
  throw unavailable(
    `a newer version of meshd has changed the database (schema ${needs}; this version knows ${MIGRATIONS.length}): start that version here`,
  );
}

/** As a running control plane looks before it goes on leading. @throws StoreError `unavailable` as {@link requireKnown} */
export async function requireNotOvertaken({ run, schema }: Connection): Promise<void> {
  requireKnown((await run((session) => schema.findOne({ _id: 'schema' }, { session })))?.needs);
}

/** 0 where no control plane has opened the database yet. */
export async function schemaOf({ schema }: Connection): Promise<number> {
  return (await schema.findOne({ _id: 'schema' }))?.version ?? 0;
}

/** Creates the missing collections; leaves one as it is that another control plane has created meanwhile. */
async function createCollections(connection: Connection): Promise<void> {
  await Promise.all(
    collectionsOf(connection).map(async ([name, indexes]) => {
      const { dbName, collectionName } = connection[name];
      await connection.client
        .db(dbName)
        .createCollection(collectionName)
        .catch((error) => {
          if ((error as { codeName?: string }).codeName !== 'NamespaceExists') throw error;
        });
      if (indexes.length > 0) await connection[name].createIndexes(indexes);
    }),
  );
}

/** Without one of them reads would be slow, or something unique would not be. @throws StoreError `unavailable` */
export async function requireIndexes(connection: Connection): Promise<void> {
  for (const [name, indexes] of collectionsOf(connection)) {
    const there = await connection[name].indexes();
    for (const { name: index, key, unique = false } of indexes) {
      const isThere = there.some(
        (found) =>
          found.name === index &&
          JSON.stringify(found.key) === JSON.stringify(key) &&
          (found.unique ?? false) === unique,
      );
      if (!isThere) {
        throw unavailable(
          `the collection ${connection[name].collectionName} of the database lacks its index ${index}: restore it as { ${Object.keys(key).join(', ')} }${unique ? ', unique' : ''}`,
        );
      }
    }
  }
}

function collectionsOf(connection: Connection): [keyof IndexDeclarations, Index[]][] {
  return Object.entries(INDEXES).filter(([name]) => name in connection) as [keyof IndexDeclarations, Index[]][];
}
