import { createHash } from 'node:crypto';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { AuditEntry, AuditQuery, Commit, SecurityEvent } from '../../core/base/ports.ts';
import { foldName } from '../../core/base/record.ts';
import type { Database } from './database.ts';
import { findWorkspace, type WorkspaceRow } from './workspaces.ts';

type Entry = Omit<AuditEntry, 'seq'>;
type Row = { readonly seq: number; readonly at: number; readonly entry: string };

/** Entries read between two turns of the event loop. */
const PAGE = 250;
/** RFC 6962 2.1: what a leaf is hashed with, so that no inner node can pass for one. */
const LEAF_PREFIX = Uint8Array.of(0);

export function appendCommit(database: Database, workspace: WorkspaceRow, commit: Commit): void {
  const { changes, workspace: name, ...rest } = commit;
  append(database, workspace, commit.revision, {
    at: commit.at,
    workspace: name,
    actor: commit.actor,
    type: 'commit',
    commit: {
      ...rest,
      changes: changes.map(({ type, record: { kind, name, uid } }) => ({ type, kind, name, uid })),
    },
  });
}

export function appendEvent(
  database: Database,
  workspace: WorkspaceRow,
  at: number,
  event: SecurityEvent & { readonly requestId?: string },
): void {
  append(database, workspace, null, { at, workspace: workspace.name, actor: event.actor, type: 'event', event });
}

function append(database: Database, workspace: WorkspaceRow, revision: number | null, entry: Entry): void {
  const text = JSON.stringify(entry);
  const leaf = createHash('sha256').update(LEAF_PREFIX).update(text).digest();
  database
    .statement('INSERT INTO audit (ws, at, revision, entry, leaf) VALUES (?, ?, ?, ?, ?)')
    .run(workspace.id, entry.at, revision, text, leaf);
}

/** The commit entries after a revision, in order. */
export function commitEntries(
  database: Database,
  workspace: WorkspaceRow,
  after: number,
  upTo: number,
  limit: number,
): NonNullable<AuditEntry['commit']>[] {
  return database
    .statement<{ entry: string }>(
      'SELECT entry FROM audit WHERE ws = ? AND revision > ? AND revision <= ? ORDER BY revision LIMIT ?',
    )
    .all(workspace.id, after, upTo, limit)
    .flatMap(({ entry }) => (JSON.parse(entry) as Entry).commit ?? []);
}

/** Newest first. Filters that no index serves are tried page by page, giving way to others in between. */
export async function queryAudit(database: Database, name: string, query: AuditQuery): Promise<AuditEntry[]> {
  const workspace = findWorkspace(database, name);
  const found: AuditEntry[] = [];
  let at = query.to ?? Number.MAX_SAFE_INTEGER;
  let before = query.before ?? Number.MAX_SAFE_INTEGER;
  while (workspace && found.length < query.limit) {
    // Instants never fall as seq rises, so this order is that of seq, and the index serves both bounds.
    const rows = database
      .statement<Row>(
        `SELECT seq, at, entry FROM audit WHERE ws = ? AND at <= ? AND at >= ? AND seq < ?
         ORDER BY at DESC, seq DESC LIMIT ?`,
      )
      .all(workspace.id, at, query.from ?? 0, before, PAGE);
    for (const row of rows) {
      const entry: AuditEntry = { seq: row.seq, ...(JSON.parse(row.entry) as Entry) };
      if (found.length < query.limit && matches(entry, query)) found.push(entry);
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) break;
    at = last.at;
    before = last.seq;
    await nextTick();
  }
  return found;
}

function matches(entry: AuditEntry, { type, actor, kind, name }: AuditQuery): boolean {
  if (type !== undefined && entry.type !== type) return false;
  if (actor !== undefined && entry.actor !== actor) return false;
  if (kind === undefined && name === undefined) return true;
  const wanted = name === undefined ? undefined : foldName(name);
  return (entry.commit?.changes ?? []).some(
    (change) =>
      (kind === undefined || change.kind === kind) && (wanted === undefined || foldName(change.name) === wanted),
  );
}
