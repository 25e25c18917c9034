import { isDeepStrictEqual } from 'node:util';
import { fieldChanges } from '../core/base/field-changes.ts';
import { SYSTEM_WORKSPACE } from '../core/base/ids.ts';
import type { AuditEntry, Change, Commit, CommitContext, Op, ReadSet, SecurityEvent } from '../core/base/ports.ts';
import { StoreError } from '../core/base/ports.ts';
import {
  foldName,
  KINDS,
  type RecordDraft,
  type RecordGroup,
  type RecordKey,
  type StoredRecord,
} from '../core/base/record.ts';
import { type Body, bodyDigest, decodeBody, encodeBody } from './body.ts';

/** The current or deleted record at a name, for every used name that history still covers. */
export interface Row {
  /** The revision that wrote or deleted the record. */
  readonly revision: number;
  /** The stored body of a live record; null for a deleted one. */
  readonly body: string | null;
}

type Live<R> = R & { readonly body: string };

/** The records of one workspace, as a batch reads and writes them. Of a batch that fails the store undoes what was written. */
export interface Rows<R extends Row> {
  find(key: RecordKey): R | undefined;
  /** True if a live record has this id. */
  hasId(uid: string): boolean;
  /** True if a record of the group was written after a revision, or deleted after it where its history is kept. */
  hasNewer(group: RecordGroup, revision: number): boolean;
  /** Writes a live record over what was at its name. */
  put(before: R | undefined, draft: RecordDraft, body: string): R;
  /** Keeps a live version that is about to be written over. */
  keep(before: Live<R>, key: RecordKey): void;
  remove(before: Live<R>, key: RecordKey): void;
  release(values: readonly string[]): void;
  /** @returns whether the value was free */
  take(row: R, value: string): boolean;
}

/** Where a workspace stands before a batch. */
interface WorkspacePosition {
  readonly name: string;
  readonly revision: number;
  /** The time of its newest commit or event. */
  readonly at: number;
}

/** The content of a batch's audit log entry, without the entry number. */
export type Entry = Omit<AuditEntry, 'seq'>;

export interface BatchResult {
  readonly commit: Commit;
  /** For the log of the workspace, in order. */
  readonly entries: readonly Entry[];
  /** For the logs of others: what happens to who is let in is told the installation, what happens to its settings a workspace. */
  readonly told: readonly CrossLogEvent[];
}

/** An event for the log of another workspace than the commit's. */
export interface CrossLogEvent {
  readonly workspace: string;
  readonly event: SecurityEvent & { readonly requestId: string };
}

/** The instant of the next entry: the clock, but never before the last one. */
export function nextInstant({ at }: Pick<WorkspacePosition, 'at'>, now: number): number {
  return Math.max(now, at);
}

/** Judges a batch and writes its records. @throws StoreError when a precondition fails */
export function applyBatch<R extends Row>(
  rows: Rows<R>,
  workspace: WorkspacePosition,
  ops: readonly Op[],
  context: CommitContext,
  now: number,
): BatchResult {
  const { name } = workspace;
  const batch: Batch<R> = {
    rows,
    workspace: name,
    revision: workspace.revision + 1,
    at: nextInstant(workspace, now),
    written: new Map(),
    removed: new Map(),
  };
  const { securityEvents = [], readSet, fence: _, decided: __, ordered: ___, requireTimely, ...why } = context;
  requireTimely?.();
  if (readSet) requireUnchanged(rows, workspace, readSet);
  const written = ops.flatMap((op) => apply(batch, op) ?? []);
  const changes = written.map(({ change }) => change);
  const revision = changes.length > 0 ? batch.revision : workspace.revision;
  const commit: Commit = { ...why, workspace: name, revision, at: batch.at, changes };
  const entries = securityEvents.map((event) => eventEntry(name, batch.at, { ...event, requestId: why.requestId }));
  if (changes.length > 0) entries.unshift(commitEntry(commit, written));
  return { commit, entries, told: name === SYSTEM_WORKSPACE ? workspaceEvents(commit) : installationEvents(commit) };
}

