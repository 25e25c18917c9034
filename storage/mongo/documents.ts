import { type Binary, type Filter, MaxKey, type ObjectId } from 'mongodb';
import type { Kind, RecordKey } from '../../core/base/record.ts';
import { foldName } from '../../core/base/record.ts';
import type { CopyMark, MoveNote } from '../copy/move-note.ts';

/** Where a workspace stands: moved on by each write to it, in the transaction of that write. */
export interface WorkspaceDoc {
  /** The name of the workspace. */
  readonly _id: string;
  /** Entries in its log. */
  readonly size: number;
  readonly revision: number;
  /** The time of the newest entry. */
  readonly at: number;
  /** The peaks of the tree of its log, to which the next entry is added. */
  readonly peaks: readonly Bytes[];
  /** Which past revisions can still be read: those from here on, and those of `keep`. */
  readonly compacted: number;
  readonly keep: readonly number[];
  /** The database is being moved elsewhere, or was: whoever has it open still writes nothing more. */
  readonly moved?: true;
  /** The least schema that a version has to know to have it open: an earlier one would read or write it wrongly. */
  readonly needs?: number;
}

/** A name that was ever used and is known to history. Names are folded. */
export interface RecordDoc {
  readonly _id: { readonly ws: string; readonly kind: Kind; readonly name: string };
  /** The revision that wrote or deleted the record; `at` is the time of it. */
  readonly revision: number;
  readonly at: number;
  /** Present only for a live record, like the two fields below. */
  readonly body?: string;
  readonly uid?: string;
  readonly unique?: readonly string[];
}

/** A record as it was from one revision on, until a later one superseded it. */
export interface VersionDoc {
  readonly _id: RecordDoc['_id'] & { readonly revision: number };
  readonly at: number;
  readonly until: number;
  readonly untilAt: number;
  readonly body: string | Bytes;
  /** Set for a kind without history: the version stays until other control planes have heard of the change. */
  readonly expires?: Date;
}

/** An entry of the log of a workspace. */
export interface EntryDoc {
  readonly _id: { readonly ws: string; readonly seq: number };
  readonly at: number;
  /** In force from this entry on. */
  readonly revision: number;
  /** The same, of an entry that made the revision; events have none. */
  readonly commit?: number;
  /** The kinds of the records that a commit changed. */
  readonly kinds?: readonly Kind[];
  readonly actor: string;
  /** The hashes of the subtrees that end with this entry, by level, 32 bytes each; the first is its leaf. */
  readonly hashes: Bytes;
  /** The exact text, which the leaf is of. */
  readonly entry: string;
}

/** The last checkpoint of a day, which is counted from the epoch. */
export interface CheckpointDoc {
  readonly _id: { readonly ws: string; readonly day: number };
  readonly at: number;
  readonly size: number;
  readonly note: string;
}

export interface LeaseDoc {
  readonly _id: string;
  readonly holder: string | null;
  readonly fence: number;
  readonly expiresAt: number;
  /** Counts the transactions that were written under it: each meets a take-over at this document. */
  readonly writes?: number;
}

/** Processes that write to a workspace by turns, the first of which has the turn. */
export interface WriteQueueDoc {
  /** The name of the workspace. */
  readonly _id: string;
  /** `until` is by the clock of the server, which drops those that did not renew theirs. */
  readonly waiting: readonly { readonly ticket: ObjectId; readonly until: number }[];
}

/** State that control planes share beside the records; each document is removed some time after its end. */
interface ExpiringDoc {
  readonly gone: Date;
}

/** Expired documents stay so long, for the clock of the server may be ahead of that of a control plane. */
const CLEARED_MS = 3_600_000;

/** When the server clears something away. */
export function goneAfter(expiresAt: number): Date {
  return new Date(expiresAt + CLEARED_MS);
}

export interface CellDoc extends ExpiringDoc {
  /** The space, a colon and the key. */
  readonly _id: string;
  /** JSON. */
  readonly value: string;
  readonly expiresAt: number;
  readonly tags: readonly string[];
  /** Another with each write. */
  readonly stamp: ObjectId;
}

export interface CountDoc extends ExpiringDoc {
  readonly _id: string;
  readonly count: number;
}

/** A call of an agent or of a program. */
export interface CallDoc extends ExpiringDoc {
  readonly ws: string;
  readonly caller: string;
  readonly family: string;
  readonly seq: number;
  readonly text: string;
}

/** A message from one control plane to the others. */
export interface MessageDoc extends ExpiringDoc {
  readonly _id: ObjectId;
  /** Names the connection that it was posted by. */
  readonly from: string;
  readonly text: string;
}

/**
 * The schema of the collections, and the reason why no control plane may start on a database. Each is a document of its own.
 */
export interface SchemaDoc {
  readonly _id: 'schema' | 'moved' | 'copy';
  readonly version?: number;
  /** As of a workspace, for those that are made. */
  readonly needs?: number;
  /** Counts the workspaces that were made, and the moves: each two of them meet here. */
  readonly begun?: number;
  /** `run` is that of the process that copies. */
  readonly moved?: MoveNote & { readonly run?: string };
  readonly copy?: CopyMark & { readonly run: string };
}

/** The one document that says whose the database is. */
export interface InstallationDoc {
  readonly _id: 'installation';
  /** Names the keys that it is written with. */
  readonly keys?: string;
  readonly epoch: string;
  /** The collection that the epoch is of, which is another one in a database that was restored or copied. */
  readonly of: string;
}

/** Written as it is, read back as a Buffer. */
export type Bytes = Uint8Array | Binary;

export function bytesOf(bytes: Bytes): Uint8Array {
  return bytes instanceof Uint8Array ? bytes : bytes.value();
}

/** The order of the fields is part of an id. */
export function recordId(ws: string, { kind, name }: RecordKey): RecordDoc['_id'] {
  return { ws, kind, name: foldName(name) };
}

/** The names of a kind, in order. */
export function namesAfter(ws: string, kind: Kind, name = ''): Filter<RecordDoc> {
  return { _id: { $gt: recordId(ws, { kind, name }), $lt: { ws, kind, name: BEYOND } } };
}

/** All records of a workspace, or all that they were. */
export function everythingOf<Id extends RecordDoc['_id']>(ws: string): { readonly $gt: Id; readonly $lt: Id } {
  return { $gt: { ws } as Id, $lt: { ws, kind: BEYOND as Kind } as Id };
}

/** All of a log. */
export function entriesOf(ws: string): { readonly $gte: EntryDoc['_id']; readonly $lt: EntryDoc['_id'] } {
  return { $gte: entryId(ws, 0), $lt: entryId(ws, Number.POSITIVE_INFINITY) };
}

/** Comes after every text. */
const BEYOND = new MaxKey() as unknown as string;

export function versionId({ ws, kind, name }: RecordDoc['_id'], revision: number): VersionDoc['_id'] {
  return { ws, kind, name, revision };
}

export function entryId(ws: string, seq: number): EntryDoc['_id'] {
  return { ws, seq };
}

/** Returns the key of a record in a map. */
export function keyOf({ kind, name }: RecordKey): string {
  return `${kind}/${foldName(name)}`;
}
