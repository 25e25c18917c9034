import { peaksOf } from '../../core/audit/tree.ts';
import type { Kind } from '../../core/base/record.ts';
import type { Contents, Part, Rows, WorkspaceHead } from '../copy/contents.ts';
import { unavailable } from '../unavailable.ts';
import type { Database } from './database.ts';
import { readTree, subtreeHash } from './tree.ts';
import { findWorkspace } from './workspaces.ts';

type RowReader<P extends Part> = (database: Database, ws: number) => Iterable<Rows[P]>;

/** All of a file, while nobody writes to it. */
export function contentsOf(database: Database): Contents {
  return {
    heads: async () => headsOf(database),
    counts: async () => {
      const count = (table: string) =>
        database.statement<{ rows: number }>(`SELECT count(*) AS rows FROM ${table}`).get()?.rows ?? 0;
      return {
        log: count('audit'),
        records: count('record'),
        unique: count('unique_value'),
        versions: count('version'),
        checkpoints: count('checkpoint'),
      };
    },
    rows: (workspace, part) => ROW_READERS[part](database, findWorkspace(database, workspace)?.id ?? -1),
    tree: (workspace) => readTree(database, workspace),
  };
}

/** A workspace without a log was never written to. */
function headsOf(database: Database): WorkspaceHead[] {
  return database
    .statement<Omit<WorkspaceHead, 'keep'> & { readonly id: number; readonly keep: string }>(
      `SELECT id, name, size, revision, at, compacted, keep FROM workspace
       JOIN (SELECT ws, max(seq) + 1 AS size FROM audit GROUP BY ws) ON ws = id ORDER BY name`,
    )
    .all()
    .map(({ id, keep, ...head }) => ({
      ...head,
      keep: JSON.parse(keep),
      peaks: peaksOf(head.size).map((peak) => Buffer.from(subtreeHash(database, id, peak)).toString('hex')),
    }));
}

const ROW_READERS: { readonly [P in Part]: RowReader<P> } = {
  *log(database, ws) {
    let inForce = 0;
    const rows = each<Omit<Rows['log'], 'commit' | 'revision'> & { readonly revision: number | null }>(
      database,
      'SELECT seq, at, revision, hashes, entry FROM audit WHERE ws = ? ORDER BY seq',
      ws,
    );
    for (const { revision, ...row } of rows) {
      inForce = revision ?? inForce;
      yield { ...row, commit: revision ?? undefined, revision: inForce };
    }
  },
  *records(database, ws) {
    const rows = each<RecordRow>(
      database,
      `SELECT record.id, kind, name, uid, record.revision, audit.at, body FROM record
       LEFT JOIN audit ON audit.ws = record.ws AND audit.revision = record.revision
       WHERE record.ws = ? ORDER BY kind, name`,
      ws,
    );
    const values = uniqueValues(database, ws);
    let next = values.next().value;
    for (const { id, uid, body, at, ...row } of rows) {
      const unique: string[] = [];
      for (; next?.record === id; next = values.next().value) unique.push(next.value);
      yield { ...row, at: known(at, row), uid: uid ?? undefined, body: body ?? undefined, unique };
    }
  },
  *versions(database, ws) {
    const rows = each<VersionRow>(
      database,
      `SELECT kind, name, version.revision, began.at, until, ended.at AS untilAt, version.body
       FROM record CROSS JOIN version ON version.record = record.id
       LEFT JOIN audit began ON began.ws = record.ws AND began.revision = version.revision
       LEFT JOIN audit ended ON ended.ws = record.ws AND ended.revision = until
       WHERE record.ws = ? ORDER BY kind, name, until`,
      ws,
    );
    for (const { at, untilAt, ...row } of rows) {
      yield { ...row, at: known(at, row), untilAt: known(untilAt, row) };
    }
  },
  *checkpoints(database, ws) {
    yield* each<Rows['checkpoints']>(
      database,
      'SELECT day, at, size, note FROM checkpoint WHERE ws = ? ORDER BY day',
      ws,
    );
  },
};

interface RecordRow {
  readonly id: number;
  readonly kind: Kind;
  readonly name: string;
  readonly uid: string | null;
  readonly revision: number;
  readonly at: number | null;
  readonly body: string | null;
}

type VersionRow = Omit<Rows['versions'], 'at' | 'untilAt'> & {
  readonly at: number | null;
  readonly untilAt: number | null;
};

/** @throws StoreError `unavailable` where the log has no entry of what a record was written by */
function known(at: number | null, { kind, name, revision }: Pick<RecordRow, 'kind' | 'name' | 'revision'>): number {
  if (at !== null) return at;
  throw unavailable(`${kind} ${name} at revision ${revision} is in no entry of the log: mesh audit verify says more`);
}

/** In the order of the records that have them. */
function* uniqueValues(database: Database, ws: number): Generator<{ record: number; value: string }, undefined> {
  yield* each<{ record: number; value: string }>(
    database,
    `SELECT record, value FROM unique_value JOIN record ON record.id = record AND record.ws = unique_value.ws
     WHERE unique_value.ws = ? ORDER BY kind, name, value`,
    ws,
  );
}

/** Row by row: none but the last one is in memory. */
function* each<Row>({ connection }: Database, sql: string, ws: number): Generator<Row> {
  // The row type is the caller's reading of its own SELECT.
  for (const row of connection.prepare(sql).iterate(ws)) yield row as Row;
}