export function eventEntry(
  workspace: string,
  at: number,
  event: SecurityEvent & { readonly requestId?: string },
): Entry {
  return { at, workspace, actor: event.actor, type: 'event', event };
}

function commitEntry({ changes: _, workspace, ...rest }: Commit, written: readonly WriteResult[]): Entry {
  const changes = written.map(({ change, digest }) => {
    const { fields, ...named } = withFields(change);
    const { uid } = change.record;
    return { ...named, uid, ...(digest !== undefined && { digest }), ...(fields && { fields }) };
  });
  return { at: rest.at, workspace, actor: rest.actor, type: 'commit', commit: { ...rest, changes } };
}

/** Returns the workspaces in whose logs a write of the installation stands too; stores load these first. */
export function crossLoggedWorkspaces(op: Op): readonly string[] {
  return op.op === 'update' && op.record.kind === 'Workspace' ? [op.record.uid] : [];
}

/** Returns the entry in the installation's log for a workspace commit that changes who has access to the workspace. */
function installationEvents({ workspace, changes, ...why }: Commit): readonly CrossLogEvent[] {
  const told = changes.filter(({ record }) => 'installation' in KINDS[record.kind]);
  if (told.length === 0) return [];
  const detail = { workspace, reason: why.reason, changes: told.map(withFields) };
  return [{ workspace: SYSTEM_WORKSPACE, event: crossLogEvent('members', why, detail) }];
}

/** Entry for the audit log of a workspace when the installation changes its settings. */
function workspaceEvents({ changes, ...why }: Commit): readonly CrossLogEvent[] {
  const told = changes.filter(({ type, record }) => type === 'updated' && record.kind === 'Workspace');
  return told.map((change) => ({
    workspace: change.record.uid,
    event: crossLogEvent('settings', why, { reason: why.reason, changes: [withFields(change)] }),
  }));
}

function crossLogEvent(
  type: string,
  { actor, requestId }: Pick<Commit, 'actor' | 'requestId'>,
  detail: NonNullable<SecurityEvent['detail']>,
): CrossLogEvent['event'] {
  return { type, actor, result: 'ok', requestId, detail };
}

function withFields(change: Change) {
  const { kind, name } = change.record;
  const fields = fieldChanges(change);
  return { type: change.type, kind, name, ...(fields.length > 0 && { fields }) };
}

interface Batch<R extends Row> {
  readonly rows: Rows<R>;
  readonly workspace: string;
  readonly revision: number;
  readonly at: number;
  /** The last op on each key of this batch. */
  readonly written: Map<string, Change['type']>;
  /** By uid, what this batch has deleted: created again, perhaps under another name, it is the same record. */
  readonly removed: Map<string, StoredRecord>;
}

interface WriteResult {
  readonly change: Change;
  /** The digest of the body that is stored now. */
  readonly digest?: string;
}

function apply<R extends Row>(batch: Batch<R>, op: Op): WriteResult | undefined {
  switch (op.op) {
    case 'create':
      return create(batch, op.record);
    case 'update':
      return update(batch, op.record, op.revision);
    case 'delete':
      return remove(batch, op.key, op.revision);
    case 'check': {
      const row = batch.rows.find(op.key);
      if ((isLive(row) ? row.revision : 0) !== op.revision) throw new StoreError('conflict', subject(op.key));
      return undefined;
    }
    default:
      throw op satisfies never;
  }
}

/** @throws StoreError `changed` */
function requireUnchanged<R extends Row>(
  rows: Rows<R>,
  workspace: WorkspacePosition,
  { groups, revision }: ReadSet,
): void {
  // Most often nothing was written at all.
  if (workspace.revision === revision) return;
  for (const group of groups) if (rows.hasNewer(group, revision)) throw new StoreError('changed', group);
}

