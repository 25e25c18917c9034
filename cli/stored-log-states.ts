import { readCheckpoint } from '../core/audit/checkpoint.ts';
import type { ArchiveReader } from '../core/evidence/verify/findings.ts';
import type { StoredLog } from '../core/evidence/verify/stored-log.ts';
import { nodeLogState } from './node-log.ts';
import { storedLogs, workspaceOf } from './stored-logs.ts';

/** Returns the origin of the log that an archive states; undefined where it states none. */
export async function originIn(archive: Pick<ArchiveReader, 'text'>): Promise<string | undefined> {
  return readCheckpoint(await archive.text('audit-checkpoint.txt').catch(() => ''))?.origin;
}

/**
 * Returns the states of a workspace's log that this machine stored, by `mesh audit verify` and by its node. They match by
 * workspace name, which is unique, under any origin: an archive must not choose what it is compared with by the name that it
 * gives its log.
 *
 * @throws CliError where a stored state is damaged
 */
export function storedStatesOf(origin: string | undefined, configDir?: string): StoredLog[] {
  if (origin === undefined) return [];
  const node = nodeLogState(configDir);
  const all: StoredLog[] = [...storedLogs(), ...(node ? [node] : [])];
  return all.filter((seen) => workspaceOf(seen.origin) === workspaceOf(origin));
}
