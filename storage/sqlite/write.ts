import { isDeepStrictEqual } from 'node:util';
import { SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import type { Basis, Change, Commit, CommitContext, Op } from '../../core/base/ports.ts';
import { StoreError } from '../../core/base/ports.ts';
import { foldName, KINDS, type RecordDraft, type RecordKey, type StoredRecord } from '../../core/base/record.ts';
import { appendCommit, appendEvent } from './audit.ts';
import { type Body, bodyDigest, decodeBody, encodeBody, packBody } from './body.ts';
import type { Database } from './database.ts';
import { advance, ensureWorkspace, nextInstant, type WorkspaceRow } from './workspaces.ts';

/** Applies one batch inside the caller's savepoint. @throws StoreError when a precondition fails */
export function applyCommit(
  database: Database,
  name: string,
  ops: readonly Op[],
  context: CommitContext,
  now: number,
): Commit {
  const workspace = ensureWorkspace(database, name);
  const batch: Batch = {
    database,
    workspace,
    revision: workspace.revision + 1,
    at: nextInstant(workspace, now),
    written: new Map(),
    removed: new Map(),
  };
  const { securityEvents = [], basis, ...why } = context;
  if (basis) requireUnchanged(batch, basis);
  const written = ops.flatMap((op) => apply(batch, op) ?? []);
  const changes = written.map(({ change }) => change);
  const revision = changes.length > 0 ? batch.revision : workspace.revision;
  const commit: Commit = { ...why, workspace: name, revision, at: batch.at, changes };
  if (changes.length > 0)
    appendCommit(
      database,
      workspace,
      commit,
      written.map(({ digest }) => digest),
    );
  for (const event of securityEvents) {
    appendEvent(database, workspace, batch.at, { ...event, requestId: context.requestId });
  }
  if (changes.length > 0 || securityEvents.length > 0) advance(database, workspace, revision, batch.at);
  if (name !== SYSTEM_WORKSPACE) tellInstallation(database, commit, now);
  return commit;
}

/** What the audit log of the installation holds of a commit in a workspace: who is let in there. */
function tellInstallation(database: Database, commit: Commit, now: number): void {
  const told = commit.changes.filter(({ record }) => 'installation' in KINDS[record.kind]);
  if (told.length === 0) return;
  const { workspace, actor, reason, requestId } = commit;
  const changes = told.map(({ type, record: { kind, name } }) => ({ type, kind, name }));
  const installation = ensureWorkspace(database, SYSTEM_WORKSPACE);
  const at = nextInstant(installation, now);
  const detail = { workspace, reason, changes };
  appendEvent(database, installation, at, { type: 'members', actor, result: 'ok', requestId, detail });
  advance(database, installation, installation.revision, at);
}

interface Batch {
  readonly database: Database;
  readonly workspace: WorkspaceRow;
  readonly revision: number;
  readonly at: number;
  /** The last op on each key of this batch. */
  readonly written: Map<string, Change['type']>;
  /** By uid, what this batch has deleted: created again, perhaps under another name, it is the same record. */
  readonly removed: Map<string, StoredRecord>;
}

interface Row {
  readonly id: number;
  readonly revision: number;
  readonly body: string | null;
}

type LiveRow = Row & { readonly body: string };

interface Written {
  readonly change: Change;
  /** Of the body that is stored now. */
  readonly digest?: string;
}

function apply(batch: Batch, op: Op): Written | undefined {
  switch (op.op) {
    case 'create':
      return create(batch, op.record);
    case 'update':
      return update(batch, op.record, op.revision);
    case 'delete':
      return remove(batch, op.key, op.revision);
    case 'check': {
      const row = findRow(batch, op.key);
      if ((isLive(row) ? row.revision : 0) !== op.revision) throw new StoreError('conflict', subject(op.key));
      return undefined;
    }
    default:
      throw op satisfies never;
  }
}

/** @throws StoreError `changed` */
function requireUnchanged({ database, workspace }: Batch, { kinds, revision }: Basis): void {
  // Most often nothing was written at all; the table has no index by revision.
  if (workspace.revision === revision) return;
  for (const kind of kinds) {
    const newer = database
      .statement('SELECT 1 FROM record WHERE ws = ? AND kind = ? AND revision > ? LIMIT 1')
      .get(workspace.id, kind, revision);
    if (newer !== undefined) throw new StoreError('changed', kind);
  }
}

function create(batch: Batch, draft: RecordDraft): Written {
  const row = findRow(batch, draft);
  if (isLive(row)) throw new StoreError('already_exists', subject(draft));
  claim(batch, draft, 'created');
  refuseUsedId(batch, draft);
  const former = batch.removed.get(draft.uid);
  const text = encodeBody(draft, former ? nextBody(draft, former) : bodyOf(draft, batch.at, 1));
  const id = row === undefined ? insertRow(batch, draft, text) : writeRow(batch, row.id, draft.uid, text);
  takeUniqueValues(batch, id, draft.unique);
  const record = decodeBody(batch.workspace.name, draft.kind, batch.revision, text);
  return { change: { type: 'created', record }, digest: bodyDigest(text) };
}

function update(batch: Batch, draft: RecordDraft, read: number): Written {
  const { row, before } = supersede(batch, draft, read, 'updated');
  if (before.uid !== draft.uid) throw new StoreError('conflict', subject(draft));
  const text = encodeBody(draft, nextBody(draft, before));
  writeRow(batch, row.id, draft.uid, text);
  const record = decodeBody(batch.workspace.name, draft.kind, batch.revision, text);
  exchangeUniqueValues(batch, row.id, before, record);
  return { change: { type: 'updated', record, before }, digest: bodyDigest(text) };
}

function remove(batch: Batch, key: RecordKey, read: number | undefined): Written {
  const { row, before } = supersede(batch, key, read, 'deleted');
  writeRow(batch, row.id, null, null);
  releaseUniqueValues(batch, before.unique);
  batch.removed.set(before.uid, before);
  if (!KINDS[key.kind].history) {
    batch.database.statement('DELETE FROM record WHERE id = ?').run(row.id);
  }
  return { change: { type: 'deleted', record: before, before } };
}

/** Finds the live record a write replaces, checks what the writer read, and keeps the old version where history is kept. */
function supersede(
  batch: Batch,
  key: RecordKey,
  read: number | undefined,
  type: Change['type'],
): { row: LiveRow; before: StoredRecord } {
  const row = findRow(batch, key);
  if (!isLive(row)) throw new StoreError('not_found', subject(key));
  if (read !== undefined && row.revision !== read) throw new StoreError('conflict', subject(key));
  claim(batch, key, type);
  if (KINDS[key.kind].history) {
    batch.database
      .statement('INSERT INTO version (record, until, ws, revision, body) VALUES (?, ?, ?, ?, ?)')
      .run(row.id, batch.revision, batch.workspace.id, row.revision, packBody(row.body));
  }
  return { row, before: decodeBody(batch.workspace.name, key.kind, row.revision, row.body) };
}

/** Two versions of a key in one revision could not both be read back; only a re-creation has a meaning. */
function claim(batch: Batch, key: RecordKey, type: Change['type']): void {
  const id = `${key.kind}/${foldName(key.name)}`;
  const earlier = batch.written.get(id);
  if (earlier !== undefined && !(earlier === 'deleted' && type === 'created')) {
    throw new StoreError('conflict', `${subject(key)} is written twice in one batch`);
  }
  batch.written.set(id, type);
}

function nextBody(draft: RecordDraft, before: StoredRecord): Body {
  const same = isSameJson(draft.spec, before.spec) && isSameJson(draft.labels, before.labels);
  return bodyOf(draft, before.createdAt, same ? before.generation : before.generation + 1);
}

function bodyOf(draft: RecordDraft, createdAt: number, generation: number): Body {
  const { name, uid, labels, annotations, spec, status, unique } = draft;
  return { name, uid, labels, annotations, spec, status, unique, createdAt, generation };
}

/** Whether a draft's value will be stored as the value already there. */
function isSameJson(drafted: unknown, stored: unknown): boolean {
  const text = JSON.stringify(drafted);
  if (text === undefined || text === JSON.stringify(stored)) return drafted === stored || text !== undefined;
  return isDeepStrictEqual(JSON.parse(text), stored);
}

function findRow({ database, workspace }: Batch, key: RecordKey): Row | undefined {
  return database
    .statement<Row>('SELECT id, revision, body FROM record WHERE ws = ? AND kind = ? AND name = ?')
    .get(workspace.id, key.kind, foldName(key.name));
}

function isLive(row: Row | undefined): row is LiveRow {
  return row !== undefined && row.body !== null;
}

function insertRow({ database, workspace, revision }: Batch, draft: RecordDraft, body: string): number {
  const row = database
    .statement<{ id: number }>(
      'INSERT INTO record (ws, kind, name, uid, revision, body) VALUES (?, ?, ?, ?, ?, ?) RETURNING id',
    )
    .get(workspace.id, draft.kind, foldName(draft.name), draft.uid, revision, body);
  if (!row) throw new StoreError('unavailable', 'an insert answered no row');
  return row.id;
}

function writeRow({ database, revision }: Batch, id: number, uid: string | null, body: string | null): number {
  database.statement('UPDATE record SET uid = ?, revision = ?, body = ? WHERE id = ?').run(uid, revision, body, id);
  return id;
}

function refuseUsedId({ database, workspace }: Batch, draft: RecordDraft): void {
  const owner = database.statement('SELECT 1 FROM record WHERE ws = ? AND uid = ?').get(workspace.id, draft.uid);
  if (owner !== undefined) throw new StoreError('unique', draft.uid);
}

function exchangeUniqueValues(batch: Batch, id: number, before: StoredRecord, after: StoredRecord): void {
  if (isDeepStrictEqual(before.unique, after.unique)) return;
  releaseUniqueValues(batch, before.unique);
  takeUniqueValues(batch, id, after.unique);
}

function releaseUniqueValues({ database, workspace }: Batch, values: readonly string[]): void {
  for (const value of values) {
    database.statement('DELETE FROM unique_value WHERE value = ? AND ws = ?').run(value, workspace.id);
  }
}

function takeUniqueValues({ database, workspace }: Batch, id: number, values: readonly string[]): void {
  for (const value of new Set(values)) {
    const taken = database
      .statement('INSERT INTO unique_value (value, ws, record) VALUES (?, ?, ?) ON CONFLICT DO NOTHING')
      .run(value, workspace.id, id);
    if (taken === 0) throw new StoreError('unique', value);
  }
}

function subject(key: RecordKey): string {
  return `${key.kind}/${key.name}`;
}