function create<R extends Row>(batch: Batch<R>, draft: RecordDraft): WriteResult {
  const row = batch.rows.find(draft);
  if (isLive(row)) throw new StoreError('already_exists', subject(draft));
  claim(batch, draft, 'created');
  if (batch.rows.hasId(draft.uid)) throw new StoreError('unique', draft.uid);
  const former = batch.removed.get(draft.uid);
  const text = encodeBody(draft, former ? nextBody(draft, former) : bodyOf(draft, batch.at, 1));
  takeAll(batch.rows, batch.rows.put(row, draft, text), draft.unique);
  const record = decodeBody(batch.workspace, draft.kind, batch.revision, text);
  return { change: { type: 'created', record }, digest: bodyDigest(text) };
}

function update<R extends Row>(batch: Batch<R>, draft: RecordDraft, read: number): WriteResult {
  const { row, before } = supersede(batch, draft, read, 'updated');
  if (before.uid !== draft.uid) throw new StoreError('conflict', subject(draft));
  const text = encodeBody(draft, nextBody(draft, before), before);
  const written = batch.rows.put(row, draft, text);
  const record = decodeBody(batch.workspace, draft.kind, batch.revision, text);
  if (!isDeepStrictEqual(before.unique, record.unique)) {
    batch.rows.release(before.unique);
    takeAll(batch.rows, written, record.unique);
  }
  return { change: { type: 'updated', record, before }, digest: bodyDigest(text) };
}

function remove<R extends Row>(batch: Batch<R>, key: RecordKey, read: number | undefined): WriteResult {
  const { row, before } = supersede(batch, key, read, 'deleted');
  batch.rows.remove(row, key);
  batch.rows.release(before.unique);
  batch.removed.set(before.uid, before);
  return { change: { type: 'deleted', record: before, before } };
}

/** Finds the live record a write replaces, checks what the writer read, and keeps the old version. */
function supersede<R extends Row>(
  batch: Batch<R>,
  key: RecordKey,
  read: number | undefined,
  type: Change['type'],
): { row: Live<R>; before: StoredRecord } {
  const row = batch.rows.find(key);
  if (!isLive(row)) throw new StoreError('not_found', subject(key));
  if (read !== undefined && row.revision !== read) throw new StoreError('conflict', subject(key));
  claim(batch, key, type);
  batch.rows.keep(row, key);
  return { row, before: decodeBody(batch.workspace, key.kind, row.revision, row.body) };
}

/** Two versions of a key in one revision could not both be read back; only a re-creation has a meaning. */
function claim<R extends Row>({ written }: Batch<R>, key: RecordKey, type: Change['type']): void {
  const id = `${key.kind}/${foldName(key.name)}`;
  const earlier = written.get(id);
  if (earlier !== undefined && !(earlier === 'deleted' && type === 'created')) {
    throw new StoreError('conflict', `${subject(key)} is written twice in one batch`);
  }
  written.set(id, type);
}

function takeAll<R extends Row>(rows: Rows<R>, row: R, values: readonly string[]): void {
  for (const value of new Set(values)) if (!rows.take(row, value)) throw new StoreError('unique', value);
}

function nextBody(draft: RecordDraft, before: StoredRecord): Body {
  const same = isSameJson(draft.spec, before.spec) && isSameJson(draft.labels, before.labels);
  return bodyOf(draft, before.createdAt, same ? before.generation : before.generation + 1);
}

function bodyOf(draft: RecordDraft, createdAt: number, generation: number): Body {
  const { name, uid, labels, annotations, spec, status, unique } = draft;
  return { name, uid, labels, annotations, spec, status, unique, createdAt, generation };
}

/** True if a draft's value serializes to the value that is already stored. */
function isSameJson(drafted: unknown, stored: unknown): boolean {
  const text = JSON.stringify(drafted);
  if (text === undefined || text === JSON.stringify(stored)) return drafted === stored || text !== undefined;
  return isDeepStrictEqual(JSON.parse(text), stored);
}

function isLive<R extends Row>(row: R | undefined): row is Live<R> {
  return row !== undefined && row.body !== null;
}

function subject(key: RecordKey): string {
  return `${key.kind}/${key.name}`;
}
