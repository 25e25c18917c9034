import type { AnyBulkWriteOperation } from 'mongodb';
import { isOfGroup, KINDS, type RecordDraft, type RecordGroup, type RecordKey } from '../../core/base/record.ts';
import type { Row, Rows } from '../apply-batch.ts';
import { packBody } from '../body.ts';
import { keyOf, type RecordDoc, recordId, type VersionDoc, versionId } from './documents.ts';

/** So long other control planes can hear of a change of what keeps no history, also where the clock of this host is behind. */
const EXPIRES_MS = 3_600_000;

export interface LoadedRow extends Row {
  readonly id: RecordDoc['_id'];
  readonly at: number;
  readonly uid?: string;
}

/** The records of one workspace that a group of batches is about, as one batch after the other leaves them. */
export class LoadedRows implements Rows<LoadedRow> {
  readonly #workspace: string;
  readonly #byName = new Map<string, LoadedRow>();
  readonly #byId = new Map<string, LoadedRow['id']>();
  readonly #owners = new Map<string, LoadedRow['id']>();
  /** The newest revision that changed a record of each group that a batch asks of. */
  readonly #newest: Map<RecordGroup, number>;
  #undo: (() => void)[] = [];
  #revision = 0;
  #at = 0;
  /** The pending writes, in order. */
  readonly writes: AnyBulkWriteOperation<RecordDoc>[] = [];
  readonly versions: VersionDoc[] = [];

  constructor(workspace: string, records: readonly RecordDoc[], newest: Map<RecordGroup, number>) {
    this.#workspace = workspace;
    this.#newest = newest;
    for (const { _id: id, revision, at, body = null, uid, unique = [] } of records) {
      this.#byName.set(keyOf(id), { id, revision, at, body, ...(uid !== undefined && { uid }) });
      if (uid !== undefined) this.#byId.set(uid, id);
      for (const value of unique) this.#owners.set(value, id);
    }
  }

  /** Before each batch. */
  begin(revision: number, at: number): void {
    this.#undo = [];
    this.#revision = revision;
    this.#at = at;
  }

  /** Takes back what the batch has changed. */
  undo(): void {
    for (const step of this.#undo.reverse()) step();
    this.#undo = [];
  }

  find(key: RecordKey): LoadedRow | undefined {
    return this.#byName.get(keyOf(key));
  }

  hasId(uid: string): boolean {
    return this.#byId.has(uid);
  }

  hasNewer(group: RecordGroup, revision: number): boolean {
    return (this.#newest.get(group) ?? 0) > revision;
  }

  put(before: LoadedRow | undefined, draft: RecordDraft, body: string): LoadedRow {
    const id = recordId(this.#workspace, draft);
    const { uid } = draft;
    const row: LoadedRow = { id, revision: this.#revision, at: this.#at, body, uid };
    const unique = [...new Set(draft.unique)];
    this.#set(this.#byName, keyOf(id), row);
    if (before?.uid !== undefined && before.uid !== uid) this.#set(this.#byId, before.uid, undefined);
    this.#set(this.#byId, uid, id);
    this.#write({
      replaceOne: {
        filter: { _id: id },
        replacement: { revision: row.revision, at: row.at, body, uid, ...(unique.length > 0 && { unique }) },
        upsert: true,
      },
    });
    this.#changed(draft);
    return row;
  }

  keep({ id, revision, at, body }: LoadedRow & { readonly body: string }, { kind }: RecordKey): void {
    const isKept = KINDS[kind].history;
    this.#append(this.versions, {
      _id: versionId(id, revision),
      at,
      until: this.#revision,
      untilAt: this.#at,
      body: isKept ? packBody(body) : body,
      ...(!isKept && { expires: new Date(Math.max(this.#at, Date.now()) + EXPIRES_MS) }),
    });
  }

  remove({ id, uid }: LoadedRow, key: RecordKey): void {
    const { kind } = key;
    const [revision, at] = [this.#revision, this.#at];
    if (uid !== undefined) this.#set(this.#byId, uid, undefined);
    if (KINDS[kind].history) {
      this.#set(this.#byName, keyOf(id), { id, revision, at, body: null });
      this.#write({ replaceOne: { filter: { _id: id }, replacement: { revision, at } } });
    } else {
      this.#set(this.#byName, keyOf(id), undefined);
      this.#write({ deleteOne: { filter: { _id: id } } });
    }
    this.#changed(key);
  }

  release(values: readonly string[]): void {
    for (const value of values) this.#set(this.#owners, value, undefined);
  }

  take({ id }: LoadedRow, value: string): boolean {
    if (this.#owners.has(value)) return false;
    this.#set(this.#owners, value, id);
    return true;
  }

  #changed(key: RecordKey): void {
    for (const group of this.#newest.keys()) if (isOfGroup(group, key)) this.#set(this.#newest, group, this.#revision);
  }

  #write(operation: AnyBulkWriteOperation<RecordDoc>): void {
    this.#append(this.writes, operation);
  }

  #append<T>(list: T[], item: T): void {
    list.push(item);
    this.#undo.push(() => list.pop());
  }

  #set<V>(map: Map<string, V>, key: string, value: V | undefined): void {
    const before = map.get(key);
    const put = (to: V | undefined) => (to === undefined ? map.delete(key) : map.set(key, to));
    put(value);
    this.#undo.push(() => put(before));
  }
}
