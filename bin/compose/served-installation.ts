import type { LastingHeads, PublicLogKeys } from '../../core/audit/log-keys.ts';
import { missingIn } from '../../core/audit/losses.ts';
import { SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import type { Store } from '../../core/base/ports.ts';
import { credentialsFile } from '../../storage/credentials.ts';
import { ACCEPTED } from '../../storage/sqlite/accept.ts';
import { lossLine, NOTHING_MISSING } from './loss-words.ts';

interface Known {
  readonly configDir: string;
  readonly heads: LastingHeads;
  /** Undefined where the directory has no keys. */
  readonly logs: PublicLogKeys | undefined;
  readonly acceptLoss: boolean;
}

/**
 * Holds a database that servers keep against what is known of it: it can have been set back, as by their own restore. What
 * is given up, the log says.
 *
 * @throws Error that says what is missing
 */
export async function requireHeld(store: Store, { configDir, heads, logs, acceptLoss }: Known): Promise<void> {
  if (!logs && heads.all().length > 0) {
    throw new Error(
      `${credentialsFile(configDir)} is not there, and log-heads beside it shows that it was, so nothing was started or changed. Put it back, or name another --config-dir.`,
    );
  }
  if (!logs && (await store.workspaces()).length > 0) {
    throw new Error(
      `${credentialsFile(configDir)} is not there, and the database that MESH_STORE_URL names was written with the keys in it, so nothing was started or changed. Put it there, or name another database.`,
    );
  }
  const losses = logs ? await missingIn(store, heads, logs) : [];
  if (losses.length === 0 && acceptLoss) throw new Error(NOTHING_MISSING);
  if (losses.length > 0 && !acceptLoss) {
    throw new Error(
      [
        'the database that MESH_STORE_URL names has less than this installation had, so nothing was started or changed:',
        ...losses.map((loss) => `  - ${lossLine(loss)}`),
        'Name the right database, restore what is missing there, or give it up: meshd --accept-loss',
      ].join('\n'),
    );
  }
  for (const loss of losses) {
    const { workspace } = loss;
    const tree = store.auditTree(workspace);
    const [size, [signed]] = [await tree.size(), await tree.checkpoints(1)];
    const detail = { reason: 'meshd --accept-loss', workspace, size, given: [lossLine(loss)] };
    const log = size > 0 ? workspace : SYSTEM_WORKSPACE;
    await store.record(log, [{ type: ACCEPTED, actor: 'system:operator', result: 'ok', detail }]);
    heads.giveUp(workspace, signed?.note);
  }
}
