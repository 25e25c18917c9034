/**
 * The operations that MCP shows as tools, in the order of its list: a closed list, at most 20 ever.
 * An operation that is not here is REST and CLI only.
 */
export const MCP_TOOLS: readonly string[] = [
  'plan_network_change',
  'apply_network_change',
  'list_snapshots',
  'get_snapshot',
  'diff_snapshots',
  'check_connectivity_at',
  'list_peers',
  'get_peer',
  'list_policies',
  'check_connectivity',
  'explain_denial',
  'get_workflow',
  'list_workflows',
  'take_snapshot',
  'delegate_agent',
  'assess_compliance',
  'find_cause',
];

/** A view, and the tools whose answers it shows; its source is `web/src/views/<name>.tsx`. */
export interface ViewOfTools {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly tools: readonly string[];
}

/** The views that clients with the extension MCP Apps show beside answers. Each tool has one view at most. */
export const MCP_VIEWS: readonly ViewOfTools[] = [
  {
    name: 'effect',
    title: 'Effect of a change',
    description: 'What a change opens and closes, its risk, and where a person decides it',
    tools: ['plan_network_change', 'apply_network_change', 'get_workflow'],
  },
  {
    name: 'reachability',
    title: 'Reachability',
    description: 'Who may reach whom, why, and what would open it',
    tools: ['check_connectivity', 'explain_denial'],
  },
  {
    name: 'timeline',
    title: 'Time line of a connection',
    description: 'How a connection was over a range, or at a moment, and which change made it so',
    tools: ['check_connectivity_at'],
  },
  {
    name: 'findings',
    title: 'Findings',
    description: 'What broke or opened a connection, who changed it, and the plan that takes it back',
    tools: ['find_cause'],
  },
];
