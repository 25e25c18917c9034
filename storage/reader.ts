import type { Commit, Log, Store } from '../core/base/ports.ts';
import { WriteQueue } from '../core/base/write-queue.ts';
import { buildFeed } from './feed.ts';

export interface ReaderOptions {
  readonly log: Log;
  /** The writes of the store that is open in this process. */
  readonly writes: Pick<Store, 'commit' | 'record'>;
}

/** A second view of a store that is open elsewhere in this process: it reads by itself, and writes there. */
export interface StoreReader extends Store {
  /** Tells the listeners of `onCommit` of what was committed to a workspace since the last time. */
  refresh(workspace: string): Promise<void>;
  /** Names the keys that the store is written with, if the database says so. Present only for a store that runs on servers. */
  claimedWith?(): Promise<string | undefined>;
}

/** The operations of a store that only read. */
export type Reads = Pick<
  Store,
  | 'get'
  | 'lookup'
  | 'getById'
  | 'list'
  | 'history'
  | 'versions'
  | 'keptFrom'
  | 'revision'
  | 'revisionAt'
  | 'commits'
  | 'audit'
  | 'auditTree'
  | 'workspaces'
  | 'sizeBetween'
>;

/** Commits read at once. */
const PAGE = 500;

/** @param newestOf the revision that a workspace has at least when it is refreshed */
export function readerOn(
  reads: Reads,
  { log, writes }: ReaderOptions,
  close: () => void | Promise<void>,
  newestOf: Reads['revision'] = reads.revision,
): StoreReader {
  const feed = buildFeed(log, reads.commits);
  const seen = new Map<string, number>();

  async function refresh(workspace: string): Promise<void> {
    const newest = await newestOf(workspace);
    let last = seen.get(workspace) ?? newest;
    while (last < newest) {
      const page: readonly Commit[] = await reads.commits(workspace, last, PAGE);
      for (const commit of page) feed.publish(commit);
      last = page.at(-1)?.revision ?? newest;
    }
    seen.set(workspace, last);
  }

  const elsewhere = () => Promise.reject(new TypeError('A computing thread has no part in this.'));
  return {
    ...reads,
    queue: new WriteQueue(),
    refresh,
    async commit(workspace, ops, context) {
      const commit = await writes.commit(workspace, ops, context);
      await refresh(workspace);
      return commit;
    },
    record: writes.record,
    watch: (workspace, from, signal) => feed.watch(workspace, from, signal),
    onCommit: (listener) => feed.onCommit(listener),
    async caughtUp(workspaces) {
      await Promise.all(workspaces.map(refresh));
    },
    damaged: () => [],
    auditTree: (workspace) => ({ ...reads.auditTree(workspace), keepCheckpoint: elsewhere }),
    compact: elsewhere,
    acquire: elsewhere,
    renew: elsewhere,
    release: elsewhere,
    leases: elsewhere,
    async close() {
      feed.close();
      await close();
    },
  };
}
