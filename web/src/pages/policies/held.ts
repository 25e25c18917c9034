import type { Policy } from '../../api/types.ts';
import { type AgentNames, isForAgent, withAgentNames } from '../../ui/agent-names.ts';

/** The control plane alone sets this label. */
const WORKLOAD_LABEL = 'mesh.internal/workload';

/** Returns whom a policy holds to a preset; undefined for one that people write. */
export function heldBy({ name, labels }: Pick<Policy, 'name' | 'labels'>): 'agents' | 'workloads' | undefined {
  if (isForAgent(name)) return 'agents';
  return labels[WORKLOAD_LABEL] === undefined ? undefined : 'workloads';
}

type Titled = Pick<Policy, 'name' | 'labels' | 'annotations'>;

/** Returns the name of a policy as people read it: of one that holds to a preset, by whom it holds. */
export function titleOf(policy: Titled, agents: AgentNames | undefined): string {
  const { 'mesh.internal/identity': rule, 'mesh.internal/preset': preset } = policy.annotations;
  return heldBy(policy) === 'workloads' && rule !== undefined
    ? `${rule} · ${preset}`
    : withAgentNames(policy.name, agents);
}
