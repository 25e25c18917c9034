import type { Finding } from '../../../core/audit/findings.ts';
import { foldName, KINDS, type Kind } from '../../../core/base/record.ts';
import { bodyDigest, decodeBody, type StoredBody } from '../../body.ts';
import { isNamed } from '../../compaction.ts';
import type { Database } from '../database.ts';
import type { WorkspaceRow } from '../workspaces.ts';
import { type Compaction, keyOf, type LoggedChange, type Recomputed } from './entries.ts';

interface RecordRow {
  readonly id: number;
  readonly kind: Kind;
  readonly name: string;
  readonly uid: string | null;
  readonly revision: number;
  readonly body: string | null;
}

interface VersionRow {
  readonly revision: number;
  readonly until: number;
  readonly body: StoredBody;
}

interface Found {
  readonly findings: Finding[];
  compared: number;
}

/** Holds all records of a workspace, and their kept versions, against what the log says of them. */
export function recordFindings(
  database: Database,
  workspace: WorkspaceRow,
  { history, compactions }: Pick<Recomputed, 'history' | 'compactions'>,
): Found {
  const found: Found = { findings: [], compared: 0 };
  const claims = new Map<string, number>();
  const seen = new Set<string>();
  const next = database.statement<RecordRow>(
    'SELECT id, kind, name, uid, revision, body FROM record WHERE ws = ? AND id > ? ORDER BY id LIMIT 1',
  );
  for (let row = next.get(workspace.id, 0); row; row = next.get(workspace.id, row.id)) {
    const key = keyOf(row.kind, row.name);
    seen.add(key);
    const changes = history.get(key) ?? [];
    checkRecord(workspace, row, changes, found);
    checkVersions(database, workspace, row, { changes, compactions }, found);
    for (const value of uniqueValues(workspace, row)) claims.set(value, row.id);
  }
  for (const [key, changes] of history) {
    if (!seen.has(key) && changes.at(-1)?.type !== 'deleted') {
      tell(found, workspace, 'record_missing', `${spelled(key)} is gone; the log has no deletion of it.`);
    }
  }
  checkLookups(database, workspace, claims, found);
  return found;
}

function checkRecord(workspace: WorkspaceRow, row: RecordRow, changes: readonly LoggedChange[], found: Found): void {
  const what = `${row.kind} ${row.name} at revision ${row.revision}`;
  const last = changes.at(-1);
  if (!last) {
    tell(found, workspace, 'record_unknown', `${what} is in no entry of the log.`);
  } else if (row.body === null) {
    if (last.type === 'deleted' && last.revision === row.revision) return;
    tell(found, workspace, 'record_missing', `${what} is deleted; the log has no deletion of it there.`);
  } else if (last.type === 'deleted' || last.revision !== row.revision) {
    const did = last.type === 'deleted' ? 'deletes it' : 'writes it';
    tell(found, workspace, 'record_changed', `${what} is stored; the log ${did} at revision ${last.revision}.`);
  } else {
    checkBody(workspace, what, row, last, 'record_changed', found);
    const { name = row.name, uid = row.uid } = decoded(workspace, row, row.body) ?? {};
    if (foldName(name) === row.name && uid === row.uid) return;
    tell(found, workspace, 'lookup_changed', `${what} is stored under another name or id than its own.`);
  }
}

function checkVersions(
  database: Database,
  workspace: WorkspaceRow,
  { id, kind, name }: RecordRow,
  { changes, compactions }: { changes: readonly LoggedChange[]; compactions: readonly Compaction[] },
  found: Found,
): void {
  const versions = database
    .statement<VersionRow>('SELECT revision, until, body FROM version WHERE record = ? ORDER BY until')
    .all(id);
  const kept = new Set(versions.map(({ until }) => until));
  for (const version of versions) {
    const what = `${kind} ${name} as it was from revision ${version.revision}`;
    const at = changes.findIndex(
      ({ revision, type }, index) =>
        revision === version.revision && type !== 'deleted' && changes[index + 1]?.revision === version.until,
    );
    const change = changes[at];
    if (change) checkBody(workspace, what, version, change, 'version_changed', found);
    else tell(found, workspace, 'version_changed', `${what} until ${version.until}: the log has no such version.`);
  }
  if (!KINDS[kind].history) return;
  for (const [index, { revision, type }] of changes.entries()) {
    const until = changes[index + 1]?.revision;
    if (until === undefined || type === 'deleted' || kept.has(until)) continue;
    if (compactions.some(({ upTo, keep }) => until <= upTo && !isNamed(keep, revision, until))) continue;
    tell(
      found,
      workspace,
      'version_missing',
      `${kind} ${name} as it was from revision ${revision} is gone, and no entry says that it was dropped.`,
    );
  }
}

function checkBody(
  workspace: WorkspaceRow,
  what: string,
  { body }: { readonly body: StoredBody | null },
  change: LoggedChange,
  code: Finding['code'],
  found: Found,
): void {
  if (change.digest === undefined || body === null) return;
  found.compared += 1;
  const digest = digestOf(body);
  if (digest === change.digest) return;
  const has = digest === undefined ? 'cannot be read' : `has the digest ${digest.slice(0, 12)}…`;
  tell(
    found,
    workspace,
    code,
    `${what} was changed: the log says ${change.digest.slice(0, 12)}…, what is stored ${has}.`,
  );
}

/** Which record a value such as the hash of a token leads to is not in any entry, but follows from the records. */
function checkLookups(
  database: Database,
  workspace: WorkspaceRow,
  claims: ReadonlyMap<string, number>,
  found: Found,
): void {
  const rows = database
    .statement<{ value: string; record: number }>('SELECT value, record FROM unique_value WHERE ws = ?')
    .all(workspace.id);
  const held = new Map(rows.map(({ value, record }) => [value, record]));
  const wrong = [...new Set([...held.keys(), ...claims.keys()])].filter(
    (value) => held.get(value) !== claims.get(value),
  );
  for (const value of wrong) {
    // What follows the colon may be the hash of a token.
    const [kind = ''] = value.split(':', 1);
    tell(found, workspace, 'lookup_changed', `A value "${kind}:…" leads to another record than the one that holds it.`);
  }
}

function uniqueValues(workspace: WorkspaceRow, row: RecordRow): readonly string[] {
  return (row.body === null ? undefined : decoded(workspace, row, row.body)?.unique) ?? [];
}

function decoded({ name }: WorkspaceRow, { kind, revision }: RecordRow, body: StoredBody) {
  try {
    return decodeBody(name, kind, revision, body);
  } catch {
    return undefined;
  }
}

function digestOf(body: StoredBody): string | undefined {
  try {
    return bodyDigest(body);
  } catch {
    return undefined;
  }
}

function spelled(key: string): string {
  return key.replace('/', ' ');
}

function tell({ findings }: Found, { name }: WorkspaceRow, code: Finding['code'], what: string): void {
  findings.push({ code, message: `${name}: ${what}` });
}
