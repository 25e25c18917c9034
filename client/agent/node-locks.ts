import path from 'node:path';
import { textIn } from '../if-readable.ts';
import { isAgentCommand, type ProcessTable } from '../tunnel/process-table.ts';

/** Holder of a directory, and the message for whoever finds it locked. */
interface Holder {
  readonly pidFile: string;
  readonly lockFile: string;
  refusal(directory: string, pid: string): string;
}

/** Locks a configuration directory. */
export const AGENT: Holder = {
  pidFile: 'mesh.pid',
  lockFile: 'mesh.lock',
  refusal: (directory, pid) =>
    `The node of ${directory} is up already (pid ${pid}). End that one, or give another --config-dir.`,
};

/** Locks a directory in `RUN_DIRECTORY`. */
export const INTERFACE: Holder = {
  pidFile: 'mesh.pid',
  lockFile: 'mesh.lock',
  refusal: (directory, pid) =>
    `The interface ${path.basename(directory)} is in use by another node (pid ${pid}). Give another --interface.`,
};

/**
 * Returns the agent that wrote its id beside a lock.
 *
 * @returns undefined for an id that is damaged, of nobody or of another program: it may be from an agent before
 */
export async function lockHolder(pidFile: string, processes: ProcessTable): Promise<number | undefined> {
  const pid = Number(textIn(pidFile));
  if (!Number.isSafeInteger(pid) || pid <= 1 || pid === process.pid) return undefined;
  const found = await processes(pid);
  return found && isAgentCommand(found.command) ? pid : undefined;
}
