import { textIn } from '../if-readable.ts';
import { isAgentCommand, type ProcessTable } from '../tunnel/process-table.ts';

/**
 * The agent that wrote its id beside a lock.
 *
 * @returns undefined for an id that is damaged, of nobody or of another program: it may be from an agent before
 */
export async function lockHolder(pidFile: string, processes: ProcessTable): Promise<number | undefined> {
  const pid = Number(textIn(pidFile));
  if (!Number.isSafeInteger(pid) || pid <= 1 || pid === process.pid) return undefined;
  const found = await processes(pid);
  return found && isAgentCommand(found.command) ? pid : undefined;
}
