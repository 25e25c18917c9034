import type { Commit, Log } from '../core/base/ports.ts';
import { unavailable } from './unavailable.ts';

/**
 * Tells listeners and watchers of commits. Watchers re-read the log, so a slow one costs no memory here; those who have seen
 * the same read it together, and get the same objects.
 */
export interface Feed {
  publish(commit: Commit): void;
  onCommit(listener: (commit: Commit) => void): () => void;
  watch(workspace: string, from: number, signal: AbortSignal): AsyncGenerator<Commit, void, undefined>;
  close(): void;
}

type ReadCommits = (workspace: string, from: number, limit: number) => Promise<readonly Commit[]>;

/** Commits a watcher reads ahead of its consumer. */
const READ_AHEAD = 100;

export function buildFeed(log: Log, readCommits: ReadCommits): Feed {
  const listeners = new Set<(commit: Commit) => void>();
  const wakeUps = new Set<() => void>();
  const newest = new Map<string, number>();
  /** Readings under way or only just done, by workspace and the revision they begin after. */
  const readings = new Map<string, ReturnType<ReadCommits>>();
  let closed = false;

  function readTogether(workspace: string, seen: number): ReturnType<ReadCommits> {
    const key = `${workspace} ${seen}`;
    const known = readings.get(key);
    if (known !== undefined) return known;
    const reading = readCommits(workspace, seen, READ_AHEAD);
    readings.set(key, reading);
    const forget = () => {
      if (readings.get(key) === reading) readings.delete(key);
    };
    // Watchers that woke with the first one read before this.
    reading.finally(() => setImmediate(forget)).catch(() => undefined);
    return reading;
  }

  const wakeAll = (): void => {
    for (const wake of [...wakeUps]) wake();
  };

  async function* watch(workspace: string, from: number, signal: AbortSignal): AsyncGenerator<Commit, void, undefined> {
    let seen = from;
    while (!signal.aborted) {
      if (closed) throw unavailable('the store is closed');
      const caughtUp = () => !closed && !signal.aborted && (newest.get(workspace) ?? 0) <= seen;
      // The newest published revision is known: a watcher that has seen it has nothing to read.
      const commits = newest.has(workspace) && caughtUp() ? [] : await readTogether(workspace, seen);
      for (const commit of commits) {
        if (signal.aborted) return;
        yield commit;
        seen = commit.revision;
      }
      if (commits.length === 0 && caughtUp()) await nextWakeUp(wakeUps, signal, caughtUp);
    }
  }

  return {
    publish(commit) {
      newest.set(commit.workspace, commit.revision);
      // Earlier readings do not contain this commit.
      for (const key of readings.keys()) if (key.startsWith(`${commit.workspace} `)) readings.delete(key);
      for (const listener of [...listeners]) {
        try {
          listener(commit);
        } catch (error) {
          log.error({ error, workspace: commit.workspace, revision: commit.revision }, 'a commit listener failed');
        }
      }
      wakeAll();
    },
    onCommit(listener) {
      const own = (commit: Commit) => listener(commit);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    watch,
    close() {
      closed = true;
      wakeAll();
    },
  };
}

/** Resolves on a commit of the watched workspace, on close and on abort. */
function nextWakeUp(wakeUps: Set<() => void>, signal: AbortSignal, asleep: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      if (asleep()) return;
      wakeUps.delete(wake);
      signal.removeEventListener('abort', wake);
      resolve();
    };
    wakeUps.add(wake);
    signal.addEventListener('abort', wake);
  });
}
