import { readFile } from 'node:fs/promises';
import { runProgram } from '../run-program.ts';

export interface ProcessEntry {
  readonly parent: number;
  readonly command: readonly string[];
}

/** Looks up a process; undefined when it is no more. */
export type ProcessTable = (pid: number) => Promise<ProcessEntry | undefined>;

export const linuxProcesses: ProcessTable = async (pid) => {
  const [status, command] = await Promise.all(
    ['status', 'cmdline'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')),
  );
  // A process that has ended and is not yet waited for has no command line.
  if (!status || !command) return undefined;
  return { parent: Number(/^PPid:\s*(\d+)$/m.exec(status)?.[1] ?? 0), command: command.split('\0').slice(0, -1) };
};

/** Where there is no /proc. Arguments with spaces in them are not told apart. */
export function psProcesses(run: typeof runProgram = runProgram): ProcessTable {
  return async (pid) => {
    const { stdout } = await run('ps', ['-o', 'ppid=,command=', '-p', String(pid)]);
    const [parent, ...command] = stdout.trim().split(/\s+/);
    return command.length > 0 ? { parent: Number(parent), command } : undefined;
  };
}
