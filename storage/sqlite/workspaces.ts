import type { AsOf } from '../../core/base/ports.ts';
import { StoreError } from '../../core/base/ports.ts';
import { parseStored } from '../body.ts';
import type { Database } from './database.ts';

/** Where a workspace stands. `compacted` and `keep` say which past revisions can still be read. */
export interface WorkspaceRow {
  readonly id: number;
  readonly name: string;
  readonly revision: number;
  /** The time of the newest commit or event. */
  readonly at: number;
  readonly compacted: number;
  /** Revisions at or before `compacted` that stay readable: JSON array of integers. */
  readonly keep: string;
}

const COLUMNS = 'id, name, revision, at, compacted, keep';

export function findWorkspace(database: Database, name: string): WorkspaceRow | undefined {
  return database.statement<WorkspaceRow>(`SELECT ${COLUMNS} FROM workspace WHERE name = ?`).get(name);
}

export function ensureWorkspace(database: Database, name: string): WorkspaceRow {
  const present = findWorkspace(database, name);
  if (present) return present;
  database.statement('INSERT INTO workspace (name) VALUES (?)').run(name);
  return ensureWorkspace(database, name);
}

export function advance(database: Database, workspace: WorkspaceRow, revision: number, at: number): void {
  database.statement('UPDATE workspace SET revision = ?, at = ? WHERE id = ?').run(revision, at, workspace.id);
}

/** @throws StoreError `compacted` */
export function resolveAsOf(database: Database, workspace: WorkspaceRow, asOf: AsOf): number {
  const revision = 'revision' in asOf ? asOf.revision : (commitInForce(database, workspace, asOf.at)?.revision ?? 0);
  const resolved = Math.min(revision, workspace.revision);
  if (!isKept(workspace, resolved)) {
    throw new StoreError('compacted', `${workspace.name} at revision ${resolved}; kept from ${workspace.compacted}`);
  }
  return resolved;
}

export function isKept(workspace: WorkspaceRow, revision: number): boolean {
  return revision >= workspace.compacted || keptRevisions(workspace).includes(revision);
}

export function keptRevisions(workspace: WorkspaceRow): readonly number[] {
  return parseStored(workspace.keep);
}

/** The last commit at or before an instant: a binary search, as instants never fall from one revision to the next. */
export function commitInForce(
  database: Database,
  workspace: WorkspaceRow,
  at: number,
): { readonly revision: number; readonly at: number } | undefined {
  let found: { readonly revision: number; readonly at: number } | undefined;
  let low = 1;
  let high = workspace.revision;
  while (low <= high) {
    const revision = Math.floor((low + high) / 2);
    const instant = instantOf(database, workspace, revision) ?? 0;
    if (instant <= at) {
      found = { revision, at: instant };
      low = revision + 1;
    } else {
      high = revision - 1;
    }
  }
  return found;
}

export function instantOf(database: Database, workspace: WorkspaceRow, revision: number): number | undefined {
  return database
    .statement<{ at: number }>('SELECT at FROM audit WHERE ws = ? AND revision = ?')
    .get(workspace.id, revision)?.at;
}

export function revisionInForce(
  database: Database,
  name: string,
  at: number,
): { revision: number; from: number; to?: number } | undefined {
  const workspace = findWorkspace(database, name);
  const commit = workspace && commitInForce(database, workspace, at);
  if (!commit || !isKept(workspace, commit.revision)) return undefined;
  const to = instantOf(database, workspace, commit.revision + 1);
  return { revision: commit.revision, from: commit.at, ...(to !== undefined && { to }) };
}

export function workspaceNames(database: Database): string[] {
  return database
    .statement<{ name: string }>('SELECT name FROM workspace WHERE revision > 0 ORDER BY name')
    .all()
    .map(({ name }) => name);
}
