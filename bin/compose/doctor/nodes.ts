import { versionOf } from '../../../core/model/resources.ts';
import { VERSION } from '../version.ts';
import { type Check, type Finding, failed, ok } from './check.ts';
import { readStates } from './read-states.ts';

const UNSAID = 'unknown';

/** How many nodes of all workspaces run which version, as each said when it registered, came or went. */
export const checkNodes: Check = async (subject) => {
  const states = await readStates(subject);
  if (!states) return [];
  const counts = new Map<string, number>();
  const damaged: Finding[] = [];
  for (const { workspace, peers, presence } of states) {
    for (const peer of peers.values()) {
      if (typeof peer.status.phase !== 'string') {
        damaged.push(
          failed(`The peer ${peer.name} of the workspace ${workspace} is damaged: its status has no phase.`),
        );
        continue;
      }
      if (peer.status.phase !== 'ready') continue;
      const version = versionOf(peer, presence.get(peer.name)?.spec) ?? UNSAID;
      counts.set(version, (counts.get(version) ?? 0) + 1);
    }
  }
  const said = [...counts].sort().map(([version, count]) => `${version}: ${count}`);
  return [
    ...damaged,
    ok(said.length === 0 ? 'No nodes have joined.' : `Nodes by version: ${said.join(', ')}; meshd is ${VERSION}.`),
  ];
};
