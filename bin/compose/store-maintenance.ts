import { statfsSync, statSync } from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import type { DurableHeads } from '../../core/audit/log-keys.ts';
import type { Clock, Log } from '../../core/base/ports.ts';
import { type Job, later } from '../../plane/jobs.ts';
import { backupAt, backupsIn, backupTime, dropOldBackups } from '../../storage/backup-files.ts';
import type { StoreUpkeep } from '../../storage/engine.ts';
import type { StoreTask, StoreTaskResult } from './store-thread.ts';

/** How the database is, for readiness, metrics and whoever looks. */
export interface StoreState {
  /** False once the file was removed, replaced or cut short: every write is refused. */
  readonly writable: boolean;
  /** The sizes of the database file and of its write-ahead log. */
  readonly bytes: { readonly file: number; readonly log: number };
  /** The newest automatic backup; undefined before the first. */
  readonly backup: { readonly at: number; readonly ageMs: number; readonly bytes: number } | undefined;
  /** Problems for an operator, a sentence each. */
  readonly problems: readonly string[];
}

export interface StoreMaintenanceOptions {
  readonly configDir: string;
  readonly upkeep: StoreUpkeep;
  readonly heads: DurableHeads;
  readonly installation: string;
  /** Off, or how often and how many are kept. */
  readonly backups: 'off' | { readonly every: number; readonly keep: number };
  readonly clock: Clock;
  readonly log: Log;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** After a start, which has other things to do first. */
const FIRST_CHECK_MS = 30 * SECOND_MS;
const FIRST_BACKUP_MS = MINUTE_MS;
/** A backup leaves at least so many times the size of the database free. */
const SPARE = 2;

/** Watches the file of the store, checks it, moves its log into it, gives space back, and backs it up. */
export function buildStoreMaintenance({
  configDir,
  upkeep,
  heads,
  installation,
  backups,
  clock,
  log,
}: StoreMaintenanceOptions) {
  const { file } = upkeep;
  let told: string | undefined;
  let isOver = false;
  let fault: string | undefined;
  let failure: string | undefined;

  const watch = async () => {
    const problem = upkeep.problem();
    if (problem === undefined || isOver) return;
    if (told === undefined)
      log.error({ problem }, 'the database is gone from under the control plane: nothing is written any more');
    told = problem;
    const copy = await upkeep.rescue();
    isOver = true;
    if (copy !== undefined) log.error({ copy }, 'all that was there is in this copy: stop meshd, and meshd restore it');
    else
      log.error(
        { file: file?.path },
        'what is left is no whole database, so none is kept: stop meshd, and meshd restore a backup',
      );
  };
  const check = async (url: string) => {
    fault = await inThread({ kind: 'check', url });
    if (fault !== undefined) log.error({ fault }, 'the database is damaged');
  };
  const backUp = async (url: string, keep: number) => {
    try {
      requireSpace(configDir, upkeep.bytes());
      const to = backupAt(configDir, clock.now());
      const marks = heads.all();
      const made = await inThread({ kind: 'backup', url, to, now: clock.now(), installation, heads: marks });
      dropOldBackups(configDir, keep);
      failure = undefined;
      log.info({ to, bytes: made?.bytes, entries: made?.entries }, 'the database is backed up');
    } catch (error) {
      failure = (error as Error).message;
      throw error;
    }
  };

  return {
    jobs(): Job[] {
      if (file === undefined) return [];
      return [
        later('watch the database file', clock, { first: SECOND_MS, every: SECOND_MS }, watch),
        later('check the database', clock, { first: FIRST_CHECK_MS, every: DAY_MS }, () => check(file.url)),
        later('move the log into the database', clock, { first: MINUTE_MS, every: MINUTE_MS }, async () => {
          if (upkeep.problem() === undefined) upkeep.checkpoint();
        }),
        later('give space back', clock, { first: HOUR_MS, every: HOUR_MS }, () => upkeep.vacuum()),
        ...(backups === 'off' ? [] : [daily(file.url, backups)]),
      ];
    },
    state(): StoreState {
      const newest = file === undefined ? undefined : newestBackup(configDir, clock.now());
      const isLate = backups !== 'off' && newest !== undefined && newest.ageMs > 2 * backups.every;
      return {
        writable: upkeep.problem() === undefined,
        bytes: upkeep.bytes(),
        backup: newest,
        problems: [
          ...(upkeep.problem() === undefined ? [] : ['The database file was removed, replaced or cut short.']),
          ...(fault === undefined ? [] : ['The database is damaged: restore it from a backup.']),
          ...(failure === undefined ? [] : ['The last backup of the database failed: see the log.']),
          ...(isLate ? ['The newest backup of the database is older than it should be.'] : []),
        ],
      };
    },
  };

  function daily(url: string, { every, keep }: { readonly every: number; readonly keep: number }): Job {
    const newest = newestBackup(configDir, clock.now());
    const first = Math.max(FIRST_BACKUP_MS, newest === undefined ? 0 : every - newest.ageMs);
    return later('back up the database', clock, { first, every }, () => backUp(url, keep));
  }
}

function newestBackup(configDir: string, now: number): StoreState['backup'] {
  const [file] = backupsIn(configDir);
  const bytes = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false })?.size;
  if (file === undefined || bytes === undefined) return undefined;
  const at = backupTime(file);
  return { at, ageMs: Math.max(0, now - at), bytes };
}

/** A backup that fills the disk would stop the control plane. @throws Error */
function requireSpace(configDir: string, { file, log }: StoreState['bytes']): void {
  const { bavail, bsize } = statfsSync(path.resolve(configDir));
  const [free, needed] = [bavail * bsize, SPARE * (file + log)];
  if (free < needed) throw new Error(`no backup is made: ${free} bytes are free in ${configDir}, it takes ${needed}`);
}

const THREAD = new URL(`./store-thread${path.extname(import.meta.url)}`, import.meta.url);

/** Does a task in a thread of its own, which ends with it. @throws Error of the task */
function inThread<K extends StoreTask['kind']>(task: Extract<StoreTask, { kind: K }>): Promise<StoreTaskResult[K]> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(THREAD, { workerData: task, name: task.kind });
    // A plane that stops does not wait for it; what was half written is removed with the next one.
    worker.unref();
    worker.once('message', resolve).once('error', reject);
    worker.once('exit', () => reject(new Error(`the thread of the ${task.kind} ended by itself`)));
  });
}
