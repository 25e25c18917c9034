import type { Finding } from '../../../core/audit/findings.ts';
import { foldName, KINDS, type Kind } from '../../../core/base/record.ts';
import { bodyDigest, decodeBody, type StoredBody } from '../../body.ts';
import { type CompactionDetail, isMoved, isNamed } from '../../compaction.ts';
import type { Database } from '../database.ts';
import type { WorkspaceRow } from '../workspaces.ts';
import { keyOf, type LoggedChange, type RecomputedLog, surviving } from './entries.ts';

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

interface VerifyState {
  readonly findings: Finding[];
  compared: number;
}

/** Before all that the store gives, and all that somebody else may have put in. */
const LEAST_ID = Number.MIN_SAFE_INTEGER;

/** Holds all records of a workspace, and their kept versions, against what the log says of them. */
export function recordFindings(
  database: Database,
  workspace: WorkspaceRow,
  { history, compactions }: Pick<RecomputedLog, 'history' | 'compactions'>,
): VerifyState {
  const found: VerifyState = { findings: [], compared: 0 };
  const claims = new Map<string, number>();
  const seen = new Set<string>();
  const next = database.statement<RecordRow>(
    'SELECT id, kind, name, uid, revision, body FROM record WHERE ws = ? AND id > ? ORDER BY id LIMIT 1',
  );
  surviving(found.findings, `The records of ${workspace.name}`, () => {
    for (let row = next.get(workspace.id, LEAST_ID); row; row = next.get(workspace.id, row.id)) {
      const { id, kind, name } = row;
      const key = keyOf(kind, name);
      seen.add(key);
      const changes = history.get(key) ?? [];
      checkRecord(workspace, row, changes, found);
      surviving(found.findings, `The versions of ${kind} ${name}`, () =>
        checkVersions(database, workspace, row, { changes, compactions }, found),
      );
      for (const value of uniqueValues(workspace, row)) claims.set(value, id);
    }
  });
  for (const [key, changes] of history) {
    if (seen.has(key)) continue;
    if (changes.at(-1)?.type !== 'deleted')
      addFinding(found, workspace, 'record_missing', `${spelled(key)} is gone; the log has no deletion of it.`);
    // A record without a row has no versions either: retention drops the last of them together with the row.
    checkMissing(workspace, key, { changes, compactions, kept: new Set() }, found);
  }
  surviving(found.findings, `The lookups of ${workspace.name}`, () => checkLookups(database, workspace, claims, found));
  return found;
}

/** The versions of a record that others followed, by the revisions from which and until which they were in force. */
function superseded(changes: readonly LoggedChange[]): { readonly revision: number; readonly until: number }[] {
  return changes.flatMap(({ revision, type }, index) => {
    const until = changes[index + 1]?.revision;
    return until === undefined || type === 'deleted' ? [] : [{ revision, until }];
  });
}

function isDropped(compactions: readonly CompactionDetail[], revision: number, until: number): boolean {
  return compactions.some(({ upTo, keep }) => until <= upTo && !isNamed(keep, revision, until));
}

/** Holds what reads of the past obey against what the log says was given up. */
export function retentionFindings(workspace: WorkspaceRow, log: LoggedPast): Finding[] {
  const { name, compacted, keep: text } = workspace;
  const keep = revisionsIn(text);
  if (keep && isFounded(compacted, keep, log)) return [];
  const last = log.compactions.at(-1);
  const gaveUp = last ? `what is before ${last.upTo} but for ${last.keep.join(', ') || 'nothing'}` : 'nothing';
  const message = `${name}: the past is read from revision ${compacted} on, and at ${text.slice(0, 80)}; retention, as the log has it, gave up ${gaveUp}.`;
  return [{ code: 'retention_changed', message }];
}

type LoggedPast = Pick<RecomputedLog, 'history' | 'compactions' | 'revision'>;

function isFounded(
  compacted: number,
  keep: readonly number[],
  { history, compactions, revision }: LoggedPast,
): boolean {
  const last = compactions.at(-1);
  if (last?.isMark) return !isMoved({ compacted, keep }, last);
  // Entries of earlier versions say what was dropped, and not that what reads obey moved where nothing was.
  if (compacted < (last?.upTo ?? 0) || compacted > revision) return false;
  const isKept = (one: number) => compactions.every((each) => one >= each.upTo || each.keep.includes(one));
  if (!keep.every((one) => one < compacted && isKept(one))) return false;
  return [...history].every(
    ([key, changes]) =>
      !hasHistory(key.split('/', 1)[0]) ||
      superseded(changes).every(
        (each) =>
          each.until > compacted ||
          isNamed(keep, each.revision, each.until) ||
          isDropped(compactions, each.revision, each.until),
      ),
  );
}

