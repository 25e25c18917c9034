import path from 'node:path';
import { Worker } from 'node:worker_threads';
import type { StoreTask, StoreTaskResult } from './store-thread.ts';

const ENTRY = new URL(`./store-thread${path.extname(import.meta.url)}`, import.meta.url);

/** Does a task in a thread of its own, which ends with it. @throws Error of the task */
export function inThread<K extends StoreTask['kind']>(
  task: Extract<StoreTask, { kind: K }>,
): Promise<StoreTaskResult[K]> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(ENTRY, { workerData: task, name: task.kind });
    // A plane that stops does not wait for it; what was half written is removed with the next one.
    worker.unref();
    worker.once('message', resolve).once('error', reject);
    worker.once('exit', () => reject(new Error(`the thread of the ${task.kind} ended by itself`)));
  });
}
