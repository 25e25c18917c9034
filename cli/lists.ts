import type { AnyOperation } from '../core/base/operation.ts';

/** A list of everyday use, and how one of its entries is shown. */
export interface Listing {
  readonly list: AnyOperation<never>;
  readonly one?: AnyOperation<never>;
  /** True if all pages are shown; false for lists that grow without end, which show only the first. */
  readonly isWhole: boolean;
  readonly isLabelled?: true;
  /** A field of the operation that another command is for. */
  readonly without?: string;
}

/** By the command that shows it; its operations are read for this command alone. */
export const LISTINGS = {
  peers: async () => ({
    list: (await import('../tools/peers/list-peers.ts')).listPeers,
    one: (await import('../tools/peers/get-peer.ts')).getPeer,
    isWhole: true,
    isLabelled: true,
  }),
  policies: async () => ({
    list: (await import('../tools/policies/list-policies.ts')).listPolicies,
    one: (await import('../tools/policies/get-policy.ts')).getPolicy,
    isWhole: true,
    isLabelled: true,
    without: 'lint',
  }),
  networks: async () => ({
    list: (await import('../tools/networks/list-networks.ts')).listNetworks,
    one: (await import('../tools/networks/get-network.ts')).getNetwork,
    isWhole: true,
  }),
  agents: async () => ({
    list: (await import('../tools/agents/list-agents.ts')).listAgents,
    one: (await import('../tools/agents/get-agent-tree.ts')).getAgentTree,
    isWhole: true,
  }),
  workflows: async () => ({
    list: (await import('../tools/workflows/list-workflows.ts')).listWorkflows,
    one: (await import('../tools/workflows/get-workflow.ts')).getWorkflow,
    isWhole: false,
  }),
  snapshots: async () => ({
    list: (await import('../tools/snapshots/list-snapshots.ts')).listSnapshots,
    one: (await import('../tools/snapshots/get-snapshot.ts')).getSnapshot,
    isWhole: false,
  }),
  workspaces: async () => ({
    list: (await import('../tools/workspaces/list-workspaces.ts')).listWorkspaces,
    isWhole: true,
  }),
} satisfies Record<string, () => Promise<Listing>>;
