import type { Clock, Commit, Log, Store } from '../core/base/ports.ts';
import type { Leadership } from './leadership.ts';

/** Work that is due at instants, not at ticks: it says itself when it is next due. */
export interface Job {
  readonly name: string;
  /** Does what is due now. @returns the next instant (ms) at which something is due; undefined when nothing is known. */
  run(): Promise<number | undefined>;
  /** Commits after which the next instant may be earlier. */
  readonly wakeOn?: (commit: Commit) => boolean;
}

/** The longest a job sleeps, so that a clock that was set forward is noticed. */
const MAX_SLEEP_MS = 60_000;
const RETRY_FIRST_MS = 1_000;

/** Work that is done each so many milliseconds, for the first time after others. */
export function later(
  name: string,
  clock: Clock,
  { first, every }: { readonly first: number; readonly every: number },
  work: () => Promise<unknown>,
): Job {
  let due = clock.now() + first;
  return {
    name,
    async run() {
      if (clock.now() < due) return due;
      await work();
      due = clock.now() + every;
      return due;
    },
  };
}

/** Told of each run of a job. */
export type ObserveJob = (job: string, outcome: 'ok' | 'failed', seconds: number) => void;

interface JobParts {
  readonly store: Pick<Store, 'onCommit'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly observe?: ObserveJob;
  /** Told when other workspaces are led here: what is due in them is done at once. */
  readonly leadership?: Pick<Leadership, 'onChange'> | undefined;
}

/**
 * Runs each job at its instants, one run of a job at a time. A failing job is logged and tried again with back-off;
 * it never stops the others.
 */
export function startJobs(jobs: readonly Job[], { store, leadership, ...parts }: JobParts) {
  const runners = jobs.map((job) => startJob(job, parts));
  const unsubscribe = store.onCommit((commit) => {
    for (const runner of runners) if (runner.job.wakeOn?.(commit)) runner.wake();
  });
  const wakeAll = () => {
    for (const runner of runners) runner.wake();
  };
  const unfollow = leadership?.onChange(wakeAll);
  return {
    /** Runs a job as soon as it can, whatever it is waiting for. */
    wake(name: string): void {
      for (const runner of runners) if (runner.job.name === name) runner.wake();
    },
    /** Has every job look at the clock, which went another way than was expected. */
    wakeAll,
    async stop(): Promise<void> {
      unsubscribe();
      unfollow?.();
      await Promise.all(runners.map((runner) => runner.stop()));
    },
  };
}

function startJob(job: Job, { clock, log, observe = () => undefined }: Omit<JobParts, 'store' | 'leadership'>) {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let again = false;
  let stopped = false;
  let failures = 0;

  const schedule = (delay: number) => {
    clearTimeout(timer);
    if (!stopped) timer = setTimeout(wake, Math.max(0, Math.min(delay, MAX_SLEEP_MS)));
  };
  const once = async () => {
    const startedAt = performance.now();
    const tell = (outcome: 'ok' | 'failed') => observe(job.name, outcome, (performance.now() - startedAt) / 1_000);
    try {
      const next = await job.run();
      tell('ok');
      failures = 0;
      schedule(next === undefined ? MAX_SLEEP_MS : next - clock.now());
    } catch (error) {
      const delay = Math.min(RETRY_FIRST_MS * 2 ** failures, MAX_SLEEP_MS);
      failures += 1;
      tell('failed');
      log.error({ job: job.name, error: String(error), retryMs: delay }, 'a job failed');
      schedule(delay);
    }
  };
  function wake(): void {
    if (stopped) return;
    if (running !== undefined) {
      again = true;
      return;
    }
    running = once().finally(() => {
      running = undefined;
      if (again) {
        again = false;
        wake();
      }
    });
  }
  wake();
  return {
    job,
    wake,
    async stop(): Promise<void> {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
