import { spawn } from 'node:child_process';
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { INTERFACE } from '../client/agent/node-locks.ts';
import { textIn } from '../client/if-readable.ts';
import { RUN_DIRECTORY } from '../client/run-directory.ts';
import { runProgram } from '../client/run-program.ts';
import { type Answer, answering } from './answer.ts';
import { CliError, EXIT } from './exit.ts';
import { isRunning } from './is-running.ts';
import { nodeDirectory } from './node-directory.ts';
import { localInterface } from './node-interface.ts';
import { interfaceOf } from './node-options.ts';
import { LOG_DIRECTORY_TEXT, logDirectoryOf, requireNodeRights } from './node-rights.ts';
import { findService, localManager } from './service/local-manager.ts';
import { visible } from './visible.ts';

interface LogsOptions {
  readonly follow?: boolean;
  readonly lines: number;
  readonly interface?: string;
  readonly configDir?: string;
  readonly logDir: string;
}

const MOST_LINES = 100_000;
const POLL_MS = 200;

/** `mesh logs`: what the node logged, as a service or as a daemon. */
export function defineLogs(logs: Command): void {
  answering(
    logs
      .option('-f, --follow', 'go on with what it logs from now on, until Ctrl-C')
      .option('-n, --lines <count>', 'how many lines of the past; 0 with -f: only what is new', linesOf, 100)
      .option('--config-dir <dir>', 'directory that mesh init wrote (~/.mesh)')
      .option('--interface <name>', 'interface of the node (the one it has, or had last)', interfaceOf)
      .option('--log-dir <dir>', `where mesh up --daemon logs ${LOG_DIRECTORY_TEXT}`),
    async (options: LogsOptions): Promise<Answer | undefined> => {
      requireNodeRights('mesh logs', options.configDir);
      const directory = nodeDirectory(options.configDir);
      const interfaceName = options.interface ?? localInterface(directory);
      const { journal, file } = await sourceOf(
        directory,
        interfaceName,
        logDirectoryOf(options.logDir, options.configDir),
      );
      if (options.follow) {
        if (journal) await followJournal(journal, options.lines);
        else await followFile(file, options.lines);
        return undefined;
      }
      const lines = journal ? await journalLines(journal, options.lines) : fileLines(file, options.lines);
      return { value: { source: journal?.at(-1) ?? file, lines }, text: lines };
    },
  );
}

/**
 * Returns the source of the log of a node: the journal or the log file of its service, or the file of its daemon where no
 * service is installed or a daemon runs in its place. @throws CliError where there is neither
 */
export async function sourceOf(
  directory: string,
  interfaceName: string,
  logDirectory: string,
): Promise<{ readonly journal?: readonly string[]; readonly file: string }> {
  const file = path.join(logDirectory, `${interfaceName}.log`);
  const manager = findService(directory)?.manager ?? localManager();
  const { state } = await manager.status(interfaceName);
  if (state !== 'not installed') {
    // A service that was ended may have had a daemon in its place since.
    if (state !== 'running' && existsSync(file) && isHeld(interfaceName)) return { file };
    const own = manager.logFile?.(interfaceName);
    const journal = manager.journal?.(interfaceName);
    return own === undefined && journal ? { journal, file } : { file: own ?? file };
  }
  if (existsSync(file)) return { file };
  throw new CliError(
    `There is no log: ${file} does not exist and no service is installed. A node in the foreground logs to its terminal.`,
    EXIT.notFound,
  );
}

function isHeld(interfaceName: string): boolean {
  const pid = Number(textIn(path.join(RUN_DIRECTORY, interfaceName, INTERFACE.pidFile)));
  return pid > 0 && isRunning(pid);
}

const JOURNAL = ['--no-pager', '-o', 'cat'];

export async function journalLines(journal: readonly string[], lines: number): Promise<string[]> {
  const { code, stdout, stderr } = await runProgram('journalctl', [...JOURNAL, ...journal, '-n', `${lines}`]);
  if (code !== 0) throw new CliError(`journalctl failed: ${stderr.trim()}`, EXIT.unavailable);
  return split(stdout);
}

/** The last lines of a log, and of the one before where it has too few. */
export function fileLines(file: string, lines: number): string[] {
  if (lines === 0) return [];
  const newest = split(readFileSync(file, 'utf8'));
  if (newest.length >= lines || !existsSync(`${file}.1`)) return newest.slice(-lines);
  return [...split(readFileSync(`${file}.1`, 'utf8')), ...newest].slice(-lines);
}

function followJournal(journal: readonly string[], lines: number): Promise<void> {
  const child = spawn('journalctl', [...JOURNAL, ...journal, '-n', `${lines}`, '-f'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.setEncoding('utf8').on('data', (text: string) => process.stdout.write(visible(text)));
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new CliError(`journalctl failed: ${error.message}`, EXIT.unavailable)));
    child.once('exit', () => resolve());
  });
}

/** As the file grows; when another takes its place, that one from its beginning. Ends with this process. */
async function followFile(name: string, lines: number): Promise<never> {
  process.stdout.write(
    fileLines(name, lines)
      .map((line) => `${visible(line)}\n`)
      .join(''),
  );
  let file = openSync(name, 'r');
  let at = fstatSync(file).size;
  for (;;) {
    at = copyFrom(file, at);
    const now = statSync(name, { throwIfNoEntry: false });
    if (now && now.ino !== fstatSync(file).ino) {
      copyFrom(file, at);
      closeSync(file);
      [file, at] = [openSync(name, 'r'), 0];
    } else await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

const CHUNK_BYTES = 65_536;

/** Writes what stands after a place. @returns the place after it */
function copyFrom(file: number, from: number): number {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let at = from; ; ) {
    const read = readSync(file, chunk, 0, CHUNK_BYTES, at);
    if (read === 0) return at;
    process.stdout.write(visible(chunk.toString('utf8', 0, read)));
    at += read;
  }
}

function split(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

function linesOf(text: string): number {
  const lines = /^\d{1,6}$/.test(text) ? Number(text) : -1;
  if (lines < 0 || lines > MOST_LINES) throw new InvalidArgumentError(`It is a number from 0 to ${MOST_LINES}.`);
  return lines;
}
