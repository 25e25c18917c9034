import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { Op } from '../base/ports.ts';
import { AGENT_LABEL } from '../model/presets.ts';
import type { AgentRecord, PeerRecord, PolicyRecord } from '../model/resources.ts';
import type { TokenRecord } from '../model/token-record.ts';
import { isUndecided, type PlanRecord, type WorkflowRecord } from '../model/workflow-records.ts';
import { WRITTEN_BY } from '../model/written-by.ts';
import { agentOf } from '../state/network-model.ts';
import type { NetworkServices } from '../state/services.ts';
import type { NetworkState } from '../state/state.ts';
import { type RetainedPolicies, type RetainedPolicy, retainedPolicies } from './retained-policies.ts';

/** Records that go when agents end. */
export interface RemovalCascade {
  /** Their own, and those that came with their join tokens and nobody adopted. */
  readonly peers: readonly PeerRecord[];
  /** Policies of their presets, and policies that they wrote by themselves. */
  readonly policies: readonly PolicyRecord[];
  /** Policies that stay and only close, where the workspace has `requireApproval`: a person decides what is opened. */
  readonly kept: readonly RetainedPolicy[];
  /** Holds the commit to what the others that go were judged on. */
  readonly checks: readonly Op[];
  readonly tokens: readonly TokenRecord[];
  readonly plans: readonly PlanRecord[];
  /** Workflows that have not been carried out yet. */
  readonly workflows: readonly WorkflowRecord[];
}

/** Everything that agents made or that belongs to them, and that does not outlive them. */
export async function removalCascade(
  { store, clock }: Pick<NetworkServices, 'store' | 'clock'>,
  state: NetworkState,
  agents: readonly AgentRecord[],
): Promise<RemovalCascade> {
  const ids = new Set(agents.map(({ uid }) => uid));
  const names = new Set(agents.map(({ name }) => name));
  const has = (id: string | undefined) => id !== undefined && ids.has(id);
  const [directory, tokens, plans, workflows] = await Promise.all([
    store.getById(SYSTEM_WORKSPACE, 'Workspace', state.workspace),
    store.list(state.workspace, 'Token'),
    store.list(state.workspace, 'Plan'),
    store.list(state.workspace, 'Workflow'),
  ]);
  const isOurs = ({ labels, annotations }: PolicyRecord) => has(labels[AGENT_LABEL]) || has(annotations[WRITTEN_BY]);
  const policies = [...state.policies.values()].filter(isOurs);
  // One that waits closes nothing yet.
  const waiting = [...state.waiting.values()].filter(isOurs);
  const { kept, checks } = directory?.spec.settings.requireApproval
    ? retainedPolicies({ state, agents, policies, now: clock.now() })
    : NONE_RETAINED;
  const stays = new Set(kept.map(({ before }) => before));
  return {
    peers: [...state.peers.values()].filter((peer) => names.has(agentOf(peer) ?? '')),
    policies: [...policies.filter((policy) => !stays.has(policy)), ...waiting],
    kept,
    checks,
    tokens: tokens.items.filter(({ spec }) => tokenEnds(spec, has)),
    plans: plans.items.filter(({ spec }) => has(spec.requesterId)),
    workflows: workflows.items.filter(
      (workflow) => isUndecided(workflow) && (has(workflow.spec.requesterId) || has(workflow.spec.applierId)),
    ),
  };
}

const NONE_RETAINED: RetainedPolicies = { kept: [], checks: [] };

const AGENT_TOKENS: ReadonlySet<TokenRecord['spec']['kind']> = new Set(['agt', 'dlg', 'oat']);

function tokenEnds({ kind, owner, issuedBy }: TokenRecord['spec'], has: (id: string | undefined) => boolean): boolean {
  return kind === 'join' ? has(issuedBy) : AGENT_TOKENS.has(kind) && has(owner);
}
