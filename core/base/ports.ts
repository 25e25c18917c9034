import type { Kind, RecordDraft, RecordGroup, RecordKey, StoredRecord } from './record.ts';
import type { WriteQueue } from './write-queue.ts';

/** Ports of core to the outside. Edges implement these; core never imports an edge. */

/** Milliseconds since the epoch. */
export interface Clock {
  now(): number;
}

type Fields = Readonly<Record<string, unknown>>;

/** error = a promise to users is broken; warn = wakes someone; info = a change users notice; debug = a decision. */
export interface Log {
  error(fields: Fields, message: string): void;
  warn(fields: Fields, message: string): void;
  info(fields: Fields, message: string): void;
  debug(fields: Fields, message: string): void;
}

/**
 * A write of a batch. `revision` is the version the writer read: another one in the store is a conflict. Ops apply in order; a
 * batch writes a key once, except that it may delete and then create it.
 */
export type Op =
  | { readonly op: 'create'; readonly record: RecordDraft }
  /** `uid` must be that of the stored record: a name that was taken again is a conflict too. */
  | { readonly op: 'update'; readonly record: RecordDraft; readonly revision: number }
  | { readonly op: 'delete'; readonly key: RecordKey; readonly revision?: number }
  /** Writes nothing; the batch fails unless the record is at `revision` (0 = absent). */
  | { readonly op: 'check'; readonly key: RecordKey; readonly revision: number };

/** YAML 1.2 text to plain values. */
export interface Yaml {
  /** The documents of a stream, empty ones left out. @throws YamlError with the line, also for text made to be costly */
  parse(text: string): unknown[];
}

/** Text that is no YAML, or none that is read. The message says where. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
}

/** Actor, reason and origin of a commit; stored for ever in the audit log. */
export interface CommitContext {
  /** `user:<name>`, `agent:<name>`, `device:<name>`, `system:<job>`. */
  readonly actor: string;
  readonly reason: string;
  readonly requestId: string;
  /** The workflow that approved this change. */
  readonly approval?: { readonly workflowId: string; readonly reviewedBy: string };
  /** True for an operator's write that passed no approval workflow (docs/delegation.md#who-approves-two-persons). */
  readonly direct?: boolean;
  readonly securityEvents?: readonly SecurityEvent[];
  /** Lets in who can make room: it may use the last of the disk reserve (`core/base/reserve.ts`). Not kept. */
  readonly fromReserve?: boolean;
  /** The read set of the batch; not stored. */
  readonly readSet?: ReadSet;
  /** True where the commit carries out what a person approved; its requester may have ended since. Not stored. */
  readonly isApproved?: boolean;
  /**
   * Set where the commit finishes what a commit in the log began, so that nobody approves it once more. `earlier`: another call
   * decided it, so it does not show whether this one was carried out. Not stored.
   */
  readonly decided?: 'now' | 'earlier';
  /** Throws where its author may not make it now, as they alone can tell: asked once no approval is missing. Not stored. */
  readonly requireAtCommit?: () => void | Promise<void>;
  /** The policies among its records that are written for orders, by name, and the id of who gave them. Not stored. */
  readonly ordered?: { readonly by: string; readonly policies: readonly string[] };
  /** The revision at which its author found that the network stays light enough to compute with it. Not stored. */
  readonly weighedAt?: number;
  /** The lease of a writer that must still hold it. Not stored. */
  readonly fence?: Fence;
  /** Throws where a call may no longer begin to write; asked before each attempt. Not kept. */
  readonly requireTimely?: (() => void) | undefined;
}

/**
 * The lease that a writer holds, as it was acquired. StoreError `fenced` where it was released or has passed to another
 * holder since: a commit and a take-over of its lease exclude each other.
 */
export interface Fence {
  readonly lease: string;
  readonly fence: number;
}

/**
 * All records of some groups as they were at a revision. StoreError `changed` where one was written since, or deleted, if
 * history is kept of it: what was concluded from them need not be so any more.
 */
