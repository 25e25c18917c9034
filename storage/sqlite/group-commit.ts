import type { Log } from '../../core/base/ports.ts';
import { unavailable } from '../unavailable.ts';
import { asStoreError, type Database } from './database.ts';
import { type FileWatch, nothingToWatch } from './file-watch.ts';

/** Runs write jobs one after the other; what arrives in one tick of the event loop shares one transaction and one fsync. */
export interface GroupCommit {
  /**
   * A job runs in its own savepoint: if it throws, its writes alone are undone and its caller alone hears.
   * `published` runs after the transaction is durable and before the caller goes on, in the order of the jobs.
   */
  enqueue<T>(job: () => T, published?: (result: T) => void): Promise<T>;
  /** Runs what is queued and takes no more. */
  close(): void;
}

interface QueuedJob {
  /** Runs the job; the answer is how to settle it once the transaction is durable. */
  run(): () => void;
  reject(error: unknown): void;
}

/** Jobs of one transaction, so that a burst cannot hold the event loop for more than some tens of milliseconds. */
const MAX_GROUP = 128;

export function buildGroupCommit(database: Database, log: Log, watch: FileWatch = nothingToWatch): GroupCommit {
  const queue: QueuedJob[] = [];
  let closed = false;

  const flush = (): void => {
    const batch = queue.splice(0, MAX_GROUP);
    if (queue.length > 0) setImmediate(flush);
    if (batch.length === 0) return;
    try {
      watch.check();
      const written = database.transaction(() => batch.map((queued) => inSavepoint(database, queued)));
      watch.settle();
      for (const settle of written) settle();
    } catch (error) {
      log.error({ error, writes: batch.length }, 'the store could not write');
      for (const { reject } of batch) reject(asStoreError(error));
    }
  };

  return {
    enqueue: (job, published) =>
      new Promise((resolve, reject) => {
        if (closed) {
          reject(unavailable('the store is closed'));
          return;
        }
        if (queue.length === 0) setImmediate(flush);
        queue.push({
          reject,
          run() {
            const result = job();
            return () => {
              published?.(result);
              resolve(result);
            };
          },
        });
      }),
    close() {
      closed = true;
      while (queue.length > 0) flush();
    },
  };
}

function inSavepoint(database: Database, queued: QueuedJob): () => void {
  database.statement('SAVEPOINT job').run();
  try {
    const settle = queued.run();
    database.statement('RELEASE job').run();
    return settle;
  } catch (error) {
    database.trees.clear();
    // A full disk may have ended the whole transaction: then nothing of the batch stands.
    if (!database.connection.isTransaction) throw error;
    database.statement('ROLLBACK TO job').run();
    database.statement('RELEASE job').run();
    return () => queued.reject(asStoreError(error));
  }
}
