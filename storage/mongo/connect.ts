import { setTimeout as after } from 'node:timers/promises';
import {
  type ClientSession,
  type Collection,
  type Db,
  MongoClient,
  MongoServerSelectionError,
  ReadConcern,
  ReadPreference,
  type ServerDescription,
  type Timestamp,
  WriteConcern,
} from 'mongodb';
import { StoreError } from '../../core/base/ports.ts';
import { unavailable } from '../unavailable.ts';
import { buildEndAbandoned } from './abandoned-transactions.ts';
import type {
  CallDoc,
  CellDoc,
  CheckpointDoc,
  CountDoc,
  EntryDoc,
  InstallationDoc,
  LeaseDoc,
  MessageDoc,
  RecordDoc,
  SchemaDoc,
  VersionDoc,
  WorkspaceDoc,
  WriteQueueDoc,
} from './documents.ts';
import { asStoreError, isBlocked, isOutcomeUnknown, isRetryable, isTransient } from './errors.ts';
import { type Topology, unreachableReason, wrongSet } from './unreachable.ts';

/** The database for a URL that names none. */
const DEFAULT_DATABASE = 'mesh';
const NAMES_DATABASE = /^[^/]+\/\/[^/]+\/[^?]/;
/** Reads of one instant without a transaction came with 5.0; what is older than 6.0 is not tried. */
const OLDEST_SERVER = 6;
/** A primary that died is replaced within some 12 s by default; then what waited goes on. */
const PATIENCE_MS = 20_000;
const SELECT_MS = 15_000;
const CONNECT_MS = 4_000;
/** A server that has only just started says for a moment that it is in no set. */
const WRONG_SET_MS = 3_000;
/** Between two looks at each member. One that is cut off without a word is given up after this and the time to connect. */
const POLL_MS = 1_000;
const APP_NAME = 'meshd';
/** A writer that another one has blocked for so long checks whether that one still runs. */
const BLOCKED_MS = 1_000;
/** Between two tries, at random up to this: two control planes that met at a workspace do not meet again. */
const PAUSE_MS = 30;
/** Until what one member has acknowledged is known to be held by a majority. */
const BEHIND_MS = 4;

/** The collections of an installation. */
export interface Collections {
  readonly workspaces: Collection<WorkspaceDoc>;
  readonly records: Collection<RecordDoc>;
  readonly versions: Collection<VersionDoc>;
  readonly log: Collection<EntryDoc>;
  readonly checkpoints: Collection<CheckpointDoc>;
  readonly leases: Collection<LeaseDoc>;
  readonly turns: Collection<WriteQueueDoc>;
  readonly cells: Collection<CellDoc>;
  readonly counts: Collection<CountDoc>;
  readonly calls: Collection<CallDoc>;
  readonly messages: Collection<MessageDoc>;
  readonly schema: Collection<SchemaDoc>;
  readonly installation: Collection<InstallationDoc>;
}

