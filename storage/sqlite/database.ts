import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { GrowingTree } from '../../core/audit/tree.ts';
import { StoreError } from '../../core/base/ports.ts';
import { narrow } from '../file-mode.ts';
import { unavailable } from '../unavailable.ts';

/** The only file that knows node:sqlite's connection; another SQLite binding is a drop-in here. */
export interface Database {
  /** Prepared once per text. */
  statement<Row = never>(sql: string): Statement<Row>;
  exec(sql: string): void;
  /** All of `work`, durable, or nothing. */
  transaction<T>(work: () => T): T;
  /** Logs as they were last written, by workspace, so that an append reads nothing. Whoever undoes a write forgets them. */
  readonly trees: Map<number, GrowingTree>;
  readonly connection: DatabaseSync;
  readonly path: string;
  close(): void;
}

/** Values for `?` in order, or one object for `:name`. */
type Bindings = SQLInputValue[] | [Record<string, SQLInputValue>];

interface Statement<Row> {
  get(...values: Bindings): Row | undefined;
  all(...values: Bindings): Row[];
  /** @returns rows changed */
  run(...values: Bindings): number;
}

export const IN_MEMORY = ':memory:';
/** A second process may hold the file for the length of one commit or backup step. */
const BUSY_TIMEOUT_MS = 5_000;
/** How long another process may need to end. Meanwhile nobody else can open the file. */
const TAKE_PATIENCE_MS = 2_000;
const PAGE_BYTES = 4_096;
/** The log is folded into the file each 16 MiB: rarer than by default, since each time costs two more fsyncs. */
const CHECKPOINT_PAGES = 4_096;
/** At most so much of the disk reserve is in the log before that: the last quarter has room for it, and for the file. */
const CHECKPOINT_SHARE = 1 / 8;
/** The write-ahead log is cut back to so many times that after it. */
const JOURNAL_LIMIT = 4;
/** Page cache: 32 MiB, negative for KiB. */
const CACHE_KIB = -32 * 1024;
/** The cache of a read-only connection: 8 MiB. */
const READER_CACHE_KIB = -8 * 1024;

/**
 * Opens or creates the file for writing, readable by its owner only; SQLite gives the log files beside it the same mode. No
 * other process may have it open then, and none can open it so afterwards.
 *
 * From here on nothing but SQLite may open and close the file in this process: its locks would end with that.
 *
 * @param reserve bytes that are kept free on its disk
 */
export function openDatabase(path: string, reserve = Number.POSITIVE_INFINITY): Database {
  const pages = Math.min(CHECKPOINT_PAGES, Math.floor((reserve * CHECKPOINT_SHARE) / PAGE_BYTES));
  if (path !== IN_MEMORY) protect(path);
  const connection = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    // SQLite ignores auto_vacuum in a file that has tables already, until the file is rewritten (`meshd compact`).
    connection.exec(`
      PRAGMA auto_vacuum = INCREMENTAL;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA wal_autocheckpoint = ${pages};
      PRAGMA journal_size_limit = ${JOURNAL_LIMIT * pages * PAGE_BYTES};
      PRAGMA cache_size = ${CACHE_KIB};
    `);
    if (path !== IN_MEMORY) takeFile(connection);
  } catch (cause) {
    connection.close();
    if (isBusy(cause)) {
      const who = 'another meshd writes it, or another program has it open';
      throw unavailable(`the database ${path} is in use: ${who}. End that first, or use another file.`, cause);
    }
    const what = `the database ${path} does not open: ${(cause as Error).message}`;
    throw isDamage(cause) ? new DamageError(what, cause) : unavailable(what, cause);
  }
  return wrap(connection, path);
}

/** A file that is damaged, or no database. */
export class DamageError extends StoreError {
  /** The fault, without the remedy. */
  readonly what: string;

  constructor(what: string, cause?: unknown) {
    super('unavailable', `${what}. Restore it from a backup: meshd restore FILE.`, { cause });
    this.what = what;
  }
}

function isBusy(error: unknown): boolean {
  return primaryCode(error) === SQLITE_BUSY;
}

/** True if SQLite reports that the file is damaged or is no database. */
export function isDamage(error: unknown): boolean {
  const cause = error instanceof StoreError ? error.cause : error;
  return DAMAGE.includes(primaryCode(cause));
}

/** An extended code says more in its upper bits. */
function primaryCode(error: unknown): number {
  return ((error as { errcode?: number } | undefined)?.errcode ?? 0) & 0xff;
}

const SQLITE_BUSY = 5;
/** SQLITE_READONLY: also where a journal would have to be rolled back first. */
const SQLITE_READONLY = 8;
/** SQLITE_CORRUPT, SQLITE_NOTADB. */
const DAMAGE: readonly number[] = [11, 26];

