import type { Op, Store } from '../base/ports.ts';
import type { Kind, RecordDraft, RecordKey, StoredRecord } from '../base/record.ts';

/** A record that a batch would change. */
export interface Write<K extends Kind = Kind> extends RecordKey<K> {
  readonly type: 'created' | 'updated' | 'deleted';
  readonly before?: StoredRecord<K>;
  readonly after?: RecordDraft<K>;
}

/** Returns the name of a written record for a sentence: the current one, and the new one where it is renamed. */
export function calledIn({ name, before }: Pick<Write, 'name' | 'before'>): string {
  return before === undefined || before.name === name ? name : `${before.name} (${name} from then on)`;
}

type Find = (key: RecordKey) => StoredRecord | undefined;

/** Returns the writes of a batch with the records as they are. */
export async function writesIn(store: Pick<Store, 'get'>, workspace: string, ops: readonly Op[]): Promise<Write[]> {
  const found = new Map<string, StoredRecord>();
  for (const op of ops) {
    if (op.op === 'check') continue;
    const { kind, name } = op.op === 'delete' ? op.key : op.record;
    const record = await store.get(workspace, { kind, name });
    if (record) found.set(`${kind}/${name}`, record);
  }
  return writesOf(ops, ({ kind, name }) => found.get(`${kind}/${name}`));
}

/** As {@link writesIn}, over records at hand. A record that is deleted and made again under another name is one write. */
export function writesOf(ops: readonly Op[], find: Find): Write[] {
  const renamed = new Map<string, StoredRecord>();
  const created = new Set(ops.flatMap((op) => (op.op === 'create' ? [op.record.uid] : [])));
  const writes: Write[] = [];
  for (const op of ops) {
    if (op.op === 'check') continue;
    const key = op.op === 'delete' ? op.key : op.record;
    const before = find(key);
    if (op.op === 'delete') {
      if (before && created.has(before.uid)) renamed.set(before.uid, before);
      else writes.push({ type: 'deleted', kind: key.kind, name: key.name, ...(before && { before }) });
      continue;
    }
    const { record } = op;
    const old = op.op === 'update' ? before : renamed.get(record.uid);
    const known = { kind: key.kind, name: key.name, after: record };
    writes.push(old ? { ...known, type: 'updated', before: old } : { ...known, type: 'created' });
  }
  return writes;
}
