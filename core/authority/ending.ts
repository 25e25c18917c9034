import { AGENT_LABEL } from '../model/presets.ts';
import { WRITTEN_BY } from '../model/written-by.ts';
import type { Write } from './writes.ts';

/** Ids and names of the agents that end in a batch. */
export function endingAgents(writes: readonly Write[]): ReadonlySet<string> {
  const ended = writes.flatMap(({ before, after }) => {
    if (after?.kind !== 'AgentIdentity' || !before) return [];
    const { phase } = after.status;
    return phase === 'Revoked' || phase === 'Expired' ? [before.uid, before.name] : [];
  });
  return new Set(ended);
}

/** Whether a policy of an agent's preset, or one that the agent wrote by itself, goes with an agent that ends. */
export function endsWith({ type, before }: Write, ending: ReadonlySet<string>): boolean {
  if (type !== 'deleted' || !before) return false;
  return [before.labels[AGENT_LABEL], before.annotations[WRITTEN_BY]].some((id) => id !== undefined && ending.has(id));
}

/** Whether a batch ends agents and does nothing besides, so that what opens or closes was theirs alone. */
export function onlyEnds(writes: readonly Write[]): boolean {
  const ending = endingAgents(writes);
  if (ending.size === 0) return false;
  return writes.every(({ kind, type }) => type === 'deleted' || (kind !== 'MeshPolicy' && kind !== 'MeshPeer'));
}
