import { setImmediate as nextTick } from 'node:timers/promises';
import type { AuditEntry, Change, Commit } from '../../core/base/ports.ts';
import { StoreError } from '../../core/base/ports.ts';
import { foldName, KINDS, type RecordKey } from '../../core/base/record.ts';
import { decodeBody, packBody, type StoredBody } from '../body.ts';
import { commitEntries } from './audit.ts';
import type { Database } from './database.ts';
import { findWorkspace, type WorkspaceRow } from './workspaces.ts';

type CommitEntry = NonNullable<AuditEntry['commit']>;
type LoggedChange = CommitEntry['changes'][number];

/** Commits read between two turns of the event loop. */
const PAGE = 50;
/** Beside its body a version row holds four integers and its index entry. */
const VERSION_ROW_BYTES = 24;

/** @throws StoreError `compacted` */
export async function readCommits(database: Database, name: string, from: number, limit: number): Promise<Commit[]> {
  const commits: Commit[] = [];
  for (;;) {
    const workspace = findWorkspace(database, name);
    if (!workspace) return commits;
    if (from < workspace.compacted) {
      throw new StoreError('compacted', `${name} after revision ${from}; kept from ${workspace.compacted}`);
    }
    const wanted = Math.min(PAGE, limit - commits.length);
    const entries = commitEntries(database, workspace, commits.at(-1)?.revision ?? from, workspace.revision, wanted);
    for (const entry of entries) commits.push(withChanges(database, workspace, entry));
    if (entries.length < PAGE || commits.length >= limit) return commits;
    await nextTick();
  }
}

function withChanges(database: Database, workspace: WorkspaceRow, entry: CommitEntry): Commit {
  const changes = entry.changes
    .filter(({ kind }) => KINDS[kind].history)
    .map((change) => readChange(database, workspace, entry.revision, change));
  return { ...entry, workspace: workspace.name, changes };
}

function readChange(database: Database, workspace: WorkspaceRow, revision: number, change: LoggedChange): Change {
  const decode = (version: Version | undefined) => {
    if (!version) throw new StoreError('compacted', `${change.kind}/${change.name} at revision ${revision}`);
    return decodeBody(workspace.name, change.kind, version.revision, version.body);
  };
  const written = () => decode(writtenAt(database, workspace, change, revision));
  const superseded = () => decode(supersededAt(database, workspace, change, revision));
  switch (change.type) {
    case 'created':
      return { type: 'created', record: written() };
    case 'updated':
      return { type: 'updated', record: written(), before: superseded() };
    case 'deleted': {
      const before = superseded();
      return { type: 'deleted', record: before, before };
    }
    default:
      throw change.type satisfies never;
  }
}

interface Version {
  readonly revision: number;
  readonly body: StoredBody;
}

function writtenAt(database: Database, workspace: WorkspaceRow, key: RecordKey, revision: number): Version | undefined {
  return database
    .statement<Version>(
      `SELECT revision, body FROM record
       WHERE ws = :ws AND kind = :kind AND name = :name AND revision = :revision AND body IS NOT NULL
       UNION ALL
       SELECT v.revision, v.body FROM record r JOIN version v
         ON v.record = r.id AND v.until = (SELECT min(until) FROM version WHERE record = r.id AND until > :revision)
       WHERE r.ws = :ws AND r.kind = :kind AND r.name = :name AND v.revision = :revision`,
    )
    .get({ ws: workspace.id, kind: key.kind, name: foldName(key.name), revision });
}

function supersededAt(
  database: Database,
  workspace: WorkspaceRow,
  key: RecordKey,
  revision: number,
): Version | undefined {
  return database
    .statement<Version>(
      `SELECT v.revision, v.body FROM record r JOIN version v ON v.record = r.id AND v.until = :revision
       WHERE r.ws = :ws AND r.kind = :kind AND r.name = :name`,
    )
    .get({ ws: workspace.id, kind: key.kind, name: foldName(key.name), revision });
}

/** The packed size of the versions that a range of revisions wrote; what compaction has dropped counts nothing. */
export async function versionBytesBetween(
  database: Database,
  name: string,
  after: number,
  upTo: number,
): Promise<number> {
  let bytes = 0;
  let cursor = after;
  for (;;) {
    const workspace = findWorkspace(database, name);
    if (!workspace) return bytes;
    const entries = commitEntries(database, workspace, cursor, upTo, PAGE);
    for (const entry of entries) {
      for (const change of entry.changes) {
        if (change.type === 'deleted' || !KINDS[change.kind].history) continue;
        const version = writtenAt(database, workspace, change, entry.revision);
        if (version) bytes += packBody(version.body).length + VERSION_ROW_BYTES;
      }
    }
    cursor = entries.at(-1)?.revision ?? upTo;
    if (entries.length < PAGE) return bytes;
    await nextTick();
  }
}
