import type { AnyBulkWriteOperation, Document } from 'mongodb';
import type { AuditEntry } from '../../core/base/ports.ts';
import type { Part, Rows } from '../copy/contents.ts';
import { unavailable } from '../unavailable.ts';
import {
  type CheckpointDoc,
  type EntryDoc,
  entryId,
  type RecordDoc,
  recordId,
  type VersionDoc,
  versionId,
} from './documents.ts';

type RowWriter<P extends Part> = (ws: string, rows: readonly Rows[P][]) => AnyBulkWriteOperation[];

/** Rows of a copy as writes that can be made twice. */
export const ROW_WRITERS: { readonly [P in Part]: RowWriter<P> } = {
  log: (ws, rows) => rows.map((row) => put(entryOf(ws, row))),
  records: (ws, rows) =>
    rows.map(({ kind, name, uid, revision, at, body, unique }) =>
      put({
        _id: recordId(ws, { kind, name }),
        revision,
        at,
        ...(body !== undefined && { body }),
        ...(uid !== undefined && { uid }),
        ...(unique.length > 0 && { unique }),
      } satisfies RecordDoc),
    ),
  versions: (ws, rows) =>
    rows.map(({ kind, name, revision, at, until, untilAt, body }) =>
      put({ _id: versionId({ ws, kind, name }, revision), at, until, untilAt, body } satisfies VersionDoc),
    ),
  checkpoints: (ws, rows) =>
    rows.map(({ day, at, size, note }) => put({ _id: { ws, day }, at, size, note } satisfies CheckpointDoc)),
};

function put({ _id, ...replacement }: Document): AnyBulkWriteOperation {
  return { replaceOne: { filter: { _id }, replacement, upsert: true } };
}

/** @throws StoreError `unavailable` for a text that is no entry */
function entryOf(ws: string, { seq, at, commit, revision, hashes, entry }: Rows['log']): EntryDoc {
  const { actor, commit: logged } = parsed(ws, seq, entry);
  return {
    _id: entryId(ws, seq),
    at,
    revision,
    ...(commit !== undefined && { commit, kinds: [...new Set(logged?.changes.map(({ kind }) => kind))] }),
    actor,
    hashes,
    entry,
  };
}

function parsed(ws: string, seq: number, text: string): Omit<AuditEntry, 'seq'> {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unavailable(`entry ${seq} of the log of ${ws} cannot be read: mesh audit verify says more`, cause);
  }
}
