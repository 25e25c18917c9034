import { StoreError } from '../../../core/base/ports.ts';
import { silentLog } from '../../../core/base/silent-log.ts';
import type { NetworkState } from '../../../core/state/state.ts';
import { buildNetworkStates } from '../../../core/state/states.ts';
import type { DatabaseFile } from '../../../storage/database-file.ts';
import { storeAt } from '../../../storage/open.ts';
import { storeUrl } from '../store-url.ts';
import type { Subject } from './check.ts';

/** Returns the damage in words, in place of the error of a program that met data it did not write. */
async function damageOf(workspace: string, file: DatabaseFile | undefined, error: unknown): Promise<string> {
  const fault = await file?.fault();
  if (fault !== undefined) return `${fault}.`;
  if (error instanceof StoreError) return error.message;
  return `a record of workspace ${workspace} is damaged: it has not the form of its kind.`;
}

/** Returns the network of each workspace as it is now, read without a write; undefined where there is no store yet. */
export async function readStates({
  config,
  file,
}: Pick<Subject, 'config' | 'file'>): Promise<readonly NetworkState[] | undefined> {
  const address = storeAt(storeUrl(config));
  if (file === undefined ? !address.servers : !(await file.hasEntries())) return undefined;
  const refuse = () => Promise.reject(new Error('meshd doctor writes nothing to the database.'));
  const store = await address.openReader({ log: silentLog, writes: { commit: refuse, record: refuse } });
  try {
    const states = buildNetworkStates({ store });
    const found: NetworkState[] = [];
    for (const workspace of await store.workspaces()) {
      try {
        found.push(await states.current(workspace));
      } catch (error) {
        throw new Error(await damageOf(workspace, file, error), { cause: error });
      }
    }
    return found;
  } finally {
    await store.close();
  }
}
