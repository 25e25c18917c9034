import { setImmediate as nextTick } from 'node:timers/promises';
import type { RecordVersion, VersionQuery } from '../../core/base/ports.ts';
import { StoreError } from '../../core/base/ports.ts';
import { foldName, KINDS, type Kind } from '../../core/base/record.ts';
import { decodeBody, type StoredBody } from '../body.ts';
import type { Database } from './database.ts';
import { findWorkspace, instantOf, type WorkspaceRow } from './workspaces.ts';

interface RecordRow {
  readonly id: number;
  readonly name: string;
  readonly revision: number;
  readonly body: StoredBody | null;
}

interface VersionRow {
  readonly revision: number;
  readonly at: number | null;
  readonly until: number;
  readonly body: StoredBody;
}

/** Records looked at between two turns of the event loop. */
const PAGE = 100;
/** With the instants, because a statement for each takes as long as all else of a long history. */
const SUPERSEDED = `
  SELECT revision, until, body,
    (SELECT at FROM audit WHERE audit.ws = version.ws AND audit.revision = version.revision) AS at
  FROM version WHERE record = ? AND until > ? AND revision <= ?`;

/** @throws StoreError `compacted` */
export async function readVersions<K extends Kind>(
  database: Database,
  name: string,
  kind: K,
  query: VersionQuery,
): Promise<RecordVersion<K>[]> {
  if (!KINDS[kind].history) throw new StoreError('compacted', `${kind} keeps no history`);
  const found: RecordVersion<K>[] = [];
  for (let after = ''; ; ) {
    const workspace = findWorkspace(database, name);
    if (!workspace) return found;
    if (query.after < workspace.compacted) {
      throw new StoreError('compacted', `${name} after revision ${query.after}; kept from ${workspace.compacted}`);
    }
    const rows = recordsOf(database, workspace, kind, query.name, after);
    for (const row of rows) found.push(...versionsOf(database, workspace, kind, row, query));
    const last = rows.at(-1)?.name;
    if (last === undefined || rows.length < PAGE) return found.sort((a, b) => a.revision - b.revision);
    after = last;
    await nextTick();
  }
}

/** Names in their folded form, of deleted records too. */
function recordsOf(
  database: Database,
  { id }: WorkspaceRow,
  kind: Kind,
  name: string | undefined,
  after: string,
): RecordRow[] {
  const columns = 'SELECT id, name, revision, body FROM record WHERE ws = ? AND kind = ?';
  return name === undefined
    ? database.statement<RecordRow>(`${columns} AND name > ? ORDER BY name LIMIT ?`).all(id, kind, after, PAGE)
    : database.statement<RecordRow>(`${columns} AND name = ?`).all(id, kind, foldName(name));
}

function* versionsOf<K extends Kind>(
  database: Database,
  workspace: WorkspaceRow,
  kind: K,
  record: RecordRow,
  { after, upTo }: VersionQuery,
): Generator<RecordVersion<K>> {
  const superseded = database.statement<VersionRow>(SUPERSEDED).all(record.id, after, upTo);
  const instant = (revision: number) => instantOf(database, workspace, revision) ?? 0;
  const written = (revision: number, at: number, body: StoredBody): RecordVersion<K> => {
    const decoded = decodeBody(workspace.name, kind, revision, body);
    return { name: decoded.name, revision, at, record: decoded };
  };
  const begins = new Set([record.revision, ...superseded.map(({ revision }) => revision)]);
  for (const { revision, until, at, body } of superseded) {
    if (revision > after) yield written(revision, at ?? 0, body);
    const isDeletion = until === record.revision ? record.body === null : !begins.has(until);
    if (isDeletion && until <= upTo) {
      yield { name: decodeBody(workspace.name, kind, revision, body).name, revision: until, at: instant(until) };
    }
  }
  const { revision, body } = record;
  if (body !== null && revision > after && revision <= upTo) yield written(revision, instant(revision), body);
}

/** The oldest revision from which on every one can be read, and when it came into force. */
export function keptFrom(
  database: Database,
  name: string,
): { readonly revision: number; readonly at: number } | undefined {
  const workspace = findWorkspace(database, name);
  if (!workspace || workspace.revision === 0) return undefined;
  const revision = Math.max(1, workspace.compacted);
  return { revision, at: instantOf(database, workspace, revision) ?? 0 };
}