/** A replica set, with the collections of an installation. What is read and written there is held by a majority. */
export interface Connection extends Collections {
  readonly client: MongoClient;
  /** True while most members of the set answer and none of them is the primary. */
  isElecting(): boolean;
  /**
   * Reads that see whatever this process wrote or saw before, or a write that may be made twice. One that `isFirst` waits
   * for nothing that was seen. @throws StoreError
   */
  run<T>(query: (session: ClientSession) => Promise<T>, options?: { readonly isFirst: boolean }): Promise<T>;
  /**
   * Reads that all see one instant, which is no older than what this process wrote or saw before: of `collections`,
   * whose read concern is the one of the session. @throws StoreError
   */
  snapshot<T>(query: (session: ClientSession, collections: Collections) => Promise<T>): Promise<T>;
  /** All of `work`, held by a majority, or nothing; begun again where another writer came first. @throws StoreError */
  transaction<T>(work: (session: ClientSession) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** @throws StoreError `unavailable` that says what the server lacks */
export async function connect(url: string): Promise<Connection> {
  const connection = connectionTo(url);
  try {
    await Promise.race([requireReplicaSet(connection.client), refuseWrongSet(connection.client)]);
    return connection;
  } catch (error) {
    await connection.close();
    if (!(error instanceof MongoServerSelectionError)) throw asStoreError(error);
    throw unavailable(unreachableReason(error, namedIn(connection.client)), error);
  }
}

/** Connects with the first thing that is asked. @throws StoreError `unavailable` for what is no address */
export function connectionTo(url: string): Connection {
  const client = clientOf(url);
  return connectionOf(client, NAMES_DATABASE.test(url) ? client.options.dbName : DEFAULT_DATABASE);
}

/** Returns what is wrong with a URL, without contacting a server. */
export function addressProblem(url: string): string | undefined {
  try {
    clientOf(url);
    return undefined;
  } catch (error) {
    return error instanceof StoreError ? error.subject : (error as Error).message;
  }
}

function clientOf(url: string): MongoClient {
  try {
    return new MongoClient(url, {
      appName: APP_NAME,
      writeConcern: new WriteConcern('majority'),
      readPreference: ReadPreference.primary,
      retryWrites: true,
      retryReads: true,
      serverSelectionTimeoutMS: SELECT_MS,
      connectTimeoutMS: CONNECT_MS,
      heartbeatFrequencyMS: POLL_MS,
      ignoreUndefined: true,
      promoteBuffers: true,
    });
  } catch (error) {
    // The message leaves out the URL, which may hold a password.
    throw unavailable(`the address of MongoDB cannot be read: ${(error as Error).message}`);
  }
}

/** @throws StoreError `unavailable` */
async function requireReplicaSet(client: MongoClient): Promise<void> {
  // First and alone: of two questions that find no server the second says only that the driver has closed meanwhile.
  await client.connect();
  const admin = client.db('admin');
  const [{ setName }, { version }] = await Promise.all([admin.command({ hello: 1 }), admin.command({ buildInfo: 1 })]);
  requireServer({ setName, version, place: client.options.srvHost ?? namedIn(client).join(',') });
}

/** Rejects where the servers that answer are not the set that is named; else it never settles. @throws StoreError `unavailable` */
async function refuseWrongSet(client: MongoClient): Promise<never> {
  let seen: Topology | undefined;
  client.on('topologyDescriptionChanged', ({ newDescription }) => {
    seen = newDescription;
  });
  await after(WRONG_SET_MS, undefined, { ref: false });
  const wrong = wrongSet(seen, namedIn(client));
  if (wrong !== undefined) throw unavailable(wrong);
  return new Promise(() => {});
}

function namedIn(client: MongoClient): string[] {
  return client.options.hosts.map(String);
}

interface ServerHello {
  readonly setName?: unknown;
  readonly version?: unknown;
  /** Where it was looked for. */
  readonly place: string;
}

/** @throws StoreError `unavailable` for one that keeps no records of a control plane, by what it says of itself */
export function requireServer({ setName, version, place }: ServerHello): void {
  if (typeof setName !== 'string') {
    throw unavailable(
      `the MongoDB server at ${place} is no member of a replica set: commits need one, of three members best. Start it with --replSet and run rs.initiate().`,
    );
  }
  if (Number.parseInt(String(version), 10) >= OLDEST_SERVER) return;
  throw unavailable(`MongoDB ${version} is older than ${OLDEST_SERVER}.0, which is needed: upgrade the replica set.`);
}

function connectionOf(client: MongoClient, name: string): Connection {
  /** A collection with a read concern of its own is not read as of the instant of a session. */
  const plain = collectionsIn(client.db(name));
  /** Carries from one session to the next what this process has seen. */
  let seen: Timestamp | undefined;
  const keep = ({ operationTime }: ClientSession) => {
    if (operationTime && isBefore(seen, operationTime)) seen = operationTime;
  };
  let closed = false;
  const requireOpen = () => {
    // The driver would connect anew.
    if (closed) throw unavailable('the store is closed');
  };
  const endAbandoned = buildEndAbandoned(client, APP_NAME);
  let members: readonly ServerDescription[] = [];
  client.on('topologyDescriptionChanged', ({ newDescription }) => {
    members = [...newDescription.servers.values()];
  });
  const begin = (isFirst = false) => {
    requireOpen();
    const session = client.startSession({ causalConsistency: true });
    if (seen && !isFirst) session.advanceOperationTime(seen);
    return session;
  };

  return {
    client,
    isElecting() {
      const answering = members.filter(({ type }) => type.startsWith('RS'));
      return answering.length > members.length / 2 && !answering.some(({ type }) => type === 'RSPrimary');
    },
    ...collectionsIn(client.db(name, { readConcern: new ReadConcern('majority') })),
    run: (query, options) =>
      patiently(async () => {
        const session = begin(options?.isFirst);
        try {
          return await query(session);
        } catch (error) {
          if (isBlocked(error)) await endAbandoned();
          throw error;
        } finally {
          keep(session);
          await session.endSession();
        }
      }),
    async snapshot(query) {
      const least = seen;
      const deadline = performance.now() + PATIENCE_MS;
      for (;;) {
        const { result, instant } = await patiently(async () => {
          requireOpen();
          const session = client.startSession({ snapshot: true });
          try {
            return { result: await query(session, plain), instant: instantOf(session) };
          } finally {
            await session.endSession();
          }
        });
        // A primary that has only just become one may not know yet what the majority holds.
        if (!instant || !isBefore(instant, least)) return result;
        if (performance.now() > deadline)
          throw unavailable('the database does not come to what was read from it before');
        await after(Math.random() * BEHIND_MS);
      }
    },
    async transaction(work) {
      const session = begin();
      try {
        return await inTransaction(session, work, endAbandoned);
      } catch (error) {
        throw asStoreError(error);
      } finally {
        keep(session);
        await session.endSession();
      }
    },
    close() {
      closed = true;
      return client.close();
    },
  };
}

function collectionsIn(database: Db): Collections {
  return {
    workspaces: database.collection('workspace'),
    records: database.collection('record'),
    versions: database.collection('version'),
    log: database.collection('log'),
    checkpoints: database.collection('checkpoint'),
    leases: database.collection('lease'),
    turns: database.collection('turn'),
    cells: database.collection('cell'),
    counts: database.collection('count'),
    calls: database.collection('call'),
    messages: database.collection('message'),
    schema: database.collection('schema'),
    installation: database.collection('installation'),
  };
}

/** The instant that a snapshot session has read; undefined where it has read nothing. The types of the driver leave it out. */
function instantOf(session: ClientSession): Timestamp | undefined {
  return (session as { readonly snapshotTime?: Timestamp }).snapshotTime;
}

function isBefore(a: Timestamp | undefined, b: Timestamp | undefined): boolean {
  return b !== undefined && (a === undefined || b.greaterThan(a));
}

async function inTransaction<T>(
  session: ClientSession,
  work: (session: ClientSession) => Promise<T>,
  endAbandoned: () => Promise<void>,
): Promise<T> {
  const begun = performance.now();
  const deadline = begun + PATIENCE_MS;
  for (;;) {
    session.startTransaction({ readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority' } });
    try {
      const result = await work(session);
      await commit(session, deadline);
      return result;
    } catch (error) {
      if (session.inTransaction()) await session.abortTransaction().catch(() => undefined);
      const now = performance.now();
      if (!isRetryable(error) || now > deadline) throw error;
      if (now - begun > BLOCKED_MS) await endAbandoned();
      await after(Math.random() * PAUSE_MS);
    }
  }
}

async function commit(session: ClientSession, deadline: number): Promise<void> {
  for (;;) {
    try {
      await session.commitTransaction();
      return;
    } catch (error) {
      if (isRetryable(error) || !isOutcomeUnknown(error) || performance.now() > deadline) throw error;
      await after(Math.random() * PAUSE_MS);
    }
  }
}

/** The driver itself tries twice; an election can take longer. @throws StoreError */
async function patiently<T>(query: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await query();
    } catch (error) {
      if (!isTransient(error) || performance.now() > deadline) throw asStoreError(error);
      await after(Math.random() * PAUSE_MS);
    }
  }
}