/** A second connection to the file of a database that is open, which never writes, but for what a killed process left half done. */
export function openForReading(path: string): Database {
  try {
    return wrap(readOnlyAfterCrash(path), path);
  } catch (cause) {
    const what = `${path} does not open for reading: ${(cause as Error).message}`;
    throw isDamage(cause) ? new DamageError(`the database ${what}`, cause) : unavailable(what, cause);
  }
}

function readOnlyAfterCrash(path: string): DatabaseSync {
  try {
    return readOnly(path);
  } catch (cause) {
    if (primaryCode(cause) !== SQLITE_READONLY) throw cause;
    rollBack(path);
    return readOnly(path);
  }
}

function readOnly(path: string): DatabaseSync {
  const connection = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    connection.exec(`PRAGMA cache_size = ${READER_CACHE_KIB}`);
    return connection;
  } catch (cause) {
    connection.close();
    throw cause;
  }
}

/** A new file has a rollback journal until it is in WAL mode: what a process that was killed meanwhile did is undone by the next that may write. */
function rollBack(path: string): void {
  const connection = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    connection.exec('SELECT count(*) FROM sqlite_schema');
  } finally {
    connection.close();
  }
}

function protect(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  createPrivate(path);
  narrow(path);
}

/** An empty file that its owner alone can read, unless there is one. SQLite fills it. */
export function createPrivate(path: string): void {
  // Never opens an existing file: closing it would drop the locks that another connection of this process has on it.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
}

function wrap(connection: DatabaseSync, path: string): Database {
  const prepared = new Map<string, Statement<unknown>>();
  return {
    trees: new Map(),
    connection,
    path,
    statement<Row>(sql: string): Statement<Row> {
      const known = prepared.get(sql) ?? prepare(connection, sql);
      prepared.set(sql, known);
      // The row type is the caller's reading of its own SELECT.
      return known as Statement<Row>;
    },
    exec: (sql) => connection.exec(sql),
    transaction(work) {
      this.statement('BEGIN IMMEDIATE').run();
      try {
        const result = work();
        this.statement('COMMIT').run();
        return result;
      } catch (error) {
        this.trees.clear();
        // Some failures, such as a full disk, have ended the transaction already.
        if (connection.isTransaction) this.statement('ROLLBACK').run();
        throw error;
      }
    },
    close() {
      prepared.clear();
      connection.close();
    },
  };
}

function prepare(connection: DatabaseSync, sql: string): Statement<unknown> {
  const statement = connection.prepare(sql);
  return {
    // node:sqlite types the two forms of binding as overloads; at run time both are plain arguments.
    get: (...values) => statement.get(...(values as SQLInputValue[])),
    all: (...values) => statement.all(...(values as SQLInputValue[])),
    run: (...values) => Number(statement.run(...(values as SQLInputValue[])).changes),
  };
}

/** SQLITE_FULL. */
const DISK_FULL = 13;

/** SQLite's own failures (locked, closed, no disk) become `unavailable`, a full disk `full`; everything else passes. */
export function asStoreError(error: unknown): unknown {
  if (error instanceof StoreError || !(error instanceof Error)) return error;
  const { code, errcode } = error as NodeJS.ErrnoException & { errcode?: number };
  if (code === 'ERR_SQLITE_ERROR' && errcode === DISK_FULL)
    return new StoreError('full', error.message, { cause: error });
  if (code === 'ERR_SQLITE_ERROR' && isDamage(error))
    return new StoreError('lost', `the database: ${error.message}`, { cause: error });
  // The second is what a closed connection answers.
  if (code === 'ERR_SQLITE_ERROR' || code === 'ERR_INVALID_STATE')
    return unavailable(`the database: ${error.message}`, error);
  return error;
}

/**
 * Makes this connection the only one that opens the file for writing. SQLite's exclusive lock on the file itself is taken,
 * which no other process must hold a part of, and given back but for the shared one that a connection keeps until it is
 * closed: whoever takes the exclusive one later fails by that. Readers come and go. The lock is the operating system's on
 * the file, not on a name of it, and ends with the process.
 *
 * @throws Error SQLITE_BUSY where another process has the file open
 */
function takeFile(connection: DatabaseSync): void {
  const { timeout } = connection.prepare('PRAGMA busy_timeout').get() as { timeout: number };
  // Read first: a log that is opened under the exclusive lock is one that no other connection can share.
  connection.exec(`SELECT count(*) FROM sqlite_schema; PRAGMA busy_timeout = ${TAKE_PATIENCE_MS}`);
  connection.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; COMMIT');
  connection.exec(`PRAGMA locking_mode = NORMAL; BEGIN IMMEDIATE; COMMIT; PRAGMA busy_timeout = ${timeout}`);
}
