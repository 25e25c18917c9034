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
