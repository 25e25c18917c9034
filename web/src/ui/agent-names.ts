import type { Agent } from '../api/types.ts';

/** Agents by id. */
export type AgentNames = ReadonlyMap<string, Pick<Agent, 'name' | 'parentRef'>>;

const MADE = /\b(agt_[a-z0-9]+)\.([a-z][a-z0-9-]*)/g;
const LABEL = /\bmesh\.internal\/(agent|parent)=(agt_[a-z0-9]+)/g;

/** Returns true for a policy that was made for an agent. */
export function isForAgent(policy: string): boolean {
  return policy.search(MADE) === 0;
}

/** The same answer with names in all of its texts; see {@link withAgentNames}. */
export function withAgentNamesIn<T>(value: T, agents: AgentNames | undefined): T {
  const named = (one: unknown): unknown => {
    if (typeof one === 'string') return withAgentNames(one, agents);
    if (Array.isArray(one)) return one.map(named);
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, named(inner)]));
  };
  return named(value) as T;
}

/** A text with names in place of the ids that policies and peers of agents bear; an id that is not known stays. */
export function withAgentNames(text: string, agents: AgentNames = new Map()): string {
  return text
    .replaceAll(LABEL, (whole, label: 'agent' | 'parent', id: string) => {
      const agent = agents.get(id);
      if (!agent) return whole;
      return label === 'agent' ? `agent ${agent.name}` : `sub-agents of ${agent.name}`;
    })
    .replaceAll(MADE, (whole, id: string, preset: string) => {
      const agent = agents.get(id);
      if (!agent) return whole;
      const parent = agent.parentRef ? ` (${agent.parentRef.name})` : '';
      return `${agent.name} · ${preset}${parent}`;
    });
}
