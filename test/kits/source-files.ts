import { type Dirent, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../..');

/**
 * Returns the files of the repository, by path from its root, but for those that `.gitignore` names. Without Git, because a
 * downloaded archive of the sources has no history.
 */
export function sourceFiles(): string[] {
  const isIgnored = ignoredBy(readFileSync(path.join(ROOT, '.gitignore'), 'utf8'));
  const below = (folder: string): string[] =>
    readdirSync(path.join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
      const file = path.posix.join(folder, entry.name);
      if (entry.name === '.git' || isIgnored(file, entry)) return [];
      return entry.isDirectory() ? below(file) : [file];
    });
  return below('').sort();
}

/** Understands what `.gitignore` uses: names, `*` in a name, `/` in front for the root, `/` at the end for folders. */
function ignoredBy(lines: string): (file: string, entry: Pick<Dirent, 'name' | 'isDirectory'>) => boolean {
  const rules = lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const name = line.replace(/^\/|\/$/g, '');
      const pattern = new RegExp(`^${name.split('*').map(RegExp.escape).join('[^/]*')}$`);
      return { pattern, isWholePath: line.startsWith('/') || name.includes('/'), isFolder: line.endsWith('/') };
    });
  return (file, entry) =>
    rules.some(
      ({ pattern, isWholePath, isFolder }) =>
        pattern.test(isWholePath ? file : entry.name) && (!isFolder || entry.isDirectory()),
    );
}
