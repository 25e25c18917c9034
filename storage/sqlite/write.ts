import type { Commit, CommitContext, Op } from '../../core/base/ports.ts';
import { StoreError } from '../../core/base/ports.ts';
import {
  foldName,
  KINDS,
  partsOfGroup,
  type RecordDraft,
  type RecordGroup,
  type RecordKey,
} from '../../core/base/record.ts';
import { applyBatch, nextInstant, type Row, type Rows } from '../apply-batch.ts';
import { packBody } from '../body.ts';
import { appendEntry, appendEvent } from './audit.ts';
import type { Database } from './database.ts';
import { requireFence } from './lease.ts';
import { advance, ensureWorkspace, type WorkspaceRow } from './workspaces.ts';

/** Applies one batch inside the caller's savepoint. @throws StoreError when a precondition fails */
export function applyCommit(
  database: Database,
  name: string,
  ops: readonly Op[],
  context: CommitContext,
  now: number,
): Commit {
  if (context.fence) requireFence(database, context.fence);
  const workspace = ensureWorkspace(database, name);
  const rows = new RecordRows(database, workspace.id, workspace.revision + 1);
  const { commit, entries, told } = applyBatch(rows, workspace, ops, context, now);
  for (const entry of entries) appendEntry(database, workspace, entry);
  if (entries.length > 0) advance(database, workspace, commit.revision, commit.at);
  for (const { workspace: other, event } of told) {
    const log = ensureWorkspace(database, other);
    const at = nextInstant(log, now);
    appendEvent(database, log, at, event);
    advance(database, log, log.revision, at);
  }
  return commit;
}

interface RecordRow extends Row {
  readonly id: number;
}

class RecordRows implements Rows<RecordRow> {
  readonly #database: Database;
  readonly #workspace: WorkspaceRow['id'];
  readonly #revision: number;

  constructor(database: Database, workspace: WorkspaceRow['id'], revision: number) {
    this.#database = database;
    this.#workspace = workspace;
    this.#revision = revision;
  }

  find({ kind, name }: RecordKey): RecordRow | undefined {
    return this.#database
      .statement<RecordRow>('SELECT id, revision, body FROM record WHERE ws = ? AND kind = ? AND name = ?')
      .get(this.#workspace, kind, foldName(name));
  }

  hasId(uid: string): boolean {
    const owner = this.#database.statement('SELECT 1 FROM record WHERE ws = ? AND uid = ?').get(this.#workspace, uid);
    return owner !== undefined;
  }

  hasNewer(group: RecordGroup, revision: number): boolean {
    const { kind, prefix } = partsOfGroup(group);
    // The table has no index by revision.
    const newer = this.#database
      .statement('SELECT 1 FROM record WHERE ws = ? AND kind = ? AND revision > ? AND substr(name, 1, ?) = ? LIMIT 1')
      .get(this.#workspace, kind, revision, prefix.length, prefix);
    return newer !== undefined;
  }

  put(before: RecordRow | undefined, draft: RecordDraft, body: string): RecordRow {
    if (before) {
      this.#write(before.id, draft.uid, body);
      return before;
    }
    const row = this.#database
      .statement<RecordRow>(
        'INSERT INTO record (ws, kind, name, uid, revision, body) VALUES (?, ?, ?, ?, ?, ?) RETURNING id',
      )
      .get(this.#workspace, draft.kind, foldName(draft.name), draft.uid, this.#revision, body);
    if (!row) throw new StoreError('unavailable', 'an insert answered no row');
    return row;
  }

  keep({ id, revision, body }: RecordRow & { readonly body: string }, { kind }: RecordKey): void {
    if (!KINDS[kind].history) return;
    this.#database
      .statement('INSERT INTO version (record, until, ws, revision, body) VALUES (?, ?, ?, ?, ?)')
      .run(id, this.#revision, this.#workspace, revision, packBody(body));
  }

  remove({ id }: RecordRow, { kind }: RecordKey): void {
    if (KINDS[kind].history) this.#write(id, null, null);
    else this.#database.statement('DELETE FROM record WHERE id = ?').run(id);
  }

  release(values: readonly string[]): void {
    for (const value of values) {
      this.#database.statement('DELETE FROM unique_value WHERE value = ? AND ws = ?').run(value, this.#workspace);
    }
  }

  take({ id }: RecordRow, value: string): boolean {
    const taken = this.#database
      .statement('INSERT INTO unique_value (value, ws, record) VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
      .run(value, this.#workspace, id);
    return taken > 0;
  }

  #write(id: number, uid: string | null, body: string | null): void {
    this.#database
      .statement('UPDATE record SET uid = ?, revision = ?, body = ? WHERE id = ?')
      .run(uid, this.#revision, body, id);
  }
}
