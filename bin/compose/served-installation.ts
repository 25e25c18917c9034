import type { LastingHeads, PublicLogKeys } from '../../core/audit/log-keys.ts';
import { checkpointsIn, missingIn } from '../../core/audit/losses.ts';
import { SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import type { Store } from '../../core/base/ports.ts';
import { credentialsFile, loadCredentials, readCredentials, readKeysFile } from '../../storage/credentials.ts';
import { buildKeyring, nameOfKeys } from '../../storage/keyring.ts';
import { headsIn } from '../../storage/log-heads.ts';
import { type OpenStore, openStore, type SharedDatabase } from '../../storage/open.ts';
import { ACCEPTED } from '../../storage/sqlite/accept.ts';
import { lossLine, NOTHING_MISSING } from './loss-words.ts';
import type { Installation, InstallationOptions } from './open-installation.ts';

/**
 * Opens a database that servers keep, which any number of control planes of one installation can have open. Whoever comes
 * first says whose it is.
 *
 * @throws Error that says what is missing, or that it is another's
 */
export async function openServed(options: InstallationOptions): Promise<Installation> {
  const { configDir, keysFile, storeUrl, clock, log, acceptLoss = false } = options;
  const heads = headsIn(configDir);
  const known = keysFile === undefined ? readCredentials(configDir) : readKeysFile(keysFile);
  const store = await openStore(storeUrl, { clock, log });
  try {
    const shared = sharedDatabase(store);
    if (!known) await requireNew(store, configDir, heads);
    await requireHeld(store, { heads, acceptLoss, logs: known && buildKeyring(known).logs });
    const credentials = keysFile !== undefined && known ? known : loadCredentials(configDir);
    const own = nameOfKeys(credentials);
    if (acceptLoss) await shared.renew();
    const { keys, epoch } = await shared.claim(own);
    if (keys !== own) throw new Error(otherKeys(keysFile ?? credentialsFile(configDir), own, keys));
    if (!heads.wereKept()) heads.begin(await checkpointsIn(store));
    return { store, credentials, heads, epoch };
  } catch (error) {
    await store.close();
    throw error;
  }
}

function sharedDatabase({ shared }: OpenStore): SharedDatabase {
  if (!shared) throw new TypeError('A store that servers keep says nothing of its installation.');
  return shared;
}

function otherKeys(file: string, own: string, keys: string): string {
  return [
    `${file} has other keys (${own}) than those that the database which MESH_STORE_URL names was written with (${keys}), so nothing was started.`,
    'Give every control plane of the database the same file, by MESH_KEYS_FILE, or name another database.',
  ].join('\n');
}

/** @throws Error where keys would be made anew for a database that has been written */
async function requireNew(store: Store, configDir: string, heads: LastingHeads): Promise<void> {
  if (heads.all().length > 0) {
    throw new Error(
      `${credentialsFile(configDir)} is not there, and log-heads beside it shows that it was, so nothing was started or changed. Put it back, or name another --config-dir.`,
    );
  }
  if ((await store.workspaces()).length > 0) {
    throw new Error(
      `${credentialsFile(configDir)} is not there, and the database that MESH_STORE_URL names was written with the keys in it, so nothing was started or changed. Put it there, or name another database.`,
    );
  }
}

interface Known {
  readonly heads: LastingHeads;
  /** Undefined where there are no keys yet. */
  readonly logs: PublicLogKeys | undefined;
  readonly acceptLoss: boolean;
}

/**
 * Holds a database against what this control plane has signed of it: it can have been set back, as by a restore of the
 * servers. Of what others have signed it knows nothing, and a directory that is new says nothing. What is given up, the log
 * says.
 *
 * @throws Error that says what is missing
 */
async function requireHeld(store: Store, { heads, logs, acceptLoss }: Known): Promise<void> {
  // Others begin logs too: one without a head here lacks none.
  const own = { all: heads.all, wereKept: () => false };
  const losses = logs ? await missingIn(store, own, logs) : [];
  if (losses.length === 0 && acceptLoss && heads.all().length > 0) throw new Error(NOTHING_MISSING);
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
