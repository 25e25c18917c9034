import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { linksFollowed } from './links.ts';

/** Copies of databases that were removed under a control plane: `mesh.db.rescued`, then `mesh.db.rescued-2`, beside where the file was. */

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

/** Where the next one is to stand: what an earlier one holds may be nowhere else. */
export function nextRescued(file: string): string {
  const first = `${linksFollowed(file)}${RESCUED}`;
  for (let nth = 1; ; nth += 1) {
    const name = nth === 1 ? first : `${first}-${nth}`;
    if (!existsSync(name)) return name;
  }
}
