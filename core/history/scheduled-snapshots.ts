import { newId, SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { HistoryServices } from '../state/services.ts';
import { lastDaily, nextDaily } from './daily-schedule.ts';
import { listSnapshots, takeSnapshot } from './snapshots.ts';

/** The hour of the daily snapshot, in the time zone of the workspace (docs/history.md#what-makes-a-snapshot). */
const HOUR = 2;

/**
 * Takes the daily snapshot if it is due and not there: also when nobody was up at its hour.
 *
 * @returns when the next one is due, ms; undefined for a deleted workspace.
 */
export async function takeScheduledSnapshots(
  services: HistoryServices,
  workspace: string,
): Promise<number | undefined> {
  const now = services.clock.now();
  const record = await services.store.getById(SYSTEM_WORKSPACE, 'Workspace', workspace);
  if (!record) return undefined;
  const { timeZone } = record.spec.settings;
  const due = lastDaily(now, HOUR, timeZone);
  if (due > record.createdAt) {
    const { items } = await listSnapshots(services, workspace, { from: due, trigger: 'scheduled', limit: 1 });
    const context = { actor: 'system:snapshots', reason: 'daily snapshot', requestId: newId('r') };
    const capture = { trigger: 'scheduled', triggeredBy: 'system:schedule' } as const;
    if (items.length === 0) await takeSnapshot(services, workspace, capture, context);
  }
  return nextDaily(now, HOUR, timeZone);
}
