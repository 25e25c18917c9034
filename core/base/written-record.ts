import type { Change, Commit } from './ports.ts';
import type { Kind, StoredRecord } from './record.ts';

/** Returns true if a change is of a record of that kind. */
export function isOfKind<K extends Kind>(change: Change, kind: K): change is Change<K> {
  return change.record.kind === kind;
}

/** A record as a commit wrote it. */
export function writtenRecord<K extends Kind>(
  { changes }: Pick<Commit, 'changes'>,
  { kind, uid }: { readonly kind: K; readonly uid: string },
): StoredRecord<K> {
  for (const change of changes) {
    if (isOfKind(change, kind) && change.type !== 'deleted' && change.record.uid === uid) return change.record;
  }
  throw new TypeError(`The commit wrote no ${kind} ${uid}.`);
}
