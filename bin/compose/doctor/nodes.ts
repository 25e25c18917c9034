import { silentLog } from '../../../core/base/silent-log.ts';
import { versionOf } from '../../../core/model/resources.ts';
import { buildNetworkStates } from '../../../core/state/states.ts';
import { isServed, openStoreReader } from '../../../storage/open.ts';
import { hasEntries } from '../../../storage/sqlite/losses.ts';
import { storeUrl } from '../store-url.ts';
import { VERSION } from '../version.ts';
import { type Check, ok } from './check.ts';

const UNSAID = 'unknown';

/** How many nodes of all workspaces run which version, as each said when it registered, came or went. */
export const checkNodes: Check = async ({ config, file }) => {
  if (file === undefined ? !isServed(storeUrl(config)) : !hasEntries(file)) return [];
  const refuse = () => Promise.reject(new Error('meshd doctor writes nothing to the database.'));
  const store = await openStoreReader(storeUrl(config), { log: silentLog, writes: { commit: refuse, record: refuse } });
  try {
    const states = buildNetworkStates({ store });
    const counts = new Map<string, number>();
    for (const workspace of await store.workspaces()) {
      const { peers, presence } = await states.current(workspace);
      for (const peer of peers.values()) {
        if (peer.status.phase !== 'ready') continue;
        const version = versionOf(peer, presence.get(peer.name)?.spec) ?? UNSAID;
        counts.set(version, (counts.get(version) ?? 0) + 1);
      }
    }
    const said = [...counts].sort().map(([version, count]) => `${version}: ${count}`);
    return [
      ok(said.length === 0 ? 'No nodes have joined.' : `Nodes by version: ${said.join(', ')}; meshd is ${VERSION}.`),
    ];
  } finally {
    await store.close();
  }
};
