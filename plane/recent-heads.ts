import { keepHead } from '../core/audit/keep-checkpoints.ts';
import type { Services } from '../core/workflow/services.ts';

/** How far the heads may be behind what was acknowledged, with the time that writing them takes: a second. */
const BEHIND_MS = 500;

/**
 * Keeps the heads of the logs apart from the database soon after each commit, so that a database that has lost some is
 * noticed at the next start.
 */
export function startRecentHeads(services: Pick<Services, 'store' | 'clock' | 'keys' | 'log'>) {
  const written = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> | undefined;
  let problem: string | undefined;

  const unsubscribe = services.store.onCommit(({ workspace }) => {
    written.add(workspace);
    timer ??= setTimeout(flush, BEHIND_MS).unref();
  });
  const keepAll = async () => {
    const failed: unknown[] = [];
    for (const workspace of [...written]) {
      written.delete(workspace);
      await keepHead(services, workspace).catch((error: unknown) => failed.push(error));
    }
    if (failed.length > 0 && problem === undefined) {
      services.log.error({ error: String(failed[0]) }, 'what the database must hold could not be kept apart from it');
    }
    problem = failed.length === 0 ? undefined : 'What the database must hold is not kept apart from it: see the log.';
  };
  function flush(): void {
    timer = undefined;
    flushing = (flushing ?? Promise.resolve()).then(keepAll);
  }

  return {
    /** What keeps the heads from being kept; undefined while they are. */
    problem: () => problem,
    async stop(): Promise<void> {
      unsubscribe();
      clearTimeout(timer);
      flush();
      await flushing;
    },
  };
}
