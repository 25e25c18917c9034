import { newId, SYSTEM_WORKSPACE } from '../core/base/ids.ts';
import { Debouncer, type DueCapture } from '../core/history/debounce.ts';
import { latestSnapshot, takeSnapshot } from '../core/history/snapshots.ts';
import type { Services } from '../core/workflow/services.ts';

/** Commits read at once of what no snapshot was taken of. */
const CATCH_UP = 200;

/**
 * Watches commits and stores snapshots: the clock and the timer of a {@link Debouncer}. What a process that ended at once has
 * left without one is read from the log first.
 */
export function startSnapshots(services: Pick<Services, 'store' | 'states' | 'clock' | 'log'>) {
  const { store, clock, log } = services;
  const debouncer = new Debouncer();
  /** The last capture of each workspace: the next one begins after it, so that sizes and order are right. */
  const tails = new Map<string, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
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

  /** Workspaces whose log is still read, with the newest revision heard of meanwhile; undefined until all are known. */
  let behind: Map<string, number> | undefined;
  const early = new Set<string>();
  const unsubscribe = store.onCommit((commit) => {
    if (behind === undefined) early.add(commit.workspace);
    else if (behind.has(commit.workspace)) behind.set(commit.workspace, commit.revision);
    else keep(debouncer.handle(commit, clock.now()));
  });

  async function catchUpAll(): Promise<void> {
    const known = await store.workspaces();
    const workspaces = [...new Set([...known, ...early])].filter((workspace) => workspace !== SYSTEM_WORKSPACE);
    behind = new Map(workspaces.map((workspace) => [workspace, 0]));
    for (const workspace of workspaces) {
      if (isStopped) return;
      await catchUp(workspace, behind).catch((error: unknown) => {
        log.error({ workspace, error: String(error) }, 'what has no snapshot could not be read');
      });
      behind.delete(workspace);
    }
  }

  /** Takes each commit as if it came now, so that bursts are cut as they would have been. */
  async function catchUp(workspace: string, heard: ReadonlyMap<string, number>): Promise<void> {
    const last = await latestSnapshot(services, workspace);
    const kept = await store.keptFrom(workspace);
    let from = Math.max(last?.spec.revision ?? 0, kept?.revision ?? 0);
    for (;;) {
      const commits = await store.commits(workspace, from, CATCH_UP);
      for (const commit of commits) keep([...debouncer.due(commit.at), ...debouncer.handle(commit, commit.at)]);
      from = commits.at(-1)?.revision ?? from;
      if (isStopped || (commits.length === 0 && from >= (heard.get(workspace) ?? 0))) return;
    }
  }

  const caughtUp = catchUpAll().catch((error: unknown) => {
    behind = new Map();
    log.error({ error: String(error) }, 'what has no snapshot could not be read');
  });
  return {
    /** Snapshots after changes, since the start. */
    counts,
    /** Stores what is due by the clock; resolves when it and all before it is stored. */
    async settle(): Promise<void> {
      await caughtUp;
      flush();
      await Promise.all(tails.values());
    },
    /** Stores what is pending, then stops. */
    async stop(): Promise<void> {
      isStopped = true;
      await caughtUp;
      unsubscribe();
      keep(debouncer.drain());
      clearTimeout(timer);
      await Promise.all(tails.values());
    },
  };
}
