import { closingsOf } from '../model/closings.ts';
import { AGENT_LABEL } from '../model/presets.ts';
import { sameValue } from '../model/value.ts';
import { WRITTEN_BY } from '../model/written-by.ts';
import type { Write } from './writes.ts';

/** Returns the ids and names of the agents that end in a batch. */
export function endedAgents(writes: readonly Write[]): ReadonlySet<string> {
  const ended = writes.flatMap(({ before, after }) => {
    if (after?.kind !== 'AgentIdentity' || !before) return [];
    const { phase } = after.status;
    return phase === 'Revoked' || phase === 'Expired' ? [before.uid, before.name] : [];
  });
  return new Set(ended);
}

/**
 * Tells whether a policy of an agent's preset, or one that the agent wrote by itself, goes with an agent that ends, or stays with
 * what it closes alone.
 */
export function endsWith(write: Write, ending: ReadonlySet<string>): boolean {
  const { type, before } = write;
  if (!before || (type !== 'deleted' && !onlyCloses(write))) return false;
  return [before.labels[AGENT_LABEL], before.annotations[WRITTEN_BY]].some((id) => id !== undefined && ending.has(id));
}

/** Tells whether a batch does nothing but end agents, so that all connections it opens or closes were theirs. */
export function onlyEnds(writes: readonly Write[]): boolean {
  const ending = endedAgents(writes);
  if (ending.size === 0) return false;
  return writes.every(
    (write) =>
      write.type === 'deleted' ||
      (write.kind !== 'MeshPolicy' && write.kind !== 'MeshPeer') ||
      (onlyCloses(write) && endsWith(write, ending)),
  );
}

/** Tells whether a policy keeps what it closes, and loses what it opens. */
function onlyCloses({ type, before, after }: Write): boolean {
  if (type !== 'updated' || before?.kind !== 'MeshPolicy' || after?.kind !== 'MeshPolicy') return false;
  return sameValue(after.spec, closingsOf(before.spec));
}
