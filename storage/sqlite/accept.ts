import { readCheckpoint } from '../../core/audit/checkpoint.ts';
import { noteKeysOf, whyNotHeld } from '../../core/audit/keep-checkpoints.ts';
import type { LastingHeads, PublicLogKeys } from '../../core/audit/log-keys.ts';
import { SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import type { KeptCheckpoint } from '../../core/base/ports.ts';
import { formatInstant } from '../../core/base/time.ts';
import { appendEvent } from './audit.ts';
import { asStoreError, type Database, openDatabase } from './database.ts';
import { readTree, sizeOf } from './tree.ts';
import { advance, ensureWorkspace, nextInstant, type WorkspaceRow } from './workspaces.ts';

/** The entry that says from when on a log goes on without what was signed of it before. */
export const ACCEPTED = 'audit.accepted';

export interface AcceptOptions {
  readonly path: string;
  readonly logs: PublicLogKeys;
  readonly heads: LastingHeads;
  readonly reason: string;
  readonly now: number;
}

export interface AcceptedLog {
  readonly workspace: string;
  /** Number of the entry that says so. */
  readonly entry: number;
  /** What was signed before and is given up, a sentence each. */
  readonly given: readonly string[];
}

/**
 * Has the logs of a database signed on as they are, where what was signed before contradicts them: after a backup was
 * restored, or keys were made anew. Each such log gets an entry that says what was given up and why; that of the
 * installation tells of logs that are not there at all. Nothing else changes, and whoever kept an earlier checkpoint finds the contradiction all the same. No control plane may run on it.
 *
 * @throws StoreError
 */
export async function acceptLogs({ path, logs, heads, reason, now }: AcceptOptions): Promise<AcceptedLog[]> {
  const database = openDatabase(path);
  try {
    const workspaces = database.statement<WorkspaceRow>('SELECT * FROM workspace ORDER BY id').all();
    const accepted: AcceptedLog[] = [];
    for (const workspace of workspaces) {
      const tree = readTree(database, workspace.name);
      const size = sizeOf(database, workspace.id);
      const wrong: (KeptCheckpoint & { readonly told: string })[] = [];
      for (const kept of await tree.checkpoints(Number.MAX_SAFE_INTEGER)) {
        const why = await whyNotHeld(kept.note, tree, size, noteKeysOf(logs, workspace.name, kept.at));
        if (why !== undefined) wrong.push({ ...kept, told: `the checkpoint of ${formatInstant(kept.at)} ${why}` });
      }
      const head = await heads.newest(workspace.name);
      const headWhy = head && (await whyNotHeld(head, tree, size, noteKeysOf(logs, workspace.name)));
      if (head && headWhy) {
        const told = `the newest signed checkpoint, kept apart from the database, ${headWhy}`;
        wrong.push({ at: now, size: 0, note: head, told });
      }
      if (wrong.length === 0) continue;
      const given = wrong.map(({ told }) => told);
      const signed = wrong.map(({ note }) => note);
      const detail = { reason, size, given: given.slice(0, MAX_TOLD), signed: signed.slice(0, MAX_TOLD) };
      giveUp(database, workspace, wrong, nextInstant(workspace, now), detail);
      heads.forget(workspace.name);
      accepted.push({ workspace: workspace.name, entry: size, given });
    }
    const missing = missingLog(database, heads, reason, now);
    return missing ? [...accepted, missing] : accepted;
  } catch (error) {
    throw asStoreError(error);
  } finally {
    database.close();
  }
}

/** What was signed of workspaces that the database does not know. */
function missingLog(database: Database, heads: LastingHeads, reason: string, now: number): AcceptedLog | undefined {
  const names = database.statement<{ name: string }>('SELECT name FROM workspace').all();
  const present = new Set(names.map(({ name }) => name));
  const missing = heads.all().filter(({ workspace }) => !present.has(workspace));
  if (missing.length === 0) return undefined;
  const given = missing.map(
    ({ workspace, note }) => `the log of ${workspace}, of ${readCheckpoint(note)?.size ?? 0} entries, is not there`,
  );
  const signed = missing.map(({ note }) => note);
  let entry = 0;
  database.transaction(() => {
    const installation = ensureWorkspace(database, SYSTEM_WORKSPACE);
    entry = sizeOf(database, installation.id);
    const at = nextInstant(installation, now);
    const detail = { reason, size: entry, given: given.slice(0, MAX_TOLD), signed: signed.slice(0, MAX_TOLD) };
    appendEvent(database, installation, at, { type: ACCEPTED, actor: 'system:operator', result: 'ok', detail });
    advance(database, installation, installation.revision, at);
  });
  for (const { workspace } of missing) heads.forget(workspace);
  return { workspace: SYSTEM_WORKSPACE, entry, given };
}

/** Of one log, in its entry. */
const MAX_TOLD = 20;

function giveUp(
  database: Database,
  workspace: WorkspaceRow,
  wrong: readonly KeptCheckpoint[],
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
