import type { Store } from '../base/ports.ts';
import type { AgentRecord } from '../model/resources.ts';

/** Longer than any line that delegation makes: depth 0 to 4. */
const MAX_LINEAGE = 8;

/**
 * An agent and its ancestors, nearest first; undefined when one of them is not there or not active, for then the whole
 * line has lost its rights. Expiry is the reader's to check.
 */
export async function agentLineage(
  store: Pick<Store, 'get' | 'getById'>,
  workspace: string,
  uid: string,
): Promise<readonly AgentRecord[] | undefined> {
  const line: AgentRecord[] = [];
  let agent = await store.getById(workspace, 'AgentIdentity', uid);
  while (line.length < MAX_LINEAGE) {
    if (agent?.status.phase !== 'Active') return undefined;
    line.push(agent);
    const parent = agent.spec.parentRef;
    if (!parent) return line;
    agent = await store.get(workspace, { kind: 'AgentIdentity', name: parent.name });
  }
  return undefined;
}
