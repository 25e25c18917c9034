import { newId } from '../core/base/ids.ts';
import { Debouncer, type DueCapture } from '../core/history/debounce.ts';
import { takeSnapshot } from '../core/history/snapshots.ts';
import type { Services } from '../core/workflow/services.ts';

/** Watches commits and stores snapshots: the clock and the timer of a {@link Debouncer}. */
export function startSnapshots(services: Pick<Services, 'store' | 'states' | 'clock' | 'log'>) {
  const { store, clock, log } = services;
  const debouncer = new Debouncer();
  /** The last capture of each workspace: the next one begins after it, so that sizes and order are right. */
  const tails = new Map<string, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  const counts = { stored: 0, failed: 0 };

  async function capture({ workspace, ...asked }: DueCapture): Promise<void> {
    const context = { actor: 'system:snapshots', reason: `snapshot after ${asked.trigger}`, requestId: newId('r') };
    try {
      await takeSnapshot(services, workspace, asked, context);
      counts.stored += 1;
    } catch (error) {
      counts.failed += 1;
      log.error({ workspace, error: String(error) }, 'a snapshot could not be stored');
    }
  }

  function keep(captures: readonly DueCapture[]): void {
    for (const due of captures) {
      const { workspace } = due;
      const work = (tails.get(workspace) ?? Promise.resolve()).then(() => capture(due));
      tails.set(workspace, work);
      work.finally(() => {
        if (tails.get(workspace) === work) tails.delete(workspace);
      });
    }
    clearTimeout(timer);
    const { deadline } = debouncer;
    if (deadline !== undefined) timer = setTimeout(flush, Math.max(0, deadline - clock.now()));
  }

  /** Stores what is due and sets the timer for what is not. */
  function flush(): void {
    keep(debouncer.due(clock.now()));
  }

  const unsubscribe = store.onCommit((commit) => keep(debouncer.handle(commit, clock.now())));
  return {
    /** Snapshots after changes, since the start. */
    counts,
    /** Stores what is due by the clock; resolves when it and all before it is stored. */
    async settle(): Promise<void> {
      flush();
      await Promise.all(tails.values());
    },
    /** Stores what is pending, then stops. */
    async stop(): Promise<void> {
      unsubscribe();
      keep(debouncer.drain());
      clearTimeout(timer);
      await Promise.all(tails.values());
    },
  };
}
