import type { DurableHeads, PublicLogKeys } from '../../core/audit/log-keys.ts';
import { checkpointsIn, missingIn } from '../../core/audit/losses.ts';
import { SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import { type Store, StoreError } from '../../core/base/ports.ts';
import { silentLog } from '../../core/base/silent-log.ts';
import { type Credentials, credentialsFile, loadCredentials } from '../../storage/credentials.ts';
import { ACCEPTED } from '../../storage/database-file.ts';
import type { OpenStore, SharedDatabase } from '../../storage/engine.ts';
import { buildKeyring, nameOfKeys } from '../../storage/keyring.ts';
import { headsIn } from '../../storage/log-heads.ts';
import { openStore, storeAt } from '../../storage/open.ts';
import { type Installation, type InstallationOptions, type KeyLocation, storedCredentials } from './installation.ts';
import { lossLine, NOTHING_MISSING } from './loss-text.ts';

/**
 * Opens a database that servers keep, which any number of control planes of one installation can have open. Whoever comes
 * first says whose it is.
 *
 * @throws Error that says what is missing, or that it is another's
 */
export async function openServed(options: InstallationOptions): Promise<Installation> {
  const { configDir, keysFile, storeUrl, clock, log, acceptLoss = false } = options;
  const heads = headsIn(configDir);
  const known = storedCredentials(options);
  const store = await openStore(storeUrl, { clock, log });
  try {
    const shared = sharedDatabase(store);
    const losses = await checkedLosses(store, await shared.claimedWith(), { ...options, heads, known });
    if (losses.length === 0 && acceptLoss && heads.all().length > 0) throw new Error(NOTHING_MISSING);
    if (losses.length > 0 && !acceptLoss) throw new Error(lossRefusal(losses));
    await giveUp(store, heads, losses);
    const credentials = keysFile !== undefined && known ? known : loadCredentials(configDir);
    if (acceptLoss) await shared.renew();
    const { keys, epoch } = await shared.claim(nameOfKeys(credentials));
    requireOwn(keys, credentials, options);
    if (!heads.wereKept()) heads.begin(await checkpointsIn(store));
    return { store, credentials, heads, epoch };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Why no control plane starts on a database that servers keep, and what to do. Nothing is written. */
export async function servedStartRefusal(place: KeyLocation, url: string): Promise<string | undefined> {
  const reader = await storeAt(url).openReader({ log: silentLog, writes: { commit: refuse, record: refuse } });
  try {
    const known = storedCredentials(place);
    const losses = await checkedLosses(reader, await reader.claimedWith?.(), {
      ...place,
      heads: headsIn(place.configDir),
      known,
    });
    return losses.length > 0 ? lossRefusal(losses) : undefined;
  } catch (error) {
    return error instanceof StoreError ? error.subject : (error as Error).message;
  } finally {
    await reader.close();
  }
}

const refuse = () => Promise.reject(new TypeError('What is judged is only read.'));

function sharedDatabase({ shared }: OpenStore): SharedDatabase {
  if (!shared) throw new TypeError('A store that servers keep says nothing of its installation.');
  return shared;
}

/** @throws Error where the database was written with other keys */
function requireOwn(keys: string, credentials: Credentials, { configDir, keysFile }: KeyLocation): void {
  const own = nameOfKeys(credentials);
  if (keys === own) return;
  throw new Error(
    [
      `${keysFile ?? credentialsFile(configDir)} has other keys (${own}) than those that the database which MESH_STORE_URL names was written with (${keys}), so nothing was started.`,
      'Give every control plane of the database the same file, by MESH_KEYS_FILE, or name another database.',
    ].join('\n'),
  );
}

/** Advice for several control planes on one database, which must not have keys of their own. */
const ONE_OF_SEVERAL = 'Where several share the database, set MESH_KEYS_FILE to the file of their keys';

type Logs = Pick<Store, 'auditTree' | 'workspaces'>;
type Losses = Awaited<ReturnType<typeof missingIn>>;

interface InstallationKeys extends KeyLocation {
  readonly heads: DurableHeads;
  /** Undefined where there are no keys yet. */
  readonly known: Credentials | undefined;
}

/**
 * @param claimed names the keys that the database says it is written with
 * @returns what it lacks
 * @throws Error where it was written with other keys, or they would be made anew
 */
async function checkedLosses(store: Logs, claimed: string | undefined, place: InstallationKeys): Promise<Losses> {
  const { configDir, heads, known } = place;
  if (known) {
    if (claimed !== undefined) requireOwn(claimed, known, place);
    return lossesOf(store, heads, buildKeyring(known).logs);
  }
  if (heads.all().length > 0) {
    throw new Error(
      `${credentialsFile(configDir)} is not there, and log-heads beside it shows that it was, so nothing was started or changed. ${ONE_OF_SEVERAL}, else put it back, or name another --config-dir.`,
    );
  }
  if ((await store.workspaces()).length > 0) {
    throw new Error(
      `${credentialsFile(configDir)} is not there, and the database that MESH_STORE_URL names was written with the keys in it, so nothing was started or changed. ${ONE_OF_SEVERAL}, else put it there, or name another database.`,
    );
  }
  return [];
}

/**
 * Holds a database against what this control plane has signed of it: it can have been set back, as by a restore of the
 * servers. Of what others have signed it knows nothing, and a directory that is new says nothing.
 */
function lossesOf(store: Logs, heads: DurableHeads, logs: PublicLogKeys): Promise<Losses> {
  // Others begin logs too: one without a head here lacks none.
  return missingIn(store, { all: heads.all, wereKept: () => false }, logs);
}

function lossRefusal(losses: Losses): string {
  return [
    'the database that MESH_STORE_URL names has less than this installation had, so nothing was started or changed:',
    ...losses.map((loss) => `  - ${lossLine(loss)}`),
    'Name the right database, restore what is missing there, or give it up: meshd --accept-loss',
  ].join('\n');
}

/** Gives up the missing data, and records that in the log. */
async function giveUp(store: Store, heads: DurableHeads, losses: Losses): Promise<void> {
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
