import { renameSync, rmSync, statSync } from 'node:fs';
import { backup } from 'node:sqlite';
import type { StoreUpkeep } from '../engine.ts';
import { nextRescued } from '../rescued-files.ts';
import { unavailable } from '../unavailable.ts';
import { asStoreError, createPrivate, type Database, isDamage, openDatabase } from './database.ts';
import type { FileWatch } from './file-watch.ts';
import type { GroupCommit } from './group-commit.ts';
import { faultIn, requireIntact } from './integrity.ts';

/** Free pages are used again; fewer than these stay: 4 MiB, and a fifth of the file. */
const LEAST_FREE_PAGES = 1_024;
const LEAST_FREE_SHARE = 0.2;
/** Given back in one write: some milliseconds. */
const PAGES_A_STEP = 128;

export function upkeepOf(
  database: Database,
  file: string | undefined,
  groupCommit: GroupCommit,
  watch: FileWatch,
): StoreUpkeep {
  const sizeOf = (name: string) => statSync(name, { throwIfNoEntry: false })?.size ?? 0;
  const step = () => {
    const free = freePages(database);
    if (free === 0) return 0;
    database.statement(`PRAGMA incremental_vacuum(${PAGES_A_STEP})`).all();
    return free - pragma(database, 'freelist_count');
  };
  return {
    file: file === undefined ? undefined : { path: file, url: `sqlite:${file}` },
    problem: watch.problem,
    bytes: () => (file === undefined ? { file: 0, log: 0 } : { file: sizeOf(file), log: sizeOf(`${file}-wal`) }),
    checkpoint() {
      watch.check();
      database.statement('PRAGMA wal_checkpoint(PASSIVE)').get();
      watch.settle();
    },
    async vacuum() {
      let given = 0;
      for (let last = await groupCommit.enqueue(step); last > 0; last = await groupCommit.enqueue(step)) given += last;
      return given;
    },
    async rescue() {
      if (file === undefined) throw unavailable('a store in memory has no file');
      const copy = nextRescued(file);
      const draft = `${copy}.new`;
      const clear = () => {
        for (const end of ['', '-wal', '-shm']) rmSync(`${draft}${end}`, { force: true });
      };
      clear();
      try {
        createPrivate(draft);
        await backup(database.connection, draft);
        if (faultIn(draft) !== undefined) return undefined;
        renameSync(draft, copy);
        return copy;
      } catch (error) {
        if (isDamage(error)) return undefined;
        throw error;
      } finally {
        clear();
      }
    },
  };
}

/** As far as they are worth the work. */
function freePages(database: Database): number {
  const free = pragma(database, 'freelist_count');
  return free >= LEAST_FREE_PAGES && free >= LEAST_FREE_SHARE * pragma(database, 'page_count') ? free : 0;
}

function pragma(database: Database, name: 'freelist_count' | 'page_count'): number {
  return database.statement<Record<string, number>>(`PRAGMA ${name}`).get()?.[name] ?? 0;
}

/** Rewrites a database that nobody has open. */
export function rewriteDatabase(path: string): { readonly before: number; readonly after: number } {
  const before = statSync(path).size;
  const database = openDatabase(path);
  try {
    requireIntact(database);
    database.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)');
  } catch (error) {
    throw asStoreError(error);
  } finally {
    database.close();
  }
  return { before, after: statSync(path).size };
}
