import { readCheckpoint } from '../core/audit/checkpoint.ts';
import type { ArchiveReader } from '../core/evidence/verify/findings.ts';
import type { SeenOrigin } from '../core/evidence/verify/seen.ts';
import { seenByNode } from './node-log.ts';
import { keptLogs, workspaceOf } from './seen-logs.ts';

/** Of the log of an archive, as it says itself; undefined where it says none. */
export async function originIn(archive: Pick<ArchiveReader, 'text'>): Promise<string | undefined> {
  return readCheckpoint(await archive.text('audit-checkpoint.txt').catch(() => ''))?.origin;
}

/**
 * What this machine keeps of the log of a workspace, by `mesh audit verify` and by its node. Under whichever origin: the name
 * of a workspace is nobody else's, and what an archive calls its log does not choose what it is held against.
 *
 * @throws CliError where what is kept is damaged
 */
export function seenOf(origin: string | undefined, configDir?: string): SeenOrigin[] {
  if (origin === undefined) return [];
  const node = seenByNode(configDir);
  const all: SeenOrigin[] = [...keptLogs(), ...(node ? [node] : [])];
  return all.filter((seen) => workspaceOf(seen.origin) === workspaceOf(origin));
}
