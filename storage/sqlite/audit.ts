import { setImmediate as nextTick } from 'node:timers/promises';
import { hashOfEntry } from '../../core/audit/leaf.ts';
import type { AuditEntry, AuditQuery, SecurityEvent } from '../../core/base/ports.ts';
import { type Entry, eventEntry } from '../apply-batch.ts';
import { HOST_OPERATOR, matchesQuery, SYSTEM } from '../audit-filter.ts';
import { parseStored } from '../body.ts';
import type { Database } from './database.ts';
import { joinHashes, sizeOf, treeOf } from './tree.ts';
import { findWorkspace, type WorkspaceRow } from './workspaces.ts';

type Row = { readonly seq: number; readonly entry: string };

/** Entries looked at between two turns of the event loop, where all of them are read and where few have what is asked for. */
const PAGE = 250;
const SEARCHED = 1_000;

export function appendEvent(
  database: Database,
  workspace: Pick<WorkspaceRow, 'id' | 'name'>,
  at: number,
  event: SecurityEvent & { readonly requestId?: string },
): void {
  appendEntry(database, workspace, eventEntry(workspace.name, at, event));
}

export function appendEntry(database: Database, { id }: Pick<WorkspaceRow, 'id'>, entry: Entry): void {
  const text = JSON.stringify(entry);
  const tree = treeOf(database, id);
  const seq = tree.size;
  const hashes = tree.append(hashOfEntry(text));
  database
    .statement('INSERT INTO audit (ws, seq, at, revision, hashes, entry) VALUES (?, ?, ?, ?, ?, ?)')
    .run(id, seq, entry.at, entry.commit?.revision ?? null, joinHashes(hashes), text);
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
    .flatMap(({ entry }) => parseStored<Entry>(entry).commit ?? []);
}

let turn: Promise<unknown> = Promise.resolve();

/** Once other work had its turn, and one page of each search that waits: however many there are, they hold up nobody else. */
function nextTurn(): Promise<unknown> {
  turn = turn.then(() => nextTick());
  return turn;
}

/** Newest first. Filters are tried page by page, giving way to others in between. */
export async function queryAudit(database: Database, name: string, query: AuditQuery): Promise<AuditEntry[]> {
  const workspace = findWorkspace(database, name);
  if (!workspace) return [];
  const found: AuditEntry[] = [];
  const first = query.from === undefined ? 0 : entriesBefore(database, workspace, query.from);
  const end =
    query.to === undefined ? sizeOf(database, workspace.id) : entriesBefore(database, workspace, query.to + 1);
  const texts = textsOf(query);
  const author = AUTHORS[query.author ?? 'any'];
  const page = texts.length === 0 && author === '' ? PAGE : SEARCHED;
  const hasText = texts.length === 0 ? '' : `AND (${texts.map(() => 'instr(entry, ?) > 0').join(' OR ')})`;
  for (let before = Math.min(end, query.before ?? end); before > first && query.limit > 0; before -= page) {
    const rows = database
      .statement<Row>(
        `SELECT seq, entry FROM audit WHERE ws = ? AND seq >= ? AND seq < ? ${hasText} ${author} ORDER BY seq DESC`,
      )
      .all(workspace.id, Math.max(first, before - page), before, ...texts);
    for (const row of rows) {
      const entry: AuditEntry = { seq: row.seq, ...parseStored<Entry>(row.entry) };
      if (matchesQuery(entry, query) && found.push(entry) === query.limit) return found;
    }
    if (before - page > first) await nextTurn();
  }
  return found;
}

/** True for entries of jobs: their actor is the first that an entry names. */
const IS_OF_SYSTEM = `(instr(entry, '"actor":"') = instr(entry, '"actor":"${SYSTEM}')
  AND instr(entry, '"actor":"') <> instr(entry, '"actor":"${HOST_OPERATOR}"'))`;
const AUTHORS = { any: '', system: `AND ${IS_OF_SYSTEM}`, caller: `AND NOT ${IS_OF_SYSTEM}` } as const;

/** Returns texts of which each matching entry contains one; none where none is known. Other entries may contain them too. */
function textsOf({ actors, kind }: AuditQuery): readonly string[] {
  if (actors) return actors.map((actor) => `"actor":${JSON.stringify(actor)}`);
  return kind === undefined ? [] : [`"kind":${JSON.stringify(kind)}`];
}

/** How many entries are older than an instant: a binary search, as instants never fall from one entry to the next. */
function entriesBefore(database: Database, { id }: WorkspaceRow, instant: number): number {
  let [low, high] = [0, sizeOf(database, id)];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const row = database.statement<{ at: number }>('SELECT at FROM audit WHERE ws = ? AND seq = ?').get(id, middle);
    if (row && row.at < instant) low = middle + 1;
    else high = middle;
  }
  return low;
}
