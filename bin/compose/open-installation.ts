import type { DurableHeads } from '../../core/audit/log-keys.ts';
import { checkpointsIn } from '../../core/audit/losses.ts';
import { newId } from '../../core/base/ids.ts';
import { loadCredentials } from '../../storage/credentials.ts';
import type { DatabaseFile } from '../../storage/database-file.ts';
import type { OpenStore } from '../../storage/engine.ts';
import { buildKeyring } from '../../storage/keyring.ts';
import { headsIn } from '../../storage/log-heads.ts';
import { openStore, storeAt } from '../../storage/open.ts';
import { checkInstallation, explaining } from './check-installation.ts';
import type { Installation, InstallationOptions } from './installation.ts';
import { NOTHING_MISSING } from './loss-text.ts';
import { openServed } from './served-installation.ts';

/**
 * Opens the store of an installation, whose credentials are made where the directory is new. It has to hold what is known
 * of it apart from it (docs/reliability.md).
 *
 * @throws Error that says what is missing since when, and what to do
 */
export async function openInstallation(options: InstallationOptions): Promise<Installation> {
  const { file, servers } = storeAt(options.storeUrl);
  if (servers) return openServed(options);
  const { configDir, storeUrl, clock, log, reserve, acceptLoss = false } = options;
  const heads = headsIn(configDir);
  const refusal = await checkInstallation(configDir, file);
  if (refusal !== undefined && !acceptLoss) throw new Error(refusal);
  if (acceptLoss && file !== undefined && refusal === undefined) throw new Error(NOTHING_MISSING);
  const open = () => openStore(storeUrl, { clock, log, reserve });
  let store = await (file === undefined ? open() : explaining({ configDir, file }, open));
  try {
    if (file !== undefined && refusal !== undefined) {
      await store.close();
      store = await openAccepted(options, file, heads);
    }
    // After the store: credentials without a database are those of an installation that has lost it.
    const credentials = loadCredentials(configDir);
    if (!heads.wereKept()) heads.begin(await checkpointsIn(store));
    // A new one with each start: the file may have been restored meanwhile.
    return { store, credentials, heads, epoch: newId('ev') };
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function openAccepted(
  { configDir, storeUrl, clock, log, reserve }: InstallationOptions,
  file: DatabaseFile,
  heads: DurableHeads,
): Promise<OpenStore> {
  const { logs } = buildKeyring(loadCredentials(configDir));
  const reason = 'meshd --accept-loss';
  const accepted = await file.accept({ logs, heads, reason, now: clock.now() });
  for (const { workspace, given } of accepted) log.error({ workspace, given }, 'what was lost is given up');
  return openStore(storeUrl, { clock, log, reserve });
}
