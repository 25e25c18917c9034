import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

/** Contents of the text files of a directory, by path in it. */
export type Directory = Readonly<Record<string, string>>;

export function filesIn(directory: string, isWanted: (name: string) => boolean): Directory {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const names = entries.map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)));
  const wanted = names.filter(isWanted).sort();
  return Object.fromEntries(wanted.map((name) => [name, readFileSync(path.join(directory, name), 'utf8')]));
}

export function writeDirectory(file: string, files: Directory): void {
  writeFileSync(file, gzipSync(JSON.stringify(files), { level: 9 }));
}

export function readDirectory(file: string): Directory {
  return JSON.parse(gunzipSync(readFileSync(file)).toString());
}

/** Writes the files so that nobody else can read them: Git keeps no modes, and secrets that others can read are refused. */
export function unpack(files: Directory, directory: string): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(path.join(directory, path.dirname(name)), { recursive: true, mode: 0o700 });
    writeFileSync(path.join(directory, name), content, { mode: 0o600 });
  }
}
