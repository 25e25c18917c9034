import type { Change } from './ports.ts';

/** The changes of a commit, a record that it deletes and makes again under another name as one update of it. */
export function withRenames(changes: readonly Change[]): readonly Change[] {
  const gone = new Map(changes.flatMap(({ type, record }) => (type === 'deleted' ? [[record.uid, record]] : [])));
  const renamed = new Set(
    changes.flatMap(({ type, record: { uid } }) => (type === 'created' && gone.has(uid) ? [uid] : [])),
  );
  if (renamed.size === 0) return changes;
  return changes.flatMap((change): Change[] => {
    const { type, record } = change;
    const before = renamed.has(record.uid) ? gone.get(record.uid) : undefined;
    if (!before) return [change];
    return type === 'created' ? [{ type: 'updated', record, before }] : [];
  });
}
