import { checkpointContradiction, noteKeysOf } from '../../core/audit/keep-checkpoints.ts';
import { SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import type { StoredCheckpoint } from '../../core/base/ports.ts';
import { formatInstant } from '../../core/base/time.ts';
import { nextInstant } from '../apply-batch.ts';
import { ACCEPTED, type AcceptedLog, type AcceptOptions } from '../database-file.ts';
import { appendEvent } from './audit.ts';
import { asStoreError, type Database, openDatabase } from './database.ts';
import { readTree, sizeOf } from './tree.ts';
import { advance, ensureWorkspace, type WorkspaceRow } from './workspaces.ts';

/** Accepts the logs of a database that nobody has open (`DatabaseFile.accept`). */
export async function acceptLogs(path: string, { logs, heads, reason, now }: AcceptOptions): Promise<AcceptedLog[]> {
  const database = openDatabase(path);
  try {
    const workspaces = database.statement<WorkspaceRow>('SELECT * FROM workspace ORDER BY id').all();
    const accepted: AcceptedLog[] = [];
    for (const workspace of workspaces) {
      const tree = readTree(database, workspace.name);
      const size = sizeOf(database, workspace.id);
      const wrong: (StoredCheckpoint & { readonly told: string })[] = [];
      const right: string[] = [];
      for (const kept of await tree.checkpoints(Number.MAX_SAFE_INTEGER)) {
        const why = await checkpointContradiction(kept.note, tree, size, noteKeysOf(logs, workspace.name, kept.at));
        if (why === undefined) right.push(kept.note);
        else wrong.push({ ...kept, told: `the checkpoint of ${formatInstant(kept.at)} ${why}` });
      }
      const head = await heads.newest(workspace.name);
      const keys = noteKeysOf(logs, workspace.name);
      const headWhy = head === undefined ? undefined : await checkpointContradiction(head, tree, size, keys);
      if (head !== undefined && headWhy !== undefined) {
        const told = `the newest signed checkpoint, kept apart from the database, ${headWhy}`;
        wrong.push({ at: now, size: 0, note: head, told });
      }
      if (head === undefined && right.length > 0 && heads.wereKept()) {
        const told = 'the newest signed checkpoint, kept apart from the database, is not there.';
        wrong.push({ at: now, size: 0, note: '', told });
      }
      if (wrong.length === 0) continue;
      const given = wrong.map(({ told }) => told);
      const signed = wrong.map(({ note }) => note).filter((note) => note !== '');
      const detail = { reason, size, given: given.slice(0, MAX_LISTED), signed: signed.slice(0, MAX_LISTED) };
      giveUp(database, workspace, wrong, nextInstant(workspace, now), detail);
      if (heads.wereKept()) heads.giveUp(workspace.name, right[0]);
      accepted.push({ workspace: workspace.name, entry: size, given });
    }
    const there = new Set(workspaces.map(({ name }) => name));
    for (const name of await heads.workspaces()) {
      if (!there.has(name)) accepted.push(await acceptGone(database, name, { heads, reason, now }));
    }
    return accepted;
  } catch (error) {
    throw asStoreError(error);
  } finally {
    database.close();
  }
}

/** A log of which nothing is there any more: the one of the installation says that it is given up. */
async function acceptGone(
  database: Database,
  workspace: string,
  { heads, reason, now }: Omit<AcceptOptions, 'logs'>,
): Promise<AcceptedLog> {
  const system = ensureWorkspace(database, SYSTEM_WORKSPACE);
  const entry = sizeOf(database, system.id);
  const given = [`all of the log of ${workspace}, which is gone: the log of the installation says so`];
  const detail = { reason, workspace, size: 0, given, signed: [(await heads.newest(workspace)) ?? ''] };
  giveUp(database, system, [], nextInstant(system, now), detail);
  heads.giveUp(workspace);
  return { workspace, entry, given };
}

/** The most sentences, and the most signed checkpoints, that the entry of one log names. */
const MAX_LISTED = 20;

function giveUp(
  database: Database,
  workspace: WorkspaceRow,
  wrong: readonly StoredCheckpoint[],
  at: number,
  detail: Readonly<Record<string, unknown>>,
): void {
  database.transaction(() => {
    for (const { note } of wrong) {
      database.statement('DELETE FROM checkpoint WHERE ws = ? AND note = ?').run(workspace.id, note);
    }
    appendEvent(database, workspace, at, { type: ACCEPTED, actor: 'system:operator', result: 'ok', detail });
    advance(database, workspace, workspace.revision, at);
  });
}
