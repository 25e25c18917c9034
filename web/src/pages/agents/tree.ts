import type { Agent } from './words.ts';

/** Each agent with those below it after it, by name; one whose parent is not there stands at the end of the roots. */
export function inTree<A extends Pick<Agent, 'name' | 'parentRef'>>(agents: readonly A[]): A[] {
  const sorted = agents.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const names = new Set(sorted.map(({ name }) => name));
  const below = Map.groupBy(sorted, ({ parentRef }) => (parentRef && names.has(parentRef.name) ? parentRef.name : ''));
  const found: A[] = [];
  const add = (agent: A) => {
    found.push(agent);
    for (const child of below.get(agent.name) ?? []) add(child);
  };
  for (const root of below.get('') ?? []) add(root);
  return found;
}
