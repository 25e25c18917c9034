import path from 'node:path';
import type { DatabaseFile } from '../database-file.ts';
import type { StoreEngine } from '../engine.ts';
import { linksFollowed } from '../links.ts';
import { DamageError, IN_MEMORY, isDamage } from './database.ts';
import { damaged } from './integrity.ts';
import { hasEntries, readLogs } from './losses.ts';
import { retirementReason } from './move-note.ts';
import { openSqliteReader } from './reader.ts';
import { openSqliteStore } from './store.ts';

/** The embedded store as one of the kinds that a URL can name: `sqlite:<file>`, or `sqlite://<file>`. */
export const sqlite: StoreEngine = {
  form: '<file>',
  at(place) {
    const file = place.replace(/^\/\//, '');
    return {
      open: (options) => openSqliteStore({ path: file, ...options }),
      openReader: async (options) => openSqliteReader({ path: file, ...options }),
      openSource: async () => (await import('./copy-source.ts')).openSqliteSource(linksFollowed(file)),
      openTarget: async (now) => (await import('./copy-target.ts')).sqliteTarget(linksFollowed(file), now),
      problem: async () => undefined,
      file: file === IN_MEMORY ? undefined : sqliteFile(path.resolve(file)),
      servers: undefined,
    };
  },
};

/** Loads what a start does not need only when it is asked for. */
export function sqliteFile(file: string): DatabaseFile {
  return {
    path: file,
    at: sqliteFile,
    hasEntries: async () => hasEntries(file),
    readLogs: (look) => readLogs(file, look),
    whyNotInUse: async () => retirementReason(file),
    damageIn(error) {
      if (error instanceof DamageError) return error.what;
      return isDamage(error) ? damaged(file, (error as Error).message) : undefined;
    },
    fault: async () => (await import('./integrity.ts')).faultIn(file),
    programFaults: async () => (await import('./programs.ts')).programFaultsIn(file),
    verify: async (only) => (await import('./verify/verify.ts')).verifyDatabase(file, only),
    accept: async (options) => (await import('./accept.ts')).acceptLogs(file, options),
    backUp: async (options) => (await import('./backup.ts')).writeBackup(file, options),
    requireReplaceable: async () => (await import('./backup.ts')).requireReplaceable(file),
    requireBackup: async () => (await import('./restore.ts')).requireBackup(file),
    label: async () => (await import('./backup.ts')).labelOf(file),
    restore: async (options) => (await import('./restore.ts')).putInPlace(file, options),
    rewrite: async () => (await import('./upkeep.ts')).rewriteDatabase(file),
  };
}
