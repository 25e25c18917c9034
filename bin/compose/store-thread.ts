import { parentPort, workerData } from 'node:worker_threads';
import type { BackupOptions, BackupResult } from '../../storage/database-file.ts';
import { storeAt } from '../../storage/open.ts';

/** A task that takes too long for the main thread, because it reads the whole file of the store of a URL. */
export type StoreTask = { readonly url: string } & (
  | { readonly kind: 'check' }
  | ({ readonly kind: 'backup' } & BackupOptions)
);

export interface StoreTaskResult {
  /** The fault of the file, a sentence. */
  readonly check: string | undefined;
  readonly backup: BackupResult | undefined;
}

const task = workerData as StoreTask;
const { file } = storeAt(task.url);
parentPort?.postMessage(await (task.kind === 'check' ? file?.fault() : file?.backUp(task)));
