import type { ReadonlySignal } from '@preact/signals';
import { allPages } from './all-pages.ts';
import { api } from './client.ts';
import { type Loaded, useLoaded } from './load.ts';
import type { Agent } from './types.ts';
import { workspaceId } from './workspace.ts';

const LIVING = ['Active', 'Pending'] as const;

/** Returns the agents that may work; those that ended only where they are asked for, for they are many. */
export async function readAgents(withEnded: boolean): Promise<readonly Agent[]> {
  const read = (phase?: (typeof LIVING)[number]) =>
    allPages<Agent>((cursor) =>
      api.GET('/api/v1/agents', {
        params: { query: { limit: 200, ...(cursor && { cursor }), ...(phase && { phase }) } },
      }),
    );
  return withEnded ? read() : (await Promise.all(LIVING.map(read))).flat();
}

/** The names behind the ids in what the control plane makes for agents. */
export function useAgentNames(): ReadonlySignal<Loaded<ReadonlyMap<string, Agent>>> {
  return useLoaded(async (): Promise<ReadonlyMap<string, Agent>> => {
    workspaceId.value;
    return new Map((await readAgents(false)).map((agent) => [agent.id, agent]));
  });
}
