import type { Commit } from '../../core/base/ports.ts';
import type { Kind, StoredRecord } from '../../core/base/record.ts';

/** Live records kept in memory; about 10 MB at the usual size of a record. */
const MAX_RECORDS = 8_192;

/**
 * Live records by uid, as last read. Records are immutable and this process is the only writer, so one is right until a
 * commit touches it. The oldest entry leaves first.
 */
export class RecordCache {
  readonly #records = new Map<string, unknown>();

  get<K extends Kind>(
    workspace: string,
    kind: K,
    uid: string,
    read: () => StoredRecord<K> | undefined,
  ): StoredRecord<K> | undefined {
    const key = keyOf(workspace, kind, uid);
    const known = this.#records.get(key);
    if (isOf(known, kind)) return known;
    const record = read();
    if (record) {
      if (this.#records.size >= MAX_RECORDS) this.#records.delete(this.#records.keys().next().value ?? '');
      this.#records.set(key, record);
    }
    return record;
  }

  forget({ workspace, changes }: Pick<Commit, 'workspace' | 'changes'>): void {
    for (const { record } of changes) this.#records.delete(keyOf(workspace, record.kind, record.uid));
  }
}

function isOf<K extends Kind>(record: unknown, kind: K): record is StoredRecord<K> {
  return typeof record === 'object' && record !== null && 'kind' in record && record.kind === kind;
}

function keyOf(workspace: string, kind: Kind, uid: string): string {
  return `${workspace} ${kind} ${uid}`;
}