export interface ReadSet {
  readonly groups: readonly RecordGroup[];
  readonly revision: number;
}

/** Something an auditor asks for that may change no record: a login, a refusal, a token use. Never holds a secret. */
export interface SecurityEvent {
  readonly type: string;
  readonly actor: string;
  readonly result: 'ok' | 'refused';
  /** Source address of the caller, where there is one. */
  readonly origin?: string;
  readonly detail?: Readonly<Record<string, unknown>>;
}

export interface Change<K extends Kind = Kind> {
  readonly type: 'created' | 'updated' | 'deleted';
  /** The record after the change; for a deletion, as it was before. */
  readonly record: StoredRecord<K>;
  /** The record before the change; absent for a creation. */
  readonly before?: StoredRecord<K>;
}

export interface Commit
  extends Omit<
    CommitContext,
    | 'securityEvents'
    | 'readSet'
    | 'decided'
    | 'requireAtCommit'
    | 'weighedAt'
    | 'ordered'
    | 'requireTimely'
    | 'fromReserve'
    | 'fence'
  > {
  readonly workspace: string;
  readonly revision: number;
  /** Never decreases from one revision to the next: max(now, last). */
  readonly at: number;
  /** In the order of the batch. `commits` and `watch` list changes of kinds with kept history only. */
  readonly changes: readonly Change[];
}

/** A field before and after a change, as text. A secret has neither value; only the change itself is recorded. */
export interface FieldChange {
  /** A field inside another is named by its path: `compliance.secondPerson`. */
  readonly field: string;
  /** Absent where there was none. */
  readonly from?: string | undefined;
  /** Absent where there is none any more. */
  readonly to?: string | undefined;
  readonly isSecret?: true | undefined;
}

/** A commit or a lone security event, as the audit log lists it. */
export interface AuditEntry {
  /** Position in the log of the workspace, from 0 on, without a gap. */
  readonly seq: number;
  readonly at: number;
  readonly workspace: string;
  readonly actor: string;
  readonly type: 'commit' | 'event';
  readonly commit?: Omit<Commit, 'changes' | 'workspace'> & {
    readonly changes: readonly {
      readonly type: Change['type'];
      readonly kind: Kind;
      readonly name: string;
      readonly uid: string;
      /** SHA-256 of the record as it is stored, in hexadecimal; of a deletion there is none, nor of commits before schema 2. */
      readonly digest?: string;
      /** The values that a record of a kind without history lost and got. */
      readonly fields?: readonly FieldChange[];
    }[];
  };
  readonly event?: SecurityEvent & { readonly requestId?: string };
}

export interface AuditQuery {
  readonly from?: number;
  readonly to?: number;
  /** Any of these, such as `user:ada`. */
  readonly actors?: readonly string[];
  readonly kind?: Kind;
  readonly name?: string;
  readonly type?: 'commit' | 'event';
  /** `system`: what jobs of the control plane wrote; `caller`: what anyone else did, an operator at the host too. */
  readonly author?: 'caller' | 'system';
  /** `seq` of the last entry already seen; entries come newest first. */
  readonly before?: number;
  readonly limit: number;
}

/** The complete subtree over the 2^level entries from index * 2^level on, in the Merkle tree of an audit log. */
export interface HashId {
  readonly level: number;
  readonly index: number;
}

/** A signed statement of the size and root of a log (core/audit/checkpoint.ts). */
export interface StoredCheckpoint {
  readonly at: number;
  readonly size: number;
  readonly note: string;
}

/** The audit log of one workspace as a Merkle tree (core/audit/tree.ts), whose leaves are its entries. */
export interface AuditTree {
  /** Entries so far. */
  size(): Promise<number>;
  /** StoreError `not_found` for a subtree that is not complete. */
  hashes(ids: readonly HashId[]): Promise<readonly Uint8Array[]>;
  /** The exact texts of entries from an index on; what is hashed of one says `leafDataOf` of core/audit/leaf.ts. */
  entries(from: number, limit: number): Promise<readonly string[]>;
  /** Stores a checkpoint; of each day only the last one stays. */
  keepCheckpoint(checkpoint: StoredCheckpoint): Promise<void>;
  /** Newest first. */
  checkpoints(limit: number): Promise<readonly StoredCheckpoint[]>;
}

