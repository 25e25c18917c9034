import type { AuditEntry } from '../base/ports.ts';
import { capturedAtOf } from '../history/snapshot-record.ts';

/** The workflows and snapshots that entries of a log tell of: an archive has to have them all. */
export class ReportedRecords {
  /** By name. */
  readonly workflows = new Set<string>();
  /** Names by id, of those that no entry deleted. */
  readonly snapshots = new Map<string, string>();

  take({ commit }: Pick<AuditEntry, 'commit'>): void {
    for (const { type, kind, name, uid } of commit?.changes ?? []) {
      if (kind === 'Workflow') this.workflows.add(name);
      if (kind !== 'Snapshot') continue;
      if (type === 'deleted') this.snapshots.delete(uid);
      else this.snapshots.set(uid, name);
    }
  }

  /** Ids and names of the snapshots of a period (ms, both ends within), the newest first. */
  snapshotsIn({ from, to }: { readonly from: number; readonly to: number }): readonly (readonly [string, string])[] {
    return [...this.snapshots]
      .filter(([, name]) => capturedAtOf(name) >= from && capturedAtOf(name) <= to)
      .sort(([, a], [, b]) => (a < b ? -1 : 1));
  }
}
