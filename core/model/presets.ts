import { newId } from '../base/ids.ts';
import type { RecordDraft, StoredRecord } from '../base/record.ts';
import type { EgressRule, PolicySpec } from './policy.ts';
import type { AgentRecord, PolicyPreset } from './resources.ts';

/** Labels the control plane alone sets; no operator, token or node may write a label with this prefix. */
export const RESERVED_LABEL_PREFIX = 'mesh.internal/';
/** Uid of the identity whose peer this is. */
export const AGENT_LABEL = `${RESERVED_LABEL_PREFIX}agent`;
/** Uid of the identity that delegated it. */
export const PARENT_LABEL = `${RESERVED_LABEL_PREFIX}parent`;

/** Labels that no operator, token or node writes. */
export function isReserved(key: string): boolean {
  return key.startsWith(RESERVED_LABEL_PREFIX);
}

/** Policies that hold an agent to its preset: they live and end with it. */
export function isOfAgent(record: StoredRecord | undefined): boolean {
  return record?.kind === 'MeshPolicy' && Object.keys(record.labels).some(isReserved);
}

/** Labels of the peer of an agent. */
export function agentLabels(agent: AgentRecord, parent: AgentRecord | undefined): Record<string, string> {
  return { [AGENT_LABEL]: agent.uid, ...(parent && { [PARENT_LABEL]: parent.uid }) };
}

/**
 * The policies that hold one identity to its preset (docs/delegation.md#presets). They select that identity's peer by its uid, and are
 * committed together with the peer. Over them all stands the delegation bound of the engine.
 */
export function presetPolicies(
  agent: AgentRecord,
  parent: AgentRecord | undefined,
  egress: readonly EgressRule[],
): RecordDraft<'MeshPolicy'>[] {
  return SPECS[agent.spec.policyPreset](agent, parent, egress).map((spec, index) => ({
    kind: 'MeshPolicy',
    name: `${agent.uid}.${agent.spec.policyPreset}${index === 0 ? '' : `-${index + 1}`}`,
    uid: newId('pol'),
    labels: { [AGENT_LABEL]: agent.uid },
    annotations: { 'mesh.internal/preset': agent.spec.policyPreset, 'mesh.internal/identity': agent.name },
    spec,
    status: {},
    unique: [],
  }));
}

type SpecsOf = (agent: AgentRecord, parent: AgentRecord | undefined, egress: readonly EgressRule[]) => PolicySpec[];

const only = (agent: AgentRecord) => ({ matchLabels: { [AGENT_LABEL]: agent.uid } });

/** A DENY with a match-all rule wins over every ALLOW; a rule-less one would lose to any. */
const NOTHING_IN = { ingress: [{}] };
const NOTHING_OUT = { egress: [{}] };

const SPECS: Readonly<Record<PolicyPreset, SpecsOf>> = {
  isolated: (agent) => [{ action: 'DENY', peerSelector: only(agent), ...NOTHING_IN, ...NOTHING_OUT }],
  sandboxed: (agent, _parent, egress) => [
    { action: 'DENY', peerSelector: only(agent), ...NOTHING_IN },
    { action: 'ALLOW', peerSelector: only(agent), egress: [...egress] },
  ],
  coordinator: (agent, parent, egress) => {
    const both = [agent, parent].filter((record) => record !== undefined);
    const family = both.map(({ uid }) => ({ peerSelector: { matchLabels: { [PARENT_LABEL]: uid } } }));
    return [
      {
        action: 'ALLOW',
        peerSelector: only(agent),
        ingress: [{ from: family }],
        egress: [{ to: family }, ...egress],
      },
    ];
  },
  inherit: (agent) => [{ action: 'ALLOW', peerSelector: only(agent), egress: [{}] }],
};
