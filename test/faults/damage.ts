import { closeSync, existsSync, openSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { Random } from './random.ts';

/** What becomes of the files of a database while nobody looks. The control plane is down. */
export interface Damage {
  readonly name: string;
  inflict(file: string, random: Random): void;
}

const PAGE_BYTES = 4_096;
const SECTOR_BYTES = 512;
/** The header of the log, before its first page. */
const WAL_HEADER_BYTES = 32;

export const DAMAGES: readonly Damage[] = [
  {
    name: 'gone',
    inflict(file) {
      for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true });
    },
  },
  { name: 'log gone', inflict: (file) => rmSync(`${file}-wal`) },
  {
    name: 'short log',
    inflict: (file, random) => truncateSync(`${file}-wal`, random.below(statSync(`${file}-wal`).size)),
  },
  { name: 'torn page of the log', inflict: (file, random) => tear(`${file}-wal`, WAL_HEADER_BYTES, random) },
  {
    name: 'torn page',
    inflict(file, random) {
      moveLogInto(file);
      tear(file, 0, random);
    },
  },
];

/** Of one page the sectors from some point on are what was written elsewhere. */
function tear(file: string, from: number, random: Random): void {
  const pages = Math.floor((statSync(file).size - from) / PAGE_BYTES);
  const sector = random.below(PAGE_BYTES / SECTOR_BYTES);
  const length = PAGE_BYTES - sector * SECTOR_BYTES;
  const other = Buffer.alloc(length, random.chance(0.5) ? 0 : 0xa5);
  const open = openSync(file, 'r+');
  writeSync(open, other, 0, length, from + random.below(pages) * PAGE_BYTES + sector * SECTOR_BYTES);
  closeSync(open);
}

/** What closing the last connection does. */
function moveLogInto(file: string): void {
  if (!existsSync(`${file}-wal`)) return;
  const database = new DatabaseSync(file);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  database.close();
}
