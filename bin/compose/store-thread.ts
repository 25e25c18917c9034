import { parentPort, workerData } from 'node:worker_threads';
import { type BackupOptions, type MadeBackup, writeBackup } from '../../storage/sqlite/backup.ts';
import { faultIn } from '../../storage/sqlite/integrity.ts';

/** A task that takes too long for the main thread, because it reads the whole file. */
export type StoreTask =
  | { readonly kind: 'check'; readonly file: string }
  | ({ readonly kind: 'backup' } & BackupOptions);

export interface StoreTaskResult {
  /** The fault of the file, a sentence. */
  readonly check: string | undefined;
  readonly backup: MadeBackup;
}

const task = workerData as StoreTask;
parentPort?.postMessage(task.kind === 'check' ? faultIn(task.file) : await writeBackup(task));
