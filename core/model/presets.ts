import { createHash } from 'node:crypto';
import { newId } from '../base/ids.ts';
import { ordered } from '../base/ordered.ts';
import type { RecordDraft, StoredRecord } from '../base/record.ts';
import type { EgressRule, PeerEntry, PolicySpec, Selector } from './policy.ts';
import type { AgentRecord, PolicyPreset } from './resources.ts';

/** Labels the control plane alone sets; no operator, token or node may write a label with this prefix. */
export const RESERVED_LABEL_PREFIX = 'mesh.internal/';
/** Uid of the identity whose peer this is. */
export const AGENT_LABEL = `${RESERVED_LABEL_PREFIX}agent`;
/** Uid of the identity that delegated it. */
export const PARENT_LABEL = `${RESERVED_LABEL_PREFIX}parent`;
/** Rule, with the preset that it had, of the workload whose peer this is. */
export const WORKLOAD_LABEL = `${RESERVED_LABEL_PREFIX}workload`;

/** Labels that no operator, token or node writes. */
export function isReserved(key: string): boolean {
  return key.startsWith(RESERVED_LABEL_PREFIX);
}

/** Policies that hold an agent or workloads to a preset: they live and end with those. */
export function isOfAgent(record: StoredRecord | undefined): boolean {
  return record?.kind === 'MeshPolicy' && Object.keys(record.labels).some(isReserved);
}

/** Whom the policy of a preset holds, for sentences. */
export function holderOf({ labels }: Pick<StoredRecord, 'labels'>): 'an agent' | 'workloads' {
  return labels[WORKLOAD_LABEL] === undefined ? 'an agent' : 'workloads';
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
  const both = [agent, parent].filter((record) => record !== undefined);
  const family = both.map(({ uid }) => ({ peerSelector: { matchLabels: { [PARENT_LABEL]: uid } } }));
  return policyDrafts({
    preset: agent.spec.policyPreset,
    label: [AGENT_LABEL, agent.uid],
    name: `${agent.uid}.${agent.spec.policyPreset}`,
    identity: agent.name,
    terms: { family, egress },
  });
}

/** What a rule holds its workloads to. */
export interface WorkloadPreset {
  /** Uid of the rule. */
  readonly rule: string;
  readonly name: string;
  readonly preset: PolicyPreset;
  readonly egress: readonly EgressRule[];
}

/** Names what a rule holds its workloads to at present: those that joined before it was changed stay held to what it was. */
export function workloadLabels({ rule, preset, egress }: WorkloadPreset): Record<string, string> {
  const digest = createHash('sha256')
    .update(JSON.stringify(ordered(egress)))
    .digest('hex');
  return { [WORKLOAD_LABEL]: `${rule}.${preset}.${digest.slice(0, DIGEST_CHARACTERS)}` };
}

/** 64 bits, among the presets of one rule. */
const DIGEST_CHARACTERS = 16;

/**
 * The policies that hold the workloads of a rule to its preset. They are committed with the first of these peers, and go once
 * none is left.
 */
export function workloadPolicies(rule: WorkloadPreset): RecordDraft<'MeshPolicy'>[] {
  const { [WORKLOAD_LABEL]: value = '' } = workloadLabels(rule);
  const { preset, egress, name } = rule;
  const label = [WORKLOAD_LABEL, value] as const;
  return policyDrafts({ preset, label, name: value, identity: name, terms: { family: [], egress } });
}

interface PresetTerms {
  /** Sub-agents of an agent and of its parent. */
  readonly family: readonly PeerEntry[];
  readonly egress: readonly EgressRule[];
}

interface PresetOf {
  readonly preset: PolicyPreset;
  /** Which peers bear, and no others. */
  readonly label: readonly [key: string, value: string];
  readonly name: string;
  readonly identity: string;
  readonly terms: PresetTerms;
}

function policyDrafts({ preset, label: [key, value], name, identity, terms }: PresetOf): RecordDraft<'MeshPolicy'>[] {
  return SPECS[preset]({ matchLabels: { [key]: value } }, terms).map((spec, index) => ({
    kind: 'MeshPolicy',
    name: `${name}${index === 0 ? '' : `-${index + 1}`}`,
    uid: newId('pol'),
    labels: { [key]: value },
    annotations: { 'mesh.internal/preset': preset, 'mesh.internal/identity': identity },
    spec,
    status: {},
    unique: [],
  }));
}

/** A DENY with a match-all rule wins over every ALLOW; a rule-less one would lose to any. */
const NOTHING_IN = { ingress: [{}] };
const NOTHING_OUT = { egress: [{}] };

const SPECS: Readonly<Record<PolicyPreset, (only: Selector, terms: PresetTerms) => PolicySpec[]>> = {
  isolated: (only) => [{ action: 'DENY', peerSelector: only, ...NOTHING_IN, ...NOTHING_OUT }],
  sandboxed: (only, { egress }) => [
    { action: 'DENY', peerSelector: only, ...NOTHING_IN },
    { action: 'ALLOW', peerSelector: only, egress: [...egress] },
  ],
  coordinator: (only, { family, egress }) => [
    {
      action: 'ALLOW',
      peerSelector: only,
      ingress: [{ from: [...family] }],
      egress: [{ to: [...family] }, ...egress],
    },
  ],
  inherit: (only) => [{ action: 'ALLOW', peerSelector: only, egress: [{}] }],
};
