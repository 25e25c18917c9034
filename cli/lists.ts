import type { AnyOperation } from '../core/base/operation.ts';
import { getAgentTree } from '../tools/agents/get-agent-tree.ts';
import { listAgents } from '../tools/agents/list-agents.ts';
import { getNetwork } from '../tools/networks/get-network.ts';
import { listNetworks } from '../tools/networks/list-networks.ts';
import { getPeer } from '../tools/peers/get-peer.ts';
import { listPeers } from '../tools/peers/list-peers.ts';
import { getPolicy } from '../tools/policies/get-policy.ts';
import { listPolicies } from '../tools/policies/list-policies.ts';
import { getSnapshot } from '../tools/snapshots/get-snapshot.ts';
import { listSnapshots } from '../tools/snapshots/list-snapshots.ts';
import { getWorkflow } from '../tools/workflows/get-workflow.ts';
import { listWorkflows } from '../tools/workflows/list-workflows.ts';
import { listWorkspaces } from '../tools/workspaces/list-workspaces.ts';

/** A list of everyday use, and how one of its entries is shown. */
export interface Listing {
  readonly verb: string;
  readonly description: string;
  readonly list: AnyOperation<never>;
  readonly one?: AnyOperation<never>;
  /** Whether all pages are shown: of what grows without end only the first is. */
  readonly isWhole: boolean;
  readonly isLabelled?: true;
  /** A field of the operation that another command is for. */
  readonly without?: string;
}

export const LISTINGS: readonly Listing[] = [
  {
    verb: 'peers',
    description: 'list the peers of the workspace, or show one',
    list: listPeers,
    one: getPeer,
    isWhole: true,
    isLabelled: true,
  },
  {
    verb: 'policies',
    description: 'list the access policies of the workspace, or show one',
    list: listPolicies,
    one: getPolicy,
    isWhole: true,
    isLabelled: true,
    without: 'lint',
  },
  {
    verb: 'networks',
    description: 'list the networks of the workspace, or show one',
    list: listNetworks,
    one: getNetwork,
    isWhole: true,
  },
  {
    verb: 'agents',
    description: 'list the agents of the workspace, or show one with its sub-agents',
    list: listAgents,
    one: getAgentTree,
    isWhole: true,
  },
  {
    verb: 'workflows',
    description: 'list the approval workflows, newest first, or show one',
    list: listWorkflows,
    one: getWorkflow,
    isWhole: false,
  },
  {
    verb: 'snapshots',
    description: 'list the snapshots of the network, newest first, or show one',
    list: listSnapshots,
    one: getSnapshot,
    isWhole: false,
  },
  {
    verb: 'workspaces',
    description: 'list your workspaces',
    list: listWorkspaces,
    isWhole: true,
  },
];
