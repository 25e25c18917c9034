import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { linksFollowed } from './links.ts';

/** Copies of databases that were removed under a control plane: `mesh.db.rescued`, then `mesh.db.rescued-2`, beside where the file was. */

/** Each as large as the database. */
export const MAX_RESCUED = 5;

const RESCUED = '.rescued';
const NUMBER = /^(-\d+)?$/;

/** @param file by whatever name; it need not be there */
export function rescuedBeside(file: string): string[] {
  const first = `${linksFollowed(file)}${RESCUED}`;
  const [folder, name] = [path.dirname(first), path.basename(first)];
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const isOne = (each: string) => each.startsWith(name) && NUMBER.test(each.slice(name.length));
  return names.filter(isOne).map((each) => path.join(folder, each));
}

/**
 * Where the next one is to stand. What an earlier one holds may be nowhere else: where there are as many as are kept, it takes
 * the place of the oldest but the first, which has what there was before anything was lost.
 */
export function nextRescued(file: string): string {
  const first = `${linksFollowed(file)}${RESCUED}`;
  const later = Array.from({ length: MAX_RESCUED - 1 }, (_, n) => `${first}-${n + 2}`);
  const free = [first, ...later].find((name) => !existsSync(name));
  if (free !== undefined) return free;
  const ageOf = (name: string) => statSync(name, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return later.reduce((oldest, name) => (ageOf(name) < ageOf(oldest) ? name : oldest));
}
