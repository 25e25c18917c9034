import type { AuditEntry, AuditQuery } from '../core/base/ports.ts';
import { foldName } from '../core/base/record.ts';

/** Whether an entry is what a query of the audit log asks for, its time and number apart. */
export function isAskedFor(entry: AuditEntry, { type, actor, kind, name }: AuditQuery): boolean {
  if (type !== undefined && entry.type !== type) return false;
  if (actor !== undefined && entry.actor !== actor) return false;
  if (kind === undefined && name === undefined) return true;
  const wanted = name === undefined ? undefined : foldName(name);
  return (entry.commit?.changes ?? []).some(
    (change) =>
      (kind === undefined || change.kind === kind) && (wanted === undefined || foldName(change.name) === wanted),
  );
}
