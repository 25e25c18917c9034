import { readFile, readlink } from 'node:fs/promises';
import path from 'node:path';
import { runProgram } from '../run-program.ts';

export interface ProcessEntry {
  readonly parent: number;
  readonly command: readonly string[];
  /** When it began, in whatever unit: the same for as long as it runs. Empty where that is not told. */
  readonly startedAt: string;
  /** Its program was replaced on disk since it began, as an upgrade does. */
  readonly isReplaced: boolean;
}

/** Looks up a process; undefined when it is no more. */
export type ProcessTable = (pid: number) => Promise<ProcessEntry | undefined>;

/** Tells whether a command line is that of `mesh`, which runs agents. */
export function isAgentCommand(command: readonly string[]): boolean {
  return command.some((word) => /^mesh(\.[jt]s)?$/.test(path.basename(word)));
}

/** Fields of /proc/<pid>/stat behind the name, which may hold anything: state, parent, then 17 fields before the start. */
const STAT_FIELDS_BEFORE_START = 19;

export const linuxProcesses: ProcessTable = async (pid) => {
  const [stat, command] = await Promise.all(
    ['stat', 'cmdline'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')),
  );
  // A process that has ended and is not yet waited for has no command line.
  if (!stat || !command) return undefined;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const program = await readlink(`/proc/${pid}/exe`).catch(() => '');
  return {
    parent: Number(fields[1] ?? 0),
    command: command.split('\0').slice(0, -1),
    startedAt: fields[STAT_FIELDS_BEFORE_START] ?? '',
    isReplaced: program.endsWith(' (deleted)'),
  };
};

/** Where there is no /proc. Arguments with spaces in them are not told apart. */
export function psProcesses(run: typeof runProgram = runProgram): ProcessTable {
  return async (pid) => {
    const { stdout } = await run('ps', ['-o', 'ppid=,command=', '-p', String(pid)]);
    const [parent, ...command] = stdout.trim().split(/\s+/);
    return command.length > 0 ? { parent: Number(parent), command, startedAt: '', isReplaced: false } : undefined;
  };
}
