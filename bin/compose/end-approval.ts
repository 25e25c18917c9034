import { silentLog } from '../../core/base/silent-log.ts';
import { endApproval } from '../../core/identity/end-approval.ts';
import { loadConfig } from './config.ts';
import { keyPlaceOf, knownCredentials } from './known-credentials.ts';
import { locking } from './locking.ts';
import { openInstallation } from './open-installation.ts';
import { storeUrl } from './store-url.ts';

/**
 * `meshd end-approval`: whoever has the files of the host ends the need for a second person in a workspace.
 *
 * @returns what it did, for people
 * @throws Error that says what to change
 */
export async function endApprovalOnHost({
  configDir,
  workspace,
}: {
  readonly configDir: string;
  readonly workspace: string;
}): Promise<string> {
  const config = loadConfig(process.env, configDir);
  return locking(configDir, async () => {
    if (!knownCredentials(keyPlaceOf(config))) {
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
      const { spec } = await endApproval({ store, clock }, workspace);
      return [
        `Administrators of ${spec.slug} approve their own requests from now on (selfApproval), and compliance.secondPerson is off.`,
        'The audit log says so, and every administrator is told for 30 days. Start meshd again.',
      ].join('\n');
    } finally {
      await store.close();
    }
  });
}