/**
 * Where in the past a read stands: a revision, or the one in force at an instant. Absent = now; ahead of now reads as now.
 * StoreError `compacted` where the revision is no longer kept, or for a kind without kept history.
 */
export type AsOf = { readonly revision: number } | { readonly at: number };

export interface ListQuery {
  /** Name of the last record already seen; records come in the order of their names. */
  readonly after?: string;
  /** No limit when absent. */
  readonly limit?: number;
  readonly asOf?: AsOf;
}

/** Revisions after `after` up to `upTo`. */
export interface VersionQuery {
  readonly after: number;
  readonly upTo: number;
  readonly name?: string;
}

/** A version of a record as a revision wrote it; without `record` where the revision deleted it. */
export interface RecordVersion<K extends Kind = Kind> {
  readonly name: string;
  readonly revision: number;
  readonly at: number;
  readonly record?: StoredRecord<K>;
}

export interface ListPage<K extends Kind = Kind> {
  readonly items: readonly StoredRecord<K>[];
  /** The revision this page shows; a watch from here misses nothing. */
  readonly revision: number;
  readonly next?: string;
}

export interface LeaseState {
  readonly name: string;
  /** Absent where it is free: released, or over. */
  readonly holder?: string;
}

/** Fails with StoreError: see its codes. One writer wins; nothing is ever half-written. */
export interface Store {
  /** All or nothing; durable and seen by every read and `onCommit` listener once it resolves. A batch that changes nothing (checks, events only) makes no revision and answers the current one. */
  commit(workspace: string, ops: readonly Op[], context: CommitContext): Promise<Commit>;
  readonly queue: WriteQueue;
  /**
   * In the store of one caller: asks the stages of a write that judge it. Writes nothing.
   *
   * @returns the reasons for which a person would have to approve it; none where it would be made at once
   * @throws what `commit` would, where nobody may permit the caller this write
   */
  trial?(workspace: string, ops: readonly Op[], requestId: string): Promise<readonly string[]>;
  get<K extends Kind>(workspace: string, key: RecordKey<K>, asOf?: AsOf): Promise<StoredRecord<K> | undefined>;
  /** By a value of `unique`. Without a workspace only for values unguessable by construction, such as token hashes. */
  lookup(unique: string, workspace?: string): Promise<StoredRecord | undefined>;
  /** By `uid`, live records only. */
  getById<K extends Kind>(workspace: string, kind: K, uid: string): Promise<StoredRecord<K> | undefined>;
  list<K extends Kind>(workspace: string, kind: K, query?: ListQuery): Promise<ListPage<K>>;
  /** Every kept version of a record, oldest first; a deletion is an entry without `record`. */
  history<K extends Kind>(
    workspace: string,
    key: RecordKey<K>,
  ): Promise<readonly { readonly revision: number; readonly at: number; readonly record?: StoredRecord<K> }[]>;
  /**
   * Returns the versions that a span of revisions wrote to the records of a kind, or to the record of a name, by revision. The
   * cost depends on the answer, not on the commits between. StoreError `compacted` where the versions are no longer stored, or
   * for a kind without stored history.
   */
  versions<K extends Kind>(workspace: string, kind: K, query: VersionQuery): Promise<readonly RecordVersion<K>[]>;
  /** The oldest revision from which on all are kept, and when it came into force; undefined before the first commit. */
  keptFrom(workspace: string): Promise<{ readonly revision: number; readonly at: number } | undefined>;
  /** The newest revision, 0 before the first commit. */
  revision(workspace: string): Promise<number>;
  /** The revision in force at an instant and how long it was; undefined before history begins or where it is no longer kept. */
  revisionAt(
    workspace: string,
    at: number,
  ): Promise<{ readonly revision: number; readonly from: number; readonly to?: number } | undefined>;
  /** Commits after `from`, in order, without a gap, with their changes. StoreError `compacted` when they are gone: list again. */
  commits(workspace: string, from: number, limit: number): Promise<readonly Commit[]>;
  /** As `commits`, and then each new one as it happens, until the signal aborts. StoreError `unavailable` when the store closes. */
  watch(workspace: string, from: number, signal: AbortSignal): AsyncIterable<Commit>;
  /** Every commit of every workspace as it happens in this process or another, with the changes of every kind; for caches and pushes. */
  onCommit(listener: (commit: Commit) => void): () => void;
  /**
   * Resolves once `onCommit` of this process has been told of every commit to these workspaces that was acknowledged before
   * the call, by whatever process. Fails with `unavailable` where that cannot be known.
   */
  caughtUp(workspaces: readonly string[]): Promise<void>;
  /** Workspaces of which `onCommit` could not be told the last time that somebody else wrote in them: their log is damaged. */
  damaged(): readonly string[];
  record(workspace: string, events: readonly (SecurityEvent & { readonly requestId?: string })[]): Promise<void>;
  audit(workspace: string, query: AuditQuery): Promise<readonly AuditEntry[]>;
  /** The same log, as others verify it. */
  auditTree(workspace: string): AuditTree;
  /**
   * Drops versions superseded at or before `upTo`, but none still in force at a revision of `keep`, which replaces
   * the list of the last call. Reads between the two answer `compacted` from then on. Under a fence each part of it stands
   * only if the lease is still held then: StoreError `fenced`.
   * @returns versions dropped
   */
  compact(workspace: string, upTo: number, keep: readonly number[], fence?: Fence): Promise<number>;
  workspaces(): Promise<readonly string[]>;
  /** Bytes that the versions written after `after` up to `upTo` take as history, audit log apart; what a snapshot adds. */
  sizeBetween(workspace: string, after: number, upTo: number): Promise<number>;
  /** A lock with a fence that rises with each change of holder. Undefined while another holds it. */
  acquire(
    name: string,
    holder: string,
    ttlMs: number,
  ): Promise<{ readonly fence: number; readonly expiresAt: number } | undefined>;
  /** Extends all that one holder has in one write. False where it no longer has one of them, by its fence. */
  renew(held: readonly Fence[], holder: string, ttlMs: number): Promise<boolean>;
  release(name: string, holder: string): Promise<void>;
  /**
   * Returns all leases that were ever acquired and whose names begin with `prefix`, in order of name, as they are by the clock
   * that ends them.
   */
  leases(prefix: string): Promise<readonly LeaseState[]>;
  close(): Promise<void>;
}

