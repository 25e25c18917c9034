import { silentLog } from '../../core/base/silent-log.ts';
import type { OpenStore } from '../../storage/engine.ts';
import type { Config } from './config.ts';
import { keyLocationOf, storedCredentials } from './installation.ts';
import { locking } from './locking.ts';
import { openInstallation } from './open-installation.ts';
import { storeUrl } from './store-url.ts';

/**
 * Runs a command of the host on the store of an installation that no `meshd` has open in this directory.
 *
 * @throws Error where another process holds the directory, or it is none of a control plane
 */
export function inStoppedInstallation<T>(
  configDir: string,
  config: Config,
  work: (services: { readonly store: OpenStore; readonly clock: { now(): number } }) => Promise<T>,
): Promise<T> {
  return locking(configDir, async () => {
    if (!storedCredentials(keyLocationOf(config))) {
      throw new Error(`${configDir} has no credentials.json: name the --config-dir of meshd, or its MESH_KEYS_FILE.`);
    }
    const clock = { now: () => Date.now() };
    const { store } = await openInstallation({
      configDir,
      keysFile: config.env.MESH_KEYS_FILE,
      storeUrl: storeUrl(config),
      clock,
      log: silentLog,
      reserve: 0,
    });
    try {
      return await work({ store, clock });
    } finally {
      await store.close();
    }
  });
}
