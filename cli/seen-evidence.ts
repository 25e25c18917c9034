import { readCheckpoint } from '../core/audit/checkpoint.ts';
import type { ArchiveReader } from '../core/evidence/verify/findings.ts';
import type { SeenOrigin } from '../core/evidence/verify/seen.ts';
import { seenByNode } from './node-log.ts';
import { keptLogs, workspaceOf } from './seen-logs.ts';

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
export function seenOf(origin: string | undefined, configDir?: string): SeenOrigin[] {
  if (origin === undefined) return [];
  const node = seenByNode(configDir);
  const all: SeenOrigin[] = [...keptLogs(), ...(node ? [node] : [])];
  return all.filter((seen) => workspaceOf(seen.origin) === workspaceOf(origin));
}
