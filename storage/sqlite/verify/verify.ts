import { readCheckpoint } from '../../../core/audit/checkpoint.ts';
import { contradiction, type Finding, type LogReport, rootOfLeaves, rootsAt } from '../../../core/audit/findings.ts';
import type { StoredCheckpoint } from '../../../core/base/ports.ts';
import { unavailable } from '../../unavailable.ts';
import { asStoreError, type Database, openForReading } from '../database.ts';
import { programFaults } from '../programs.ts';
import { requireKnown } from '../schema.ts';
import type { WorkspaceRow } from '../workspaces.ts';
import { type RecomputedLog, recompute, surviving } from './entries.ts';
import { recordFindings, retentionFindings } from './records.ts';

/** The first schema whose logs say which versions were dropped. */
const LEAST_SCHEMA = 3;
const MAX_FINDINGS = 100;

export function verifyDatabase(path: string, only?: string): LogReport[] {
  const database = openForReading(path);
  try {
    const schema = database.statement<{ user_version: number }>('PRAGMA user_version').get()?.user_version ?? 0;
    if (schema < LEAST_SCHEMA) {
      throw unavailable(`${path} has schema ${schema}, of an older version: start this version of meshd on it once`);
    }
    requireKnown(database);
    database.exec('BEGIN');
    const damage: Finding[] = [];
    for (const find of [damageOf, programFindings, strayFindings])
      surviving(damage, 'The file', () => damage.push(...find(database)));
    return database
      .statement<{ name: string }>('SELECT name FROM workspace ORDER BY name')
      .all()
      .filter(({ name }) => only === undefined || name === only)
      .map(({ name }) => verifyWorkspace(database, name, damage));
  } catch (error) {
    throw asStoreError(error);
  } finally {
    database.close();
  }
}

function verifyWorkspace(database: Database, name: string, damage: readonly Finding[]): LogReport {
  const findings = [...damage];
  let report: LogReport | undefined;
  surviving(findings, `The workspace ${name}`, () => {
    const row = database.statement<WorkspaceRow>('SELECT * FROM workspace WHERE name = ?').get(name);
    if (row) report = verifyLog(database, row, damage);
  });
  const nothing = { entries: 0, root: rootOfLeaves([]), leaves: [], at: 0, compared: 0, checkpoints: [] };
  return report ?? { ...nothing, workspace: name, findings };
}

function verifyLog(database: Database, workspace: WorkspaceRow, damage: readonly Finding[]): LogReport {
  const findings = [...damage];
  const log = recompute(database, workspace);
  findings.push(...log.findings, ...endFindings(workspace, log));
  let checkpoints: readonly StoredCheckpoint[] = [];
  surviving(findings, `The checkpoints of ${workspace.name}`, () => {
    checkpoints = database
      .statement<StoredCheckpoint>('SELECT at, size, note FROM checkpoint WHERE ws = ? ORDER BY day DESC')
      .all(workspace.id);
    findings.push(...checkpointFindings(checkpoints, log));
  });
  const records = recordFindings(database, workspace, log);
  findings.push(...records.findings, ...retentionFindings(workspace, log));
  return {
    workspace: workspace.name,
    entries: log.leaves.length,
    root: rootOfLeaves(log.leaves),
    leaves: log.leaves,
    at: log.at,
    ...(log.witnessedFrom !== undefined && { witnessedFrom: log.witnessedFrom }),
    compared: records.compared,
    checkpoints,
    findings: findings.slice(0, MAX_FINDINGS),
  };
}

/** Returns the damage that SQLite itself reports. */
function damageOf(database: Database): Finding[] {
  const rows = database.statement<{ integrity_check: string }>('PRAGMA integrity_check(10)').all();
  return rows
    .filter(({ integrity_check: said }) => said !== 'ok')
    .map(({ integrity_check: said }) => ({ code: 'damaged', message: `The database file is damaged: ${said}` }));
}

const programFindings = (database: Database) =>
  programFaults(database).map((message): Finding => ({ code: 'damaged', message }));

/** Returns rows that belong to no workspace that exists, or to another one than their record: no other check would see them. */
function strayFindings(database: Database): Finding[] {
  const orphans = ['record', 'version', 'unique_value', 'audit', 'checkpoint'].flatMap((table) =>
    database
      .statement<{ ws: number; rows: number }>(
        `SELECT ws, count(*) AS rows FROM ${table} WHERE ws NOT IN (SELECT id FROM workspace) GROUP BY ws`,
      )
      .all()
      .map(({ ws, rows }) => `${rows} rows of ${table} are of a workspace that was taken out (${ws})`),
  );
  const moved = ['version', 'unique_value'].flatMap((table) => {
    const found = database
      .statement<{ rows: number }>(
        `SELECT count(*) AS rows FROM ${table} t JOIN record r ON r.id = t.record WHERE t.ws != r.ws`,
      )
      .get();
    return found && found.rows > 0 ? [`${found.rows} rows of ${table} are of another workspace than their record`] : [];
  });
  const ownerless = ['version', 'unique_value'].flatMap((table) => {
    const found = database
      .statement<{ rows: number }>(`SELECT count(*) AS rows FROM ${table} WHERE record NOT IN (SELECT id FROM record)`)
      .get();
    return found && found.rows > 0 ? [`${found.rows} rows of ${table} are of a record that was taken out`] : [];
  });
  return [...orphans, ...moved, ...ownerless].map((message) => ({ code: 'lookup_changed', message: `${message}.` }));
}

/** Reports records that go on where the log has ended. */
function endFindings({ name, revision, at }: WorkspaceRow, log: RecomputedLog): Finding[] {
  if (revision !== log.revision) {
    const message = `${name} is at revision ${revision}, its log ends with revision ${log.revision}: the end of the log was cut.`;
    return [{ code: 'shortened', message }];
  }
  if (at === log.at) return [];
  const message = `${name} was last written at ${at} ms, its newest entry is of ${log.at} ms: entries at the end are gone.`;
  return [{ code: 'shortened', message }];
}

function checkpointFindings(
  checkpoints: readonly StoredCheckpoint[],
  { leaves, at: newest }: RecomputedLog,
): Finding[] {
  const roots = rootsAt(
    leaves,
    checkpoints.map(({ size }) => size),
  );
  return checkpoints.flatMap(({ at, size, note }): Finding[] => {
    const said = readCheckpoint(note);
    if (said?.size !== size)
      return [{ code: 'signature', message: `A checkpoint that is kept cannot be read: ${note.slice(0, 80)}` }];
    const found = contradiction(
      leaves,
      { ...said, at, by: 'A checkpoint kept in the database' },
      newest,
      roots.get(said.size),
    );
    return found ? [found] : [];
  });
}
