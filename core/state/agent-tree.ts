import { hasEnded } from '../base/time.ts';
import type { AgentRecord } from '../model/resources.ts';
import type { NetworkState } from './state.ts';

/** An agent and everything delegated below it, parents first. */
export function family(state: NetworkState, root: AgentRecord): AgentRecord[] {
  const children = new Map<string, AgentRecord[]>();
  for (const agent of state.agents.values()) {
    const parent = agent.spec.parentRef?.name;
    if (parent === undefined) continue;
    const siblings = children.get(parent);
    if (siblings) siblings.push(agent);
    else children.set(parent, [agent]);
  }
  const found = new Set([root]);
  for (const agent of found) for (const child of children.get(agent.name) ?? []) found.add(child);
  return [...found];
}

/** Parents of an agent, nearest first. */
export function ancestors(state: NetworkState, agent: AgentRecord): AgentRecord[] {
  const found: AgentRecord[] = [];
  for (let parent = agent.spec.parentRef?.name; parent !== undefined; ) {
    const record = state.agents.get(parent);
    if (!record || found.includes(record)) break;
    found.push(record);
    parent = record.spec.parentRef?.name;
  }
  return found;
}

/** Returns true if an identity has not been ended yet; it may have expired all the same. */
export function isOpen({ status }: AgentRecord): boolean {
  return status.phase === 'Active' || status.phase === 'Pending';
}

/** Returns true if an identity counts at an instant. */
export function isLive(agent: AgentRecord, now: number): boolean {
  return isOpen(agent) && !hasEnded(agent.spec, now);
}
