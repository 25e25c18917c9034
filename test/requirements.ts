/** A request as the contract shows it: these headers and fields and no others. Bodies are JSON. */
export interface ContractRequest {
  readonly method: 'GET' | 'POST';
  readonly path: `/api/v1/${string}`;
  readonly query?: readonly string[];
  readonly headers?: readonly ('Authorization' | 'X-Workspace-Id')[];
  readonly body?: readonly string[];
}

export interface Requirement {
  readonly section: string;
  readonly rule: string;
  /** Sent as it stands by `sendRequest` or `sendForBytes`. */
  readonly request?: ContractRequest;
  /** A tool and the arguments that the contract names, called by `callContractTool`. */
  readonly tool?: { readonly name: string; readonly arguments: readonly string[] };
  /** A command with the options of the contract, each of which stands in a test that cites the rule. */
  readonly command?: string;
  /** The part that brings it. */
  readonly open?: string;
}

/**
 * Every rule of the contract. Tests cite the ids with `verifies`, and `.ci/run` fails on a rule that no passed test of any
 * tier showed and that is not `open`. `test/requirements.test.ts` tells before that of a rule that is neither cited nor
 * `open`, of an open one that is cited, of an unknown id, and of a quoted request that no test sends as it is quoted.
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
  'edition-first': {
    section: 'Versioning',
    rule: 'Pro features are present in Community, tools included, and answer 402 whatever else is sent',
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
  'start-relay': {
    section: 'Configuration',
    rule: '--standalone starts the relay inside the process, listening on 6266',
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
  'relay-address-credential': {
    section: 'Configuration',
    rule: 'The relay address given to nodes carries the token by itself',
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
  'crd-group': { section: 'Versioning', rule: 'Custom resources use version v1alpha1 under the API group' },
  'workspace-add': {
    section: 'Workspace',
    rule: 'slug, namespace, displayName, maxNodeCount; the answer is {data: {id}}',
    request: {
      method: 'POST',
      path: '/api/v1/workspaces/add',
      headers: ['Authorization'],
      body: ['slug', 'namespace', 'displayName', 'maxNodeCount'],
    },
  },
  'workspace-id': {
    section: 'Workspace',
    rule: 'The id in data is the workspace identifier that X-Workspace-Id takes',
  },
  'workspace-max-node-count': { section: 'Limits', rule: 'maxNodeCount limits the peers of a workspace' },
  'token-generate': {
    section: 'Join token',
    rule: 'name and expiry (empty accepted); the answer contains token',
    request: {
      method: 'POST',
      path: '/api/v1/token/generate',
      headers: ['Authorization', 'X-Workspace-Id'],
      body: ['name', 'expiry'],
    },
  },
  'token-defaults': { section: 'Join token', rule: '7 days and 5 uses unless said otherwise' },
  'token-adjustable': { section: 'Join token', rule: 'Validity and uses are adjustable at creation' },
  'token-expiry': { section: 'States', rule: 'A join token is removed when it has expired or its uses are spent' },
  'token-revocation': { section: 'States', rule: 'An administrator revokes a join token' },
  'token-uses-exact': {
    section: 'Limits',
    rule: 'A token of 5 uses makes exactly 5 peers however many register at once',
  },
  login: {
    section: 'Login',
    rule: 'username and password; the answer is {data: {token}}',
    request: { method: 'POST', path: '/api/v1/users/login', body: ['username', 'password'] },
  },
  'device-name': {
    section: 'Device',
    rule: 'Spaces in a device name become hyphens; the unnormalized name is not found',
  },
  'device-address': { section: 'Device', rule: 'Overlay addresses are in 10.96.0.x' },
  'device-status': {
    section: 'Device',
    rule: 'mesh status shows transport, path, handshake, state and endpoint',
  },
  'device-transport': {
    section: 'Device',
    rule: 'Transport is ice-ready, lrp-ready or probing, path direct or relayed',
  },
  'device-handshake': {
    section: 'Device',
    rule: 'mesh status shows handshake time, state and WireGuard endpoint of each peer',
  },
  'device-relay-endpoint': {
    section: 'Device',
    rule: 'An endpoint in fd6c:7270:: means the relay is in use',
  },
  'snapshot-fields': { section: 'Snapshot', rule: 'peers, policies, networks, presence, trigger_type, captured_at' },
  'snapshot-captured-at': { section: 'Snapshot', rule: 'captured_at is the time of the capture' },
  'snapshot-presence': { section: 'Snapshot', rule: 'presence maps each peer to online or offline' },
  'snapshot-semantic': { section: 'Snapshot', rule: 'Snapshots are semantic JSON without managed fields' },
  'snapshot-list': {
    section: 'Snapshots',
    rule: 'GET /workspaces/:id/snapshots lists snapshots',
    request: { method: 'GET', path: '/api/v1/workspaces/:id/snapshots', headers: ['Authorization'] },
  },
  'snapshot-get': {
    section: 'Snapshots',
    rule: 'GET /workspaces/:id/snapshots/:snapshotId is one snapshot',
    request: { method: 'GET', path: '/api/v1/workspaces/:id/snapshots/:snapshotId', headers: ['Authorization'] },
  },
  'snapshot-diff': {
    section: 'Snapshots',
    rule: 'GET /workspaces/:id/snapshots/diff compares two',
    request: {
      method: 'GET',
      path: '/api/v1/workspaces/:id/snapshots/diff',
      query: ['from', 'to'],
      headers: ['Authorization'],
    },
  },
  'trigger-policy-change': { section: 'Events', rule: 'A policy change takes a snapshot policy_change' },
  'trigger-policy-deleted': { section: 'Events', rule: 'A deleted MeshPolicy takes a snapshot policy_change too' },
  'trigger-peer-online': {
    section: 'Events',
    rule: 'A peer that comes online takes a snapshot peer_online, a registration none',
  },
  'trigger-peer-offline': { section: 'Events', rule: 'A peer that goes offline takes a snapshot peer_offline' },
  'trigger-workflow-executed': { section: 'Events', rule: 'An executed workflow takes a snapshot workflow_executed' },
  'trigger-manual': { section: 'Events', rule: 'A manual API call takes a snapshot manual' },
  'trigger-scheduled': { section: 'Events', rule: 'Daily at 02:00 a snapshot scheduled is taken' },
  'snapshot-debounced': { section: 'Events', rule: 'Changes are debounced before a snapshot is stored' },
  'snapshot-size': { section: 'Limits', rule: 'A snapshot is under 10 KB each, also with 2,000 peers' },
  'snapshot-retention': { section: 'Limits', rule: 'Snapshots are kept 90 days, 1 year in Pro' },
  'report-history': { section: 'Limits', rule: 'Audit reports are kept 3 years (Pro)' },
  'compliance-assess': {
    section: 'Compliance',
    rule: 'POST /ai/compliance/assess answers an assessment',
    request: {
      method: 'POST',
      path: '/api/v1/ai/compliance/assess',
      headers: ['Authorization'],
      body: ['workspace_id', 'framework', 'period_start', 'period_end'],
    },
  },
  'compliance-fields': {
    section: 'Compliance assessment result',
    rule: 'framework, generated_at, score, status, controls, summary, evidence_id',
  },
  'compliance-control-fields': {
    section: 'Compliance assessment result',
    rule: 'controls[]: id <FRAMEWORK>-<requirement>, title, status, evidence, remediation (empty when passing)',
  },
  'compliance-sources': {
    section: 'Compliance assessment result',
    rule: 'Policies, snapshot history and approval records with reviewedBy are the sources',
  },
  'compliance-evidence': {
    section: 'Compliance',
    rule: 'POST /ai/compliance/evidence answers a ZIP archive',
    request: {
      method: 'POST',
      path: '/api/v1/ai/compliance/evidence',
      headers: ['Authorization'],
      body: ['workspace_id', 'framework', 'period_start', 'period_end'],
    },
  },
  'compliance-pci': {
    section: 'Compliance',
    rule: 'PCI-DSS 1.2, 1.3, 6.4 and 10.2 are checked as mapped',
  },
  'compliance-frameworks': {
    section: 'Compliance',
    rule: 'SOC2 Type II, PCI-DSS and HIPAA are supported',
  },
  'compliance-archive': {
    section: 'Compliance',
    rule: 'The archive has the layout of the contract with a tamper-evidence signature',
  },
  'compliance-archive-name': {
    section: 'Compliance',
    rule: 'The archive is mesh-compliance-evidence-<date>.zip',
  },
  'compliance-attestation': {
    section: 'Compliance',
    rule: 'attestation.json is a SHA256 tamper-evidence signature',
  },
  'intent-plan': {
    section: 'Intent engine',
    rule: 'POST /ai/intent/plan answers a plan and executes nothing',
    request: {
      method: 'POST',
      path: '/api/v1/ai/intent/plan',
      headers: ['Authorization'],
      body: ['workspace_id', 'intent', 'dry_run'],
    },
  },
  'intent-plan-fields': { section: 'Intent plan', rule: 'plan_id, summary, risk_level, changes, expires_at' },
  'intent-change-fields': {
    section: 'Intent plan',
    rule: 'changes[]: action, resource, before (YAML, empty for creation), after (YAML)',
  },
  'intent-nothing-executed': { section: 'Intent engine', rule: 'A plan executes nothing' },
  'intent-apply': {
    section: 'Intent engine',
    rule: 'POST /ai/intent/apply answers {workflow_id}; the change enters the approval workflow',
    request: {
      method: 'POST',
      path: '/api/v1/ai/intent/apply',
      headers: ['Authorization'],
      body: ['plan_id', 'approved_by'],
    },
  },
  'intent-workflow': { section: 'Intent engine', rule: 'Changes go through the approval workflow' },
  'intent-approver': { section: 'Intent engine', rule: 'approved_by is the identity of an approver' },
  'intent-strict-schema': {
    section: 'Intent engine',
    rule: 'Stage 1 extracts changes, risk and reasoning under a strict JSON schema',
  },
  'intent-markdown': { section: 'Intent engine', rule: 'Stage 2 is a Markdown diff for people' },
  'intent-yaml': { section: 'Intent engine', rule: 'Proposed changes are expressed as CRD YAML' },
  'ai-debug': {
    section: 'AI debug',
    rule: 'POST /ai/debug streams an answer from snapshots in the range',
    request: {
      method: 'POST',
      path: '/api/v1/ai/debug',
      headers: ['Authorization'],
      body: ['workspace_id', 'question', 'time_range'],
    },
  },
  'ai-debug-history': {
    section: 'AI debug',
    rule: 'The answer uses snapshots in the range, may diff them and simulates connectivity against them',
  },
  delegate: {
    section: 'Delegation',
    rule: "POST /agents/:id/delegate with the parent's own token",
    request: {
      method: 'POST',
      path: '/api/v1/agents/:id/delegate',
      headers: ['Authorization'],
      body: ['subAgentName', 'ttl', 'policyPreset'],
    },
  },
  'delegate-answer': { section: 'Delegation', rule: 'enrollmentToken, expiresAt, parentRef' },
  'delegate-expires-at': { section: 'Delegate response', rule: 'expiresAt is an ISO 8601 UTC timestamp' },
  'delegate-token-prefix': {
    section: 'Delegate response',
    rule: 'The prefix of an enrollment token identifies delegate tokens',
  },
  'delegate-ttl-minutes': { section: 'AgentIdentity', rule: 'ttl is a duration such as minutes with the suffix m' },
  'delegate-presets': { section: 'AgentIdentity', rule: 'sandboxed and coordinator are policy presets' },
  'delegate-parent-ref': {
    section: 'Delegation',
    rule: 'The identity of the token carries parentRef equal to the parent',
  },
  'delegate-enrol': { section: 'Delegation', rule: 'The sub-agent registers itself with a constrained identity' },
  'delegate-ttl': { section: 'Delegation', rule: 'The MeshPeer of a sub-agent is deleted when its TTL has elapsed' },
  'sandbox-start': {
    section: 'Node command line',
    rule: 'mesh sandbox start --token enrols a sub-agent',
    command: 'mesh sandbox start',
  },
  discovery: {
    section: 'Discovery',
    rule: 'GET /discovery answers 200 when the control plane is up',
    request: { method: 'GET', path: '/api/v1/discovery' },
  },
  'device-register': { section: 'Discovery', rule: 'Device registration is served on the API port' },
  'mcp-plan': {
    section: 'MCP tools',
    rule: 'plan_network_change(intent) previews a change',
    tool: { name: 'plan_network_change', arguments: ['intent'] },
  },
  'mcp-apply': {
    section: 'MCP tools',
    rule: 'apply_network_change(plan_id) goes through the approval workflow',
    tool: { name: 'apply_network_change', arguments: ['plan_id'] },
  },
  'mcp-list-snapshots': { section: 'MCP tools', rule: 'list_snapshots lists snapshots within a time range' },
  'mcp-get-snapshot': { section: 'MCP tools', rule: 'get_snapshot shows the full state at a point in time' },
  'mcp-diff-snapshots': { section: 'MCP tools', rule: 'diff_snapshots compares two snapshots' },
  'mcp-check-connectivity-at': {
    section: 'MCP tools',
    rule: 'check_connectivity_at checks connectivity against historical state',
  },
  'cli-init': {
    section: 'Node command line',
    rule: 'mesh init writes a configuration file',
    command: 'mesh init --server <api_url> --token <join_token> --config-dir <dir>',
  },
  'cli-init-default': {
    section: 'Node command line',
    rule: 'mesh init writes under ~/.mesh unless --config-dir says otherwise',
    command: 'mesh init',
  },
  'cli-up': { section: 'Node command line', rule: 'mesh up with its options creates the tunnel' },
  'cli-up-name': {
    section: 'Node command line',
    rule: 'mesh up --name sets the display name',
    command: 'mesh up --name <display_name>',
  },
  'cli-up-logs': {
    section: 'Node command line',
    rule: '--level debug and --enable-sys-log log more',
    command: 'mesh up --level debug --enable-sys-log',
  },
  'cli-up-wg-port': {
    section: 'Node command line',
    rule: '--wg-port is the WireGuard port, 51820 by default',
    command: 'mesh up --wg-port <port>',
  },
  'cli-up-daemon': {
    section: 'Node command line',
    rule: 'mesh up --daemon runs in the background',
    command: 'mesh up --daemon --config-dir <dir>',
  },
  'cli-up-daemon-log': { section: 'Node command line', rule: 'A daemon logs under /var/log/mesh' },
  'cli-status': { section: 'Node command line', rule: 'mesh status needs superuser rights' },
  'cli-config-dir': {
    section: 'Node command line',
    rule: 'init and up must use the same configuration directory',
  },
  'cli-privileged': { section: 'Node command line', rule: 'A container node needs privileged mode' },
  'cli-relay-url': {
    section: 'Node command line',
    rule: '--relay-url overrides the advertised relay',
    command: 'mesh up --relay-url <host:port>',
  },
  'cli-one-mac-client': { section: 'Node command line', rule: 'One client at a time on a Mac' },
  'join-link': { section: 'Node command line', rule: 'mesh://join?server=…&token=… is a join link' },
  'auth-session': { section: 'Authentication', rule: 'A session token is sent as a bearer' },
  'auth-workspace-header': { section: 'Authentication', rule: 'Workspace-scoped calls carry X-Workspace-Id' },
  'auth-delegation': { section: 'Authentication', rule: "Delegation needs the parent agent's token" },
  'auth-tokens-apart': { section: 'Authentication', rule: 'A token of one context is refused in the others' },
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
  'state-pending-approved': {
    section: 'States',
    rule: 'A pending device that an administrator approves is connected and receives its graph',
  },
  'limit-bus-wait': { section: 'Limits', rule: 'Nodes wait 2 s for the bus' },
  'limit-wireguard-port': { section: 'Limits', rule: 'The default WireGuard port is 51820/udp' },
  'limit-delegated-life': { section: 'Limits', rule: 'A delegated token lives the requested ttl' },
  'paths-prefixed': { section: 'Versioning', rule: 'HTTP API paths carry /api/v1' },
  dashboard: { section: 'What the service does', rule: 'A web dashboard is served on the API port' },
} as const satisfies Readonly<Record<string, Requirement>>;

export type RequirementId = keyof typeof requirements;