export type StoreErrorCode =
  | 'conflict'
  | 'changed'
  | 'already_exists'
  | 'not_found'
  | 'unique'
  | 'compacted'
  | 'too_large'
  | 'full'
  /** The lease that the writer held is another's now. */
  | 'fenced'
  | 'unavailable'
  /** The database is gone, replaced or damaged: nothing helps before somebody has looked. */
  | 'lost';

export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;
  /** The record or unique value at fault. */
  readonly subject: string;

  constructor(code: StoreErrorCode, subject: string, options?: ErrorOptions) {
    super(`${code}: ${subject}`, options);
    this.code = code;
    this.subject = subject;
  }

  /** True where the error says nothing about the request: the store is unusable, or the caller lost its lease. */
  get isOutage(): boolean {
    return this.code === 'unavailable' || this.code === 'lost' || this.code === 'fenced';
  }
}

/** A JSON document that was fetched, and for how long its server says it holds. */
export interface FetchedDocument {
  readonly json: unknown;
  readonly freshMs?: number;
}

/**
 * Fetches a JSON document whose address somebody else named.
 *
 * @param ca PEM: authorities that alone vouch for its server, in place of the public ones
 * @returns why it cannot be had, in a sentence
 */
export type FetchDocument = (url: string, ca?: string) => Promise<FetchedDocument | string>;
