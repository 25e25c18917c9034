import { hashOfEntry } from '../../core/audit/leaf.ts';
import { GrowingTree, leafHash } from '../../core/audit/tree.ts';
import { nextInstant } from '../apply-batch.ts';
import { bodyDigest, type StoredBody } from '../body.ts';
import { appendEvent } from './audit.ts';
import type { Database } from './database.ts';
import { joinHashes } from './tree.ts';
import { advance, ensureWorkspace, type WorkspaceRow } from './workspaces.ts';

/** Records that one entry tells of; an entry stays below what an entry bundle holds. */
const RECORDS_PER_ENTRY = 200;
/** The type of the entry from which on the log witnesses contents (docs/audit.md#older-stores). */
export const WITNESSED = 'audit.witnessed';
/** The entry that names those whose text was not the one that the older version had hashed. */
export const LEAF_DIFFERED = 'audit.leaf_differed';

/**
 * Schema 2: each workspace has a log of its own, numbered from 0, whose entries keep the hashes of the subtrees that they
 * complete; the index by instant goes, as instants rise with the number. Entries stay as they were written, to the byte.
 * The entries of earlier commits do not state the contents of records, so separate entries record what is found.
 */
export function makeTrees(database: Database): void {
  database.exec(`
    DROP TRIGGER audit_is_never_changed;
    DROP TRIGGER audit_is_never_deleted;
    DROP INDEX audit_at;
    DROP INDEX audit_revision;
    ALTER TABLE audit RENAME TO audit_before;

    -- hashes: of the subtrees of the RFC 6962 tree that end with this entry, by level, 32 bytes each; the first is its leaf.
    CREATE TABLE audit (
      ws INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      at INTEGER NOT NULL,
      revision INTEGER,
      hashes BLOB NOT NULL,
      entry TEXT NOT NULL,
      PRIMARY KEY (ws, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX audit_revision ON audit (ws, revision) WHERE revision IS NOT NULL;

    -- The last checkpoint of each day; day is counted from the epoch.
    CREATE TABLE checkpoint (
      ws INTEGER NOT NULL,
      day INTEGER NOT NULL,
      at INTEGER NOT NULL,
      size INTEGER NOT NULL,
      note TEXT NOT NULL,
      PRIMARY KEY (ws, day)
    ) STRICT, WITHOUT ROWID;
  `);
  const differing = copyEntries(database);
  const workspaces = database.statement<WorkspaceRow>('SELECT * FROM workspace ORDER BY id').all();
  for (const workspace of workspaces) {
    witness(database, workspace);
    tellDiffering(database, workspace, differing.get(workspace.id) ?? []);
  }
  database.exec(`
    DROP TABLE audit_before;
    CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
      BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
    CREATE TRIGGER audit_is_never_deleted BEFORE DELETE ON audit
      BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
  `);
}

interface OldRow {
  readonly seq: number;
  readonly ws: number;
  readonly at: number;
  readonly revision: number | null;
  readonly entry: string;
  readonly leaf: Uint8Array;
}

/** @returns by workspace, the entries that do not belong to the hash that was stored with them */
function copyEntries(database: Database): ReadonlyMap<number, number[]> {
  const differing = new Map<number, number[]>();
  const trees = new Map<number, GrowingTree>();
  const next = database.statement<OldRow>('SELECT * FROM audit_before WHERE seq > ? ORDER BY seq LIMIT 1');
  for (let row = next.get(0); row; row = next.get(row.seq)) {
    const { ws, at, revision, entry, leaf } = row;
    const tree = trees.get(ws) ?? new GrowingTree();
    trees.set(ws, tree);
    const seq = tree.size;
    const hashes = tree.append(hashOfEntry(entry));
    if (Buffer.compare(leafHash(entry), leaf) !== 0) differing.set(ws, [...(differing.get(ws) ?? []), seq]);
    database
      .statement('INSERT INTO audit (ws, seq, at, revision, hashes, entry) VALUES (?, ?, ?, ?, ?, ?)')
      .run(ws, seq, at, revision, joinHashes(hashes), entry);
  }
  return differing;
}

function tellDiffering(database: Database, { name }: WorkspaceRow, entries: readonly number[]): void {
  for (let from = 0; from < entries.length; from += RECORDS_PER_ENTRY) {
    const workspace = ensureWorkspace(database, name);
    const at = nextInstant(workspace, Date.now());
    const detail = { entries: entries.slice(from, from + RECORDS_PER_ENTRY) };
    appendEvent(database, workspace, at, { type: LEAF_DIFFERED, actor: 'system:upgrade', result: 'refused', detail });
    advance(database, workspace, workspace.revision, at);
  }
}

interface StoredVersion {
  readonly id: number;
  readonly kind: string;
  readonly name: string;
  readonly revision: number;
  readonly body: StoredBody;
}

/** Tells what all live records and kept versions of a workspace hold. */
function witness(database: Database, workspace: WorkspaceRow): void {
  const at = nextInstant(workspace, Date.now());
  let records: object[] = [];
  const tell = () => {
    const detail = { revision: workspace.revision, records };
    appendEvent(database, workspace, at, { type: WITNESSED, actor: 'system:upgrade', result: 'ok', detail });
    records = [];
  };
  for (const { kind, name, revision, body } of storedVersionsOf(database, workspace)) {
    records.push({ kind, name, revision, digest: bodyDigest(body) });
    if (records.length === RECORDS_PER_ENTRY) tell();
  }
  tell();
  advance(database, workspace, workspace.revision, at);
}

function* storedVersionsOf(database: Database, { id: ws }: WorkspaceRow): Generator<StoredVersion> {
  const records = database.statement<StoredVersion>(
    'SELECT id, kind, name, revision, body FROM record WHERE ws = ? AND id > ? ORDER BY id LIMIT 1',
  );
  for (let record = records.get(ws, 0); record; record = records.get(ws, record.id)) {
    const { id, kind, name, body } = record;
    const versions = database.statement<Pick<StoredVersion, 'revision' | 'body'>>(
      'SELECT revision, body FROM version WHERE record = ? ORDER BY until',
    );
    for (const version of versions.all(id)) yield { id, kind, name, ...version };
    if (body !== null) yield record;
  }
}
