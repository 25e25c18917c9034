import { existsSync, renameSync } from 'node:fs';
import { StoreError } from '../../core/base/ports.ts';
import { formatInstant } from '../../core/base/time.ts';
import { openDatabase } from './database.ts';

/** The database and what SQLite keeps beside it, together: a damaged one may be of use still. */
export function moveAside(file: string, why: 'restore' | 'copy', now: number): string | undefined {
  if (existsSync(file)) fold(file);
  const aside = `${file}.before-${why}-${formatInstant(now).replaceAll(/[-:]|\.\d+/g, '')}`;
  // The log of a database that is gone too: it may be the newest there is, and would be taken for that of the next one.
  const ends = ['', '-wal', '-shm'].filter((end) => existsSync(`${file}${end}`));
  for (const end of ends) renameSync(`${file}${end}`, `${aside}${end}`);
  return ends[0] === undefined ? undefined : `${aside}${ends[0]}`;
}

/** Closing the only connection moves the log into the file. @throws StoreError where another process has it open */
function fold(file: string): void {
  try {
    openDatabase(file).close();
  } catch (error) {
    if (!(error instanceof StoreError) || error.subject.includes('is in use')) throw error;
  }
}
