/**
 * Every rule of the contract. Scenarios and tests cite the ids with `verifies`; `test/requirements.test.ts` fails on a rule
 * that is neither cited nor `open`, on an open one that is cited, and on an unknown id. `open` names the part that brings it.
 */
export const requirements = {
  'edition-gate-intent': { section: 'Errors', rule: 'Community edition calls the intent engine: HTTP 402' },
  'edition-gate-compliance': {
    section: 'Errors',
    rule: 'Community edition calls compliance assessment or evidence: HTTP 402',
  },
  'edition-present': {
    section: 'Versioning',
    rule: 'Pro features are present but answer 402 in the Community edition',
  },
  'ports-api': {
    section: 'Network ports',
    rule: '18090/tcp serves API, registration and discovery; nodes cannot join when it is blocked',
  },
  'ports-bus': {
    section: 'Network ports',
    rule: '4222/tcp carries signaling and graph pushes; nodes cannot negotiate when it is blocked',
  },
  'ports-relay': {
    section: 'Network ports',
    rule: '6266/tcp carries data when a direct connection fails',
  },
  'ports-stun': {
    section: 'Network ports',
    rule: '3478/udp gives public addresses; only relay paths when it is blocked',
  },
  'ports-wireguard': {
    section: 'Network ports',
    rule: '51820/udp is the default node port; the relay is used when it is blocked',
  },
  'relay-address-advertised': {
    section: 'Network ports, rule 2',
    rule: 'The relay address given to nodes is the configured advertise address',
  },
  'bus-open': { section: 'Network ports, rule 3', rule: 'The bus has no authentication by default' },
  'start-standalone': {
    section: 'Configuration',
    rule: 'meshd --standalone --config-dir starts everything on an embedded database',
  },
  'env-listen': { section: 'Configuration', rule: 'MESH_LISTEN is the API listen address' },
  'env-signaling-url': {
    section: 'Configuration',
    rule: 'MESH_SIGNALING_URL is given to nodes; its default is a loopback address',
  },
  'env-relay-advertise': {
    section: 'Configuration',
    rule: 'MESH_RELAY_ADVERTISE_URL is the relay address given to nodes',
  },
  'env-relay-url': {
    section: 'Configuration',
    rule: 'MESH_RELAY_URL is the relay address the control plane uses',
  },
  'env-stun-url': { section: 'Configuration', rule: 'MESH_STUN_URL is the STUN address given to nodes' },
  'env-lrp-token': {
    section: 'Configuration',
    rule: 'MESH_LRP_AUTH_TOKEN is the shared relay token; the address given to nodes carries a credential',
  },
  'admin-bootstrap': {
    section: 'Configuration',
    rule: 'The account is admin; its password comes from app.initAdmins, or a built-in default',
  },
  'admin-password-change': { section: 'Configuration', rule: 'The password must be changed after first login' },
  'credentials-file': {
    section: 'Configuration',
    rule: 'Credentials are kept in a file readable by the superuser only and never logged',
  },
  'approval-mode': {
    section: 'Configuration',
    rule: 'With requirePeerApproval a new device is pending, has no graph and is not connected until approved',
  },
  'crd-agent-identity': { section: 'Custom resources', rule: 'AgentIdentity carries parentRef, ttl and policyPreset' },
  'crd-kinds': {
    section: 'Custom resources',
    rule: 'MeshPeer, MeshPolicy and MeshNetwork are resources of version v1alpha1',
  },
  'workspace-add': {
    section: 'Workspace',
    rule: 'slug, namespace, displayName, maxNodeCount; the answer is {data: {id}}',
  },
  'workspace-max-node-count': { section: 'Limits', rule: 'maxNodeCount limits the peers of a workspace' },
  'token-generate': { section: 'Join token', rule: 'name and expiry (empty accepted); the answer contains token' },
  'token-defaults': { section: 'Join token', rule: '7 days and 5 uses unless said otherwise' },
  'token-expiry': { section: 'States', rule: 'A join token is removed when it has expired or its uses are spent' },
  'token-revocation': { section: 'States', rule: 'An administrator revokes a join token' },
  'token-uses-exact': {
    section: 'Limits',
    rule: 'A token of 5 uses makes exactly 5 peers however many register at once',
  },
  login: { section: 'Login', rule: 'username and password; the answer is {data: {token}}' },
  'device-name': {
    section: 'Device',
    rule: 'Spaces in a device name become hyphens; the unnormalized name is not found',
  },
  'device-address': { section: 'Device', rule: 'Overlay addresses are in 10.96.0.x' },
  'device-status': {
    section: 'Device',
    rule: 'mesh status shows transport, path, handshake, state and endpoint',
  },
  'device-relay-endpoint': {
    section: 'Device',
    rule: 'An endpoint in fd6c:7270:: means the relay is in use',
  },
  'snapshot-fields': { section: 'Snapshot', rule: 'peers, policies, networks, presence, trigger_type, captured_at' },
  'snapshot-semantic': { section: 'Snapshot', rule: 'Snapshots are semantic JSON without managed fields' },
  'snapshot-list': { section: 'Snapshots', rule: 'GET /workspaces/:id/snapshots lists snapshots' },
  'snapshot-get': { section: 'Snapshots', rule: 'GET /workspaces/:id/snapshots/:snapshotId is one snapshot' },
  'snapshot-diff': { section: 'Snapshots', rule: 'GET /workspaces/:id/snapshots/diff compares two' },
  'trigger-policy-change': { section: 'Events', rule: 'A policy change takes a snapshot policy_change' },
  'trigger-peer-online': {
    section: 'Events',
    rule: 'A peer that comes online takes a snapshot peer_online, a registration none',
  },
  'trigger-peer-offline': { section: 'Events', rule: 'A peer that goes offline takes a snapshot peer_offline' },
  'trigger-workflow-executed': { section: 'Events', rule: 'An executed workflow takes a snapshot workflow_executed' },
  'trigger-manual': { section: 'Events', rule: 'A manual API call takes a snapshot manual' },
  'trigger-scheduled': { section: 'Events', rule: 'Daily at 02:00 a snapshot scheduled is taken' },
  'snapshot-size': { section: 'Limits', rule: 'A snapshot is under 10 KB each, also with 2,000 peers' },
  'snapshot-retention': { section: 'Limits', rule: 'Snapshots are kept 90 days, 1 year in Pro' },
  'report-history': { section: 'Limits', rule: 'Audit reports are kept 3 years (Pro)', open: 'compliance' },
  'compliance-assess': {
    section: 'Compliance',
    rule: 'POST /ai/compliance/assess answers an assessment',
    open: 'compliance',
  },
  'compliance-evidence': {
    section: 'Compliance',
    rule: 'POST /ai/compliance/evidence answers a ZIP archive',
    open: 'compliance',
  },
  'compliance-pci': {
    section: 'Compliance',
    rule: 'PCI-DSS 1.2, 1.3, 6.4 and 10.2 are checked as mapped',
    open: 'compliance',
  },
  'compliance-frameworks': {
    section: 'Compliance',
    rule: 'SOC2 Type II, PCI-DSS and HIPAA are supported',
    open: 'compliance',
  },
  'compliance-archive': {
    section: 'Compliance',
    rule: 'The archive has the layout of the contract with a tamper-evidence signature',
    open: 'compliance',
  },
  'intent-plan': { section: 'Intent engine', rule: 'POST /ai/intent/plan answers a plan and executes nothing' },
  'intent-plan-fields': { section: 'Intent plan', rule: 'plan_id, summary, risk_level, changes, expires_at' },
  'intent-apply': {
    section: 'Intent engine',
    rule: 'POST /ai/intent/apply answers {workflow_id}; the change enters the approval workflow',
  },
  'intent-strict-schema': {
    section: 'Intent engine',
    rule: 'Stage 1 extracts changes, risk and reasoning under a strict JSON schema',
  },
  'intent-markdown': { section: 'Intent engine', rule: 'Stage 2 is a Markdown diff for people' },
  'intent-yaml': { section: 'Intent engine', rule: 'Proposed changes are expressed as CRD YAML' },
  'ai-debug': {
    section: 'AI debug',
    rule: 'POST /ai/debug streams an answer from snapshots in the range',
    open: 'AI debug',
  },
  delegate: { section: 'Delegation', rule: "POST /agents/:id/delegate with the parent's own token" },
  'delegate-answer': { section: 'Delegation', rule: 'enrollmentToken, expiresAt, parentRef' },
  'delegate-parent-ref': {
    section: 'Delegation',
    rule: 'The identity of the token carries parentRef equal to the parent',
  },
  'delegate-enrol': { section: 'Delegation', rule: 'The sub-agent registers itself with a constrained identity' },
  'delegate-ttl': { section: 'Delegation', rule: 'The MeshPeer of a sub-agent is deleted when its TTL has elapsed' },
  'sandbox-start': {
    section: 'Node command line',
    rule: 'mesh sandbox start --token enrols a sub-agent',
  },
  discovery: { section: 'Discovery', rule: 'GET /discovery answers 200 when the control plane is up' },
  'device-register': { section: 'Discovery', rule: 'Device registration is served on the API port' },
  'mcp-plan': { section: 'MCP tools', rule: 'plan_network_change(intent) previews a change' },
  'mcp-apply': { section: 'MCP tools', rule: 'apply_network_change(plan_id) goes through the approval workflow' },
  'mcp-list-snapshots': { section: 'MCP tools', rule: 'list_snapshots lists snapshots within a time range' },
  'mcp-get-snapshot': { section: 'MCP tools', rule: 'get_snapshot shows the full state at a point in time' },
  'mcp-diff-snapshots': { section: 'MCP tools', rule: 'diff_snapshots compares two snapshots' },
  'mcp-check-connectivity-at': {
    section: 'MCP tools',
    rule: 'check_connectivity_at checks connectivity against historical state',
  },
  'cli-init': { section: 'Node command line', rule: 'mesh init writes a configuration file' },
  'cli-up': { section: 'Node command line', rule: 'mesh up with its options creates the tunnel' },
  'cli-status': { section: 'Node command line', rule: 'mesh status needs superuser rights' },
  'cli-config-dir': {
    section: 'Node command line',
    rule: 'init and up must use the same configuration directory',
  },
  'cli-privileged': { section: 'Node command line', rule: 'A container node needs privileged mode' },
  'cli-relay-url': { section: 'Node command line', rule: '--relay-url overrides the advertised relay' },
  'cli-one-mac-client': { section: 'Node command line', rule: 'One client at a time on a Mac' },
  'join-link': { section: 'Node command line', rule: 'mesh://join?server=…&token=… is a join link' },
  'auth-session': { section: 'Authentication', rule: 'A session token is sent as a bearer' },
  'auth-workspace-header': { section: 'Authentication', rule: 'Workspace-scoped calls carry X-Workspace-Id' },
  'auth-delegation': { section: 'Authentication', rule: "Delegation needs the parent agent's token" },
  'auth-join': { section: 'Authentication', rule: 'Devices join with a join token' },
  'auth-sub-agent': { section: 'Authentication', rule: 'Sub-agents join with a delegate token' },
  'auth-relay': { section: 'Authentication', rule: 'Relay registration needs the shared relay token' },
  'signaling-kinds': {
    section: 'Signaling',
    rule: 'Nodes exchange SYN, OFFER, ANSWER and receive graph pushes over the bus',
  },
  'signaling-syn-restart': { section: 'Signaling', rule: 'SYN on active LRP session records a restart' },
  'error-unnormalized-name': {
    section: 'Errors',
    rule: 'Registering and asking under an unnormalized name is record-not-found',
  },
  'error-pending': {
    section: 'Errors',
    rule: 'A device that registers while approval is required is accepted and stays pending',
  },
  'limit-bus-wait': { section: 'Limits', rule: 'Nodes wait 2 s for the bus' },
  'limit-wireguard-port': { section: 'Limits', rule: 'The default WireGuard port is 51820/udp' },
  'limit-delegated-life': { section: 'Limits', rule: 'A delegated token lives the requested ttl' },
  'paths-prefixed': { section: 'Versioning', rule: 'HTTP API paths carry /api/v1' },
  dashboard: { section: 'What the service does', rule: 'A web dashboard is served on the API port', open: 'dashboard' },
} as const satisfies Readonly<Record<string, { section: string; rule: string; open?: string }>>;

export type RequirementId = keyof typeof requirements;

/** Names the rules that a test proves. Read by `test/requirements.test.ts` from the source; it does nothing at run time. */
export function verifies(..._ids: readonly RequirementId[]): void {}
