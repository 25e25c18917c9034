import { keepHead } from '../core/audit/keep-checkpoints.ts';
import type { Services } from '../core/workflow/services.ts';

/** How far the heads may be behind what was acknowledged, with the time that writing them takes: a second. */
const BEHIND_MS = 500;
/** Until one that could not be kept is tried again, if nothing is written there before. */
const RETRY_MS = 5_000;

/**
 * Keeps the heads of the logs apart from the database soon after each commit, so that a database that has lost some is
 * noticed at the next start.
 */
export function startRecentHeads(services: Pick<Services, 'store' | 'clock' | 'keys' | 'log'>) {
  const written = new Set<string>();
  const unkept = new Set<string>();
  let [timer, retry]: (NodeJS.Timeout | undefined)[] = [];
  let flushing: Promise<void> | undefined;
  let isStopped = false;

  const unsubscribe = services.store.onCommit(({ workspace }) => {
    written.add(workspace);
    timer ??= setTimeout(flush, BEHIND_MS).unref();
  });
  const keepAll = async () => {
    const wasWell = unkept.size === 0;
    for (const workspace of [...written]) {
      written.delete(workspace);
      try {
        await keepHead(services, workspace);
        unkept.delete(workspace);
      } catch (error) {
        if (wasWell && unkept.size === 0) {
          const what = 'what the database must hold could not be kept apart from it';
          services.log.error({ workspace, error: String(error) }, what);
        }
        unkept.add(workspace);
      }
    }
    if (unkept.size > 0 && !isStopped) retry ??= setTimeout(again, RETRY_MS).unref();
  };
  function again(): void {
    retry = undefined;
    for (const workspace of unkept) written.add(workspace);
    flush();
  }
  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    flushing = (flushing ?? Promise.resolve()).then(keepAll);
  }

  return {
    /** Returns why heads are not stored; undefined once each is. */
    problem: (): string | undefined =>
      unkept.size === 0
        ? undefined
        : `What the database must hold of ${[...unkept].slice(0, MAX_LISTED).join(', ')} is not kept apart from it: see the log.`,
    async stop(): Promise<void> {
      isStopped = true;
      unsubscribe();
      clearTimeout(retry);
      again();
      await flushing;
    },
  };
}

/** In one sentence. */
const MAX_LISTED = 3;