function revisionsIn(text: string): readonly number[] | undefined {
  try {
    const list = JSON.parse(text);
    return Array.isArray(list) && list.every(Number.isSafeInteger) ? list : undefined;
  } catch {
    return undefined;
  }
}

/** True if a kind has history. Stored rows may name kinds that do not exist. */
function hasHistory(kind = ''): boolean {
  return Object.hasOwn(KINDS, kind) && KINDS[kind as Kind].history;
}

function checkRecord(
  workspace: WorkspaceRow,
  row: RecordRow,
  changes: readonly LoggedChange[],
  found: VerifyState,
): void {
  const what = `${row.kind} ${row.name} at revision ${row.revision}`;
  const last = changes.at(-1);
  if (!last) {
    addFinding(found, workspace, 'record_unknown', `${what} is in no entry of the log.`);
  } else if (row.body === null) {
    if (row.uid !== null) addFinding(found, workspace, 'lookup_changed', `${what} is deleted, and has an id again.`);
    if (last.type === 'deleted' && last.revision === row.revision) return;
    addFinding(found, workspace, 'record_missing', `${what} is deleted; the log has no deletion of it there.`);
  } else if (last.type === 'deleted' || last.revision !== row.revision) {
    const did = last.type === 'deleted' ? 'deletes it' : 'writes it';
    addFinding(found, workspace, 'record_changed', `${what} is stored; the log ${did} at revision ${last.revision}.`);
  } else {
    checkBody(workspace, what, row, last, 'record_changed', found);
    const { name = row.name, uid = row.uid } = decoded(workspace, row, row.body) ?? {};
    if (foldName(name) === row.name && uid === row.uid) return;
    addFinding(found, workspace, 'lookup_changed', `${what} is stored under another name or id than its own.`);
  }
}

function checkVersions(
  database: Database,
  workspace: WorkspaceRow,
  { id, kind, name }: RecordRow,
  { changes, compactions }: { changes: readonly LoggedChange[]; compactions: readonly CompactionDetail[] },
  found: VerifyState,
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
    else
      addFinding(found, workspace, 'version_changed', `${what} until ${version.until}: the log has no such version.`);
  }
  checkMissing(workspace, keyOf(kind, name), { changes, compactions, kept }, found);
}

interface RecordHistory {
  readonly changes: readonly LoggedChange[];
  readonly compactions: readonly CompactionDetail[];
  /** The revisions at which the versions that are stored ended. */
  readonly kept: ReadonlySet<number>;
}

/** Looks for each version of a record that the log tells of and does not give up. */
function checkMissing(
  workspace: WorkspaceRow,
  key: string,
  { changes, compactions, kept }: RecordHistory,
  found: VerifyState,
): void {
  if (!hasHistory(key.split('/', 1)[0])) return;
  for (const { revision, until } of superseded(changes)) {
    if (kept.has(until) || isDropped(compactions, revision, until)) continue;
    addFinding(
      found,
      workspace,
      'version_missing',
      `${spelled(key)} as it was from revision ${revision} is gone, and no entry says that it was dropped.`,
    );
  }
}

function checkBody(
  workspace: WorkspaceRow,
  what: string,
  { body }: { readonly body: StoredBody | null },
  change: LoggedChange,
  code: Finding['code'],
  found: VerifyState,
): void {
  if (change.digest === undefined || body === null) return;
  found.compared += 1;
  const digest = digestOf(body);
  if (digest === change.digest) return;
  const has = digest === undefined ? 'cannot be read' : `has the digest ${digest.slice(0, 12)}…`;
  addFinding(
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
  found: VerifyState,
): void {
  const rows = database
    .statement<{ value: string; record: number }>('SELECT value, record FROM unique_value WHERE ws = ?')
    .all(workspace.id);
  const held = new Map(rows.map(({ value, record }) => [value, record]));
  const wrong = [...new Set([...held.keys(), ...claims.keys()])].filter(
    (value) => held.get(value) !== claims.get(value),
  );
  for (const value of wrong) {
    // The part after the colon may be the hash of a token.
    const [kind = ''] = value.split(':', 1);
    addFinding(
      found,
      workspace,
      'lookup_changed',
      `A value "${kind}:…" leads to another record than the one that holds it.`,
    );
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

function addFinding({ findings }: VerifyState, { name }: WorkspaceRow, code: Finding['code'], what: string): void {
  findings.push({ code, message: `${name}: ${what}` });
}
