import type { TriggerType } from '../core/history/snapshot-record.ts';
import { takeSnapshot } from '../core/history/snapshots.ts';
import { triggerOf } from '../core/history/trigger.ts';
import { newId } from '../core/ids.ts';
import type { Commit } from '../core/ports.ts';
import type { Services } from '../core/services.ts';

/** Quiet time after the last change before a snapshot is stored, and the longest that changes wait (DESIGN 5.6). */
const TRAILING_MS = 1_000;
const CAP_MS = 5_000;
/** A burst is cut here, so that no snapshot passes 10 KB. */
const CUT_BYTES = 8_192;
/** Stored size of one changed record, roughly: what the cut is estimated by. */
const BYTES_PER_CHANGE = 160;

interface Pending {
  readonly trigger: TriggerType;
  readonly triggeredBy: string;
  readonly deadline: number;
  revision: number;
  bytes: number;
  timer: NodeJS.Timeout;
}

/** Watches commits and stores debounced snapshots, one per cause: another cause begins another snapshot. */
export function startSnapshots(services: Pick<Services, 'store' | 'states' | 'clock' | 'log'>) {
  const { store, clock, log } = services;
  const pending = new Map<string, Pending>();
  /** The last capture of each workspace: the next one begins after it, so that sizes and order are right. */
  const tails = new Map<string, Promise<void>>();

  function flush(workspace: string): void {
    const due = pending.get(workspace);
    if (!due) return;
    pending.delete(workspace);
    clearTimeout(due.timer);
    const { trigger, triggeredBy, revision } = due;
    const context = { actor: 'system:snapshots', reason: `snapshot after ${trigger}`, requestId: newId('r') };
    const capture = async () => {
      try {
        await takeSnapshot(services, workspace, { trigger, triggeredBy, revision }, context);
      } catch (error) {
        log.error({ workspace, error: String(error) }, 'a snapshot could not be stored');
      }
    };
    const work = (tails.get(workspace) ?? Promise.resolve()).then(capture).finally(() => {
      if (tails.get(workspace) === work) tails.delete(workspace);
    });
    tails.set(workspace, work);
  }

  function heard(commit: Commit): void {
    const trigger = triggerOf(commit);
    if (trigger === undefined) return;
    const { workspace, revision, actor, changes } = commit;
    const before = pending.get(workspace);
    if (before && before.trigger !== trigger) flush(workspace);
    const now = clock.now();
    const current = pending.get(workspace);
    const deadline = current?.deadline ?? now + CAP_MS;
    clearTimeout(current?.timer);
    const timer = setTimeout(() => flush(workspace), Math.max(0, Math.min(TRAILING_MS, deadline - now)));
    const bytes = (current?.bytes ?? 0) + changes.length * BYTES_PER_CHANGE;
    pending.set(workspace, { trigger, triggeredBy: current?.triggeredBy ?? actor, deadline, revision, bytes, timer });
    if (bytes >= CUT_BYTES) flush(workspace);
  }

  const unsubscribe = store.onCommit(heard);
  return {
    /** Stores what is pending, then stops. */
    async stop(): Promise<void> {
      unsubscribe();
      for (const workspace of [...pending.keys()]) flush(workspace);
      await Promise.all(tails.values());
    },
  };
}
