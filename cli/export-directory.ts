import { lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { API_VERSION } from '../core/base/record.ts';
import { CliError, EXIT } from './exit.ts';
import { FOLDERS, isThere, MARKER } from './resource-files.ts';

/** @throws CliError for a directory that holds something else */
export async function requireOwn(directory: string, isForced: boolean): Promise<void> {
  const entries = await readdir(directory).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return [];
    throw new CliError(`Cannot write to ${directory}: ${error.message}`, EXIT.input);
  });
  // A new repository has only hidden entries.
  if (isForced || entries.includes(MARKER) || entries.every((entry) => entry.startsWith('.'))) return;
  throw new CliError(
    `${directory} is not empty and no earlier export: name another directory, or give --force to write beside what is there.`,
    EXIT.conflict,
  );
}

const MARK = `# mesh export wrote the files in ${Object.values(FOLDERS).join('/, ')}/ and writes them again; others here are left alone.\n`;

/** Each file is whole at any time. What an earlier export wrote and is not among them any more is removed at the end. */
export async function writeExport(directory: string, files: ReadonlyMap<string, string>) {
  const written: string[] = [];
  const removed: string[] = [];
  try {
    const before = new Set<string>();
    for (const folder of Object.values(FOLDERS)) {
      await mkdir(path.join(directory, folder), { recursive: true });
      // A link would lead out of the directory.
      if (!(await lstat(path.join(directory, folder))).isDirectory()) throw new Error(`${folder} is no directory`);
      for (const name of await readdir(path.join(directory, folder))) before.add(`${folder}/${name}`);
    }
    const isRenewed = await isThere(path.join(directory, MARKER));
    if (!isRenewed) await writeWhole(path.join(directory, MARKER), MARK);
    for (const [file, text] of files) {
      if ((await textAt(path.join(directory, file))) === text) continue;
      await writeWhole(path.join(directory, file), text);
      written.push(file);
    }
    for (const file of isRenewed ? [...before].sort() : []) {
      if (files.has(file) || !isOwn(file, await textAt(path.join(directory, file)))) continue;
      await rm(path.join(directory, file));
      removed.push(file);
    }
    return { written, removed, unchanged: files.size - written.length };
  } catch (error) {
    throw new CliError(`Cannot write to ${directory}: ${(error as Error).message}`, EXIT.input);
  }
}

/** A resource of the kind that its folder is for; nothing else is removed, whoever put it there. */
function isOwn(file: string, text: string | undefined): boolean {
  const kind = Object.entries(FOLDERS).find(([, folder]) => file.startsWith(`${folder}/`))?.[0];
  return file.endsWith('.yaml') && text?.startsWith(`apiVersion: ${API_VERSION}\nkind: ${kind}\n`) === true;
}

/** The text of a file; undefined where there is none, or what is there is no file. */
async function textAt(place: string): Promise<string | undefined> {
  const isFile = await lstat(place).then(
    (found) => found.isFile(),
    () => false,
  );
  return isFile ? readFile(place, 'utf8') : undefined;
}

async function writeWhole(place: string, text: string): Promise<void> {
  const part = `${place}.part`;
  await rm(part, { force: true });
  await writeFile(part, text, { flag: 'wx' });
  await rename(part, place);
}
