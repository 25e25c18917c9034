import { type ExecFileSyncOptions, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { type Ran, run } from './run-command.ts';

const SOURCE = path.resolve(import.meta.dirname, '../../evidence-judges');
const REQUIREMENTS = path.join(SOURCE, 'requirements.txt');
const CACHE = path.resolve(import.meta.dirname, '../../../node_modules/.cache');
const INSTALL_MS = 300_000;

export type JudgeScript = 'envelope.py' | 'github_markdown.py' | 'oscal_results.py';
export type PythonJudges = (script: JudgeScript, args: readonly string[], stdin?: string) => Promise<Ran>;

/** The judges of test/evidence-judges. Undefined, and @throws, as `pythonWith`. */
export function pythonJudges(): PythonJudges | undefined {
  const python = pythonWith(REQUIREMENTS, 'evidence-judges');
  if (python === undefined) return undefined;
  return (script, args, stdin = '') => run(python, [path.join(SOURCE, script), ...args], { stdin, timeoutMs: 120_000 });
}

/**
 * The interpreter of a Python of its own that is made once for each list of packages. Undefined, and said so, where it cannot be
 * made, as without a package registry; on CI it has to be there.
 *
 * @throws Error with CI=true where it cannot be made
 */
export function pythonWith(requirements: string, name: string): string | undefined {
  try {
    return path.join(pythonEnvironment(requirements, name), 'bin/python');
  } catch (error) {
    if (process.env['CI'] === 'true') throw error;
    process.stderr.write(`The Python of ${name} cannot be had: tests with it are left out (${String(error)}).\n`);
    return undefined;
  }
}

/** A Python of its own with a list of packages, made once for each list. @throws Error where it cannot be had */
export function pythonEnvironment(requirements: string, name: string): string {
  const digest = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16);
  const folder = path.join(CACHE, `${name}-${digest}`);
  if (existsSync(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  const fresh = mkdtempSync(`${folder}-`);
  try {
    const options: ExecFileSyncOptions = { stdio: ['ignore', 'ignore', 'pipe'], timeout: INSTALL_MS };
    execFileSync('python3', ['-m', 'venv', fresh], options);
    const install = [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      '--no-deps',
      '--only-binary',
      ':all:',
    ];
    execFileSync(path.join(fresh, 'bin/python'), [...install, '-r', requirements], options);
    putInPlace(fresh, folder);
    return folder;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Whole or not at all; another file's tests may have made the same meanwhile. */
function putInPlace(fresh: string, folder: string): void {
  try {
    renameSync(fresh, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
}
