import { newId, SYSTEM_WORKSPACE } from '../core/base/ids.ts';
import { asLeader } from '../core/base/leader.ts';
import { StoreError } from '../core/base/ports.ts';
import { Debouncer, type DueCapture } from '../core/history/debounce.ts';
import { latestSnapshot, takeSnapshot } from '../core/history/snapshots.ts';
import type { Services } from '../core/workflow/services.ts';
import { type Leadership, soleLeadership } from './leadership.ts';

/** Commits read at once of what no snapshot was taken of. */
const CATCH_UP = 200;
/** Until those that the store refused are taken from the log, if nothing is written there before. */
const RETRY_MS = 30_000;
const UNREAD = 'what has no snapshot could not be read';

/**
 * Watches commits of the workspaces that are led here and stores snapshots: the clock and the timer of a {@link Debouncer}.
 * Commits that an earlier process or leader left without a snapshot are read from the log first; so are those whose snapshot
 * the store refused, as on a full disk.
 */
export function startSnapshots(
  services: Pick<Services, 'store' | 'states' | 'clock' | 'log'>,
  leadership: Pick<Leadership, 'leads' | 'under' | 'onChange'> = soleLeadership,
) {
  const { store, clock, log } = services;
  const debouncer = new Debouncer();
  /** The last capture of each workspace: the next one begins after it, so that sizes and order are right. */
  const tails = new Map<string, Promise<void>>();
  let [timer, retry]: (NodeJS.Timeout | undefined)[] = [];
  let isStopped = false;
  /** The current tenure of each led workspace: changes gathered in an earlier tenure are not stored in a later one. */
  const tenures = new Map<string, object>();
  /** Workspaces whose log is still read, with the newest revision heard of meanwhile. */
  const behind = new Map<string, number>();
  let reading = Promise.resolve();
  /** Workspaces of which a snapshot was refused and none stored since. */
  const refused = new Set<string>();
  const counts = { stored: 0, failed: 0 };

  async function capture({ workspace, ...asked }: DueCapture, tenure: object | undefined): Promise<void> {
    if (tenures.get(workspace) !== tenure) return;
    const context = { actor: 'system:snapshots', reason: `snapshot after ${asked.trigger}`, requestId: newId('r') };
    try {
      await asLeader(leadership, services, workspace, async (led) => {
        await takeSnapshot(led, workspace, asked, context);
        counts.stored += 1;
      });
      refused.delete(workspace);
    } catch (error) {
      counts.failed += 1;
      // Once, until one is stored again.
      if (!refused.has(workspace)) log.error({ workspace, error: String(error) }, 'a snapshot could not be stored');
      if (isRefusal(error)) tryLater(workspace);
    }
  }

  function keep(captures: readonly DueCapture[]): void {
    for (const due of captures) {
      const { workspace } = due;
      const tenure = tenures.get(workspace);
      const work = (tails.get(workspace) ?? Promise.resolve()).then(() => capture(due, tenure));
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

  const unsubscribe = store.onCommit((commit) => {
    const { workspace, revision } = commit;
    if (workspace === SYSTEM_WORKSPACE || !leadership.leads(workspace)) return;
    if (behind.has(workspace)) behind.set(workspace, revision);
    else if (tenures.has(workspace) || revision === 1) {
      if (!tenures.has(workspace)) tenures.set(workspace, {});
      keep(debouncer.handle(commit, clock.now()));
    } else follow(workspace, revision);
  });

  /** Begins with what was committed before this process led the workspace. */
  function follow(workspace: string, revision = 0): void {
    const tenure = {};
    tenures.set(workspace, tenure);
    behind.set(workspace, revision);
    reading = reading
      .then(() => catchUp(workspace, tenure))
      .catch((error: unknown) => log.error({ workspace, error: String(error) }, UNREAD))
      .finally(() => {
        if (tenures.get(workspace) === tenure) behind.delete(workspace);
      });
  }

  async function followLed(): Promise<void> {
    const workspaces = await store.workspaces();
    for (const workspace of workspaces) {
      const isOther = workspace === SYSTEM_WORKSPACE || tenures.has(workspace) || !leadership.leads(workspace);
      if (!isOther && !isStopped) follow(workspace);
    }
    await reading;
  }

  function leave(workspace: string): void {
    tenures.delete(workspace);
    behind.delete(workspace);
    debouncer.forget(workspace);
  }

  /** It, and those that wait behind it, are taken from the log. */
  function tryLater(workspace: string): void {
    refused.add(workspace);
    leave(workspace);
    if (!isStopped) retry ??= setTimeout(again, RETRY_MS);
  }

  /** Takes each commit as if it came now, so that bursts are cut as they would have been. */
  async function catchUp(workspace: string, tenure: object): Promise<void> {
    const isOver = () => isStopped || tenures.get(workspace) !== tenure;
    if (isOver()) return;
    const last = await latestSnapshot(services, workspace);
    const kept = await store.keptFrom(workspace);
    let from = Math.max(last?.spec.revision ?? 0, kept?.revision ?? 0);
    for (;;) {
      const commits = await store.commits(workspace, from, CATCH_UP);
      if (isOver()) return;
      for (const commit of commits) keep([...debouncer.due(commit.at), ...debouncer.handle(commit, commit.at)]);
      from = commits.at(-1)?.revision ?? from;
      if (isOver() || (commits.length === 0 && from >= (behind.get(workspace) ?? 0))) return;
    }
  }

  let caughtUp = Promise.resolve();
  function again(): void {
    clearTimeout(retry);
    retry = undefined;
    for (const workspace of tenures.keys()) if (!leadership.leads(workspace)) leave(workspace);
    caughtUp = caughtUp.then(followLed).catch((error: unknown) => log.error({ error: String(error) }, UNREAD));
  }
  const unfollow = leadership.onChange(again);
  again();
  return {
    /** Snapshots after changes, since the start. */
    counts,
    /** Stores what is due by the clock; resolves when it and all before it is stored. */
    async settle(): Promise<void> {
      await caughtUp;
      await reading;
      flush();
      await Promise.all(tails.values());
    },
    /** Stores what is pending, then stops. */
    async stop(): Promise<void> {
      isStopped = true;
      clearTimeout(retry);
      await caughtUp;
      unsubscribe();
      unfollow();
      keep(debouncer.drain());
      clearTimeout(timer);
      await Promise.all(tails.values());
    },
  };
}

/** True if the error is not about the snapshot itself: the store takes none now. */
function isRefusal(error: unknown): boolean {
  return error instanceof StoreError && (error.code === 'full' || error.code === 'unavailable');
}
