import type { Fence } from '../../core/base/ports.ts';
import { nextInstant } from '../apply-batch.ts';
import { COMPACTED, type Compaction, type CompactionDetail, isMoved, isNamed } from '../compaction.ts';
import { appendEvent } from './audit.ts';
import type { Database } from './database.ts';
import type { GroupCommit } from './group-commit.ts';
import { requireFence } from './lease.ts';
import { advance, ensureWorkspace, findWorkspace, isKept, keptRevisions, type WorkspaceRow } from './workspaces.ts';

/** Versions looked at in one write job: a few milliseconds. */
const PAGE = 500;

interface Cursor {
  readonly until: number;
  readonly record: number;
}

/**
 * First moves the mark that reads obey, then drops what lies behind it in small jobs between other commits. A crash in
 * between leaves versions that the next call drops.
 */
export async function compactVersions(
  database: Database,
  groupCommit: GroupCommit,
  compaction: Compaction,
  now: () => number,
): Promise<number> {
  const marked = await groupCommit.enqueue(() => mark(database, compaction, now()));
  if (!marked) return 0;
  let dropped = 0;
  let cursor: Cursor | undefined = { until: 0, record: 0 };
  while (cursor) {
    const after: Cursor = cursor;
    const isUntold = dropped === 0 && !marked.isTold;
    const page = await groupCommit.enqueue(() => dropPage(database, marked, after, isUntold ? now() : undefined));
    dropped += page.dropped;
    cursor = page.next;
  }
  return dropped;
}

interface Mark {
  readonly workspace: WorkspaceRow;
  readonly compacted: number;
  readonly keep: readonly number[];
  readonly fence: Fence | undefined;
  /** The log says it already. */
  readonly isTold: boolean;
}

function mark(database: Database, { workspace: name, upTo, keep, fence }: Compaction, now: number): Mark | undefined {
  if (fence) requireFence(database, fence);
  const workspace = findWorkspace(database, name);
  if (!workspace) return undefined;
  const compacted = Math.max(workspace.compacted, Math.min(upTo, workspace.revision));
  // A revision that an earlier call gave up cannot be kept any more.
  const kept = [...new Set(keep)]
    .filter((revision) => revision < compacted && isKept(workspace, revision))
    .sort((a, b) => a - b);
  database
    .statement('UPDATE workspace SET compacted = ?, keep = ? WHERE id = ?')
    .run(compacted, JSON.stringify(kept), workspace.id);
  const isTold = isMoved({ ...workspace, keep: keptRevisions(workspace) }, { upTo: compacted, keep: kept });
  if (isTold) tellCompacted(database, name, { upTo: compacted, keep: kept, isMark: true }, 'system:retention', now);
  return { workspace, compacted, keep: kept, fence, isTold };
}

function dropPage(
  database: Database,
  { workspace, compacted, keep, fence }: Mark,
  after: Cursor,
  toldAt: number | undefined,
): { dropped: number; next: Cursor | undefined } {
  if (fence) requireFence(database, fence);
  const rows = database
    .statement<Cursor & { revision: number }>(
      `SELECT until, record, revision FROM version
       WHERE ws = ? AND until <= ? AND (until, record) > (?, ?) ORDER BY until, record LIMIT ?`,
    )
    .all(workspace.id, compacted, after.until, after.record, PAGE);
  const gone = rows.filter((row) => !isNamed(keep, row.revision, row.until));
  if (gone.length > 0 && toldAt !== undefined) {
    tellCompacted(database, workspace.name, { upTo: compacted, keep }, 'system:retention', toldAt);
  }
  for (const { record, until } of gone) {
    database.statement('DELETE FROM version WHERE record = ? AND until = ?').run(record, until);
    forgetDeleted(database, record);
  }
  const last = rows.length === PAGE ? rows.at(-1) : undefined;
  return { dropped: gone.length, next: last && { until: last.until, record: last.record } };
}

/** Writes it into the log itself, in the transaction that moves what reads obey or drops the first version. */
export function tellCompacted(
  database: Database,
  name: string,
  detail: CompactionDetail,
  actor: string,
  now: number,
): void {
  const workspace = ensureWorkspace(database, name);
  const at = nextInstant(workspace, now);
  appendEvent(database, workspace, at, { type: COMPACTED, actor, result: 'ok', detail: { ...detail } });
  advance(database, workspace, workspace.revision, at);
}

/** A deleted name without versions has left history. */
function forgetDeleted(database: Database, record: number): void {
  database
    .statement(
      `DELETE FROM record WHERE id = ? AND body IS NULL AND NOT EXISTS (SELECT 1 FROM version WHERE record = record.id)`,
    )
    .run(record);
}
