import { versionOf } from '../../../core/model/resources.ts';
import { VERSION } from '../version.ts';
import { type Check, ok } from './check.ts';
import { readStates } from './read-states.ts';

const UNSAID = 'unknown';

/** How many nodes of all workspaces run which version, as each said when it registered, came or went. */
export const checkNodes: Check = async (subject) => {
  const states = await readStates(subject);
  if (!states) return [];
  const counts = new Map<string, number>();
  for (const { peers, presence } of states) {
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
};
