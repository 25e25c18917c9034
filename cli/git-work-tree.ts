import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** A file in a work tree of Git, which whoever commits there could share. */
export interface InWorkTree {
  readonly root: string;
  /** Lines for `.gitignore` that keep the file, and its backup, out of commits. */
  readonly entries: readonly string[];
  /** True where Git keeps versions of it already, so that it has to be told to forget it. */
  readonly isTracked: boolean;
}

/** Returns the work tree that a file is, or would be, committed in; undefined where there is none, or Git ignores the file. */
export function workTreeWith(file: string): InWorkTree | undefined {
  const root = rootAbove(path.dirname(file));
  if (root === undefined) return undefined;
  const name = path.relative(root, file).split(path.sep).join('/');
  const entries = [name, `${name}.bak`].map((each) => `/${each.replaceAll(/[\\*?[\]!# ]/g, '\\$&')}`);
  const isTracked = git(root, 'ls-files', '--error-unmatch', '--', name) === 0;
  const isIgnored =
    git(root, 'check-ignore', '--quiet', '--', name) === 0 || entries.every((entry) => isIn(root, entry));
  return isIgnored && !isTracked ? undefined : { root, entries, isTracked };
}

/** Adds the entries to the `.gitignore` of the work tree. @returns that file */
export function ignoreIn({ root, entries }: InWorkTree): string {
  const file = ignoreFile(root);
  const before = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const missing = entries.filter((entry) => !isIn(root, entry));
  const gap = before === '' || before.endsWith('\n') ? '' : '\n';
  if (missing.length > 0) appendFileSync(file, `${gap}${missing.join('\n')}\n`);
  return file;
}

const ignoreFile = (root: string) => path.join(root, '.gitignore');

function isIn(root: string, entry: string): boolean {
  const file = ignoreFile(root);
  return existsSync(file) && readFileSync(file, 'utf8').split(/\r?\n/).includes(entry);
}

function rootAbove(directory: string): string | undefined {
  if (existsSync(path.join(directory, '.git'))) return directory;
  const above = path.dirname(directory);
  return above === directory ? undefined : rootAbove(above);
}

/** @returns the exit code; null where there is no Git. A setting of the repository runs no program. */
function git(root: string, ...words: readonly string[]): number | null {
  return spawnSync('git', ['-C', root, '-c', 'core.fsmonitor=false', ...words], { stdio: 'ignore', timeout: 5_000 })
    .status;
}
