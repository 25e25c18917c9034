import { MeshError } from '../base/errors.ts';
import type { Op } from '../base/ports.ts';
import type { RecordDraft } from '../base/record.ts';
import { formatInstant, parseInstant } from '../base/time.ts';
import { lookUp, lookUpById } from '../model/find.ts';
import {
  isOfAgent,
  RESERVED_LABEL_PREFIX,
  type WorkloadPreset,
  workloadLabels,
  workloadPolicies,
} from '../model/presets.ts';
import { DEFAULT_NETWORK } from '../model/resources.ts';
import { expiredToken, type TokenRecord } from '../model/token-record.ts';
import { isLive } from '../state/agent-tree.ts';
import { type NetworkState, writtenPolicies } from '../state/state.ts';

/** The properties that a join or delegate token gives to the device that spends it. */
export interface Enrolment {
  /** Labels come from the maker of the token, never from the node. */
  readonly labels: Readonly<Record<string, string>>;
  readonly network: string;
  readonly agentRef?: string;
  /** The agent whose join token it is. */
  readonly delegatedBy?: string;
  /** ISO 8601; the peer ends then. */
  readonly expiresAt?: string;
  /** Committed together with the peer, or nothing is. */
  readonly ops: readonly Op[];
  readonly agentToken?: string;
}

/**
 * Labels that the control plane alone sets never come with a token, whoever made it. What comes with the token of an agent
 * is bound to that agent and ends with it.
 *
 * @throws MeshError `unauthenticated` when the agent has ended
 */
export function joinEnrolment(state: NetworkState, token: TokenRecord, now: number): Enrolment {
  const { spec } = token;
  const own = Object.entries(spec.labels).filter(([key]) => !key.startsWith(RESERVED_LABEL_PREFIX));
  const ends = spec.deviceTtlMs === undefined ? undefined : formatInstant(now + spec.deviceTtlMs);
  const preset = presetOf(token);
  const enrolment = {
    labels: { ...Object.fromEntries(own), ...(preset && workloadLabels(preset)) },
    network: spec.network ?? DEFAULT_NETWORK,
    ...(ends !== undefined && { expiresAt: ends }),
  };
  const ops = preset ? workloadPolicies(preset).map((policy) => thereOrMade(state, policy)) : [];
  if (spec.issuedBy === undefined) return { ...enrolment, ops };
  const agent = lookUpById(state.agents, spec.issuedBy);
  if (!agent || !isLive(agent, now)) throw expiredToken();
  // The end of the agent at the same moment wins.
  const check: Op = { op: 'check', key: { kind: 'AgentIdentity', name: agent.name }, revision: agent.revision };
  const { expiresAt } = agent.spec;
  const isEarlier = ends !== undefined && parseInstant(ends) < parseInstant(expiresAt);
  return { ...enrolment, delegatedBy: agent.name, expiresAt: isEarlier ? ends : expiresAt, ops: [check, ...ops] };
}

function presetOf({ uid, spec }: TokenRecord): WorkloadPreset | undefined {
  const { preset, egress = [], name } = spec;
  return preset && { rule: uid, name, preset, egress };
}

/**
 * A policy that goes at the same moment, with the last workload before, is made anew.
 *
 * @throws MeshError `conflict` where another policy has its name: nobody joins without what holds them
 */
function thereOrMade(state: NetworkState, record: RecordDraft<'MeshPolicy'>): Op {
  const held = lookUp(writtenPolicies(state), record.name);
  if (!held) return { op: 'create', record };
  if (!isOfAgent(held))
    throw new MeshError(
      'conflict',
      `The policy ${held.name} has the name of the preset of these workloads. Ask an administrator of the workspace to delete it, then join again.`,
    );
  return { op: 'check', key: { kind: 'MeshPolicy', name: held.name }, revision: held.revision };
}
