import { AGENT_BEGINS, AGENT_SHARES } from '../core/authority/shares.ts';
import { MAX_SUGGESTIONS } from '../core/base/errors.ts';
import { JSON_LIMITS } from '../core/base/json-text.ts';
import { MAX_FIELD_ERRORS } from '../core/base/schema-errors.ts';
import { TEXT_LIMITS } from '../core/base/text.ts';
import { ADDRESS_QUARANTINE_MS } from '../core/changes/address.ts';
import { MAX_ANNOTATIONS, MAX_DOCUMENTS } from '../core/changes/manifest.ts';
import { RETENTION_YEARS } from '../core/compliance/retention.ts';
import { MAX_ENTRIES } from '../core/compliance/reviews/activity-items.ts';
import { MAX_ITEM_NOTE, MAX_ITEMS } from '../core/compliance/reviews/review-record.ts';
import { MAX_STATES } from '../core/compliance/sweep.ts';
import { MAX_POINTS } from '../core/compliance/trend.ts';
import { MAX_EFFECT_RANGES } from '../core/effect/connection-changes.ts';
import { AGENT_PEER_QUOTA } from '../core/enrolment/register.ts';
import { MAX_AGENT_TTL_MS, MAX_DEPTH } from '../core/identity/delegation.ts';
import { MAX_ORDERS } from '../core/intent/orders/order.ts';
import { MAX_CHANGES } from '../core/intent/plan/change-input.ts';
import { MAX_EXPECTATIONS } from '../core/intent/plan/expectation-input.ts';
import { TRACE_LIMITS } from '../core/model/call-trace.ts';
import { FRAMEWORKS, MAX_PERIOD_DAYS } from '../core/model/frameworks.ts';
import { LOST_KEYS_PER_HOUR } from '../core/model/key-allowance.ts';
import { MAX_LABELS } from '../core/model/labels.ts';
import { POLICY_LIMITS } from '../core/model/policy.ts';
import { MAX_PATH_REPORTS, MAX_PATHS_OF_NODE } from '../core/model/reported-paths.ts';
import { MAX_RULES_WEIGHT } from '../core/model/rule-list.ts';
import { MAX_JOIN_USES } from '../core/model/workload-rule.ts';
import { MAX_NODE_COUNT } from '../core/model/workspaces.ts';
import { SELF_CHANGE_PAUSE_MS } from '../core/peers/self-change.ts';
import { MAX_EDGES } from '../core/reachability/outside.ts';
import { MAX_NUMBERS } from '../core/reachability/port-sets.ts';
import { SIMULATE_LIMITS } from '../core/reachability/simulate.ts';
import { MAX_WEIGHT } from '../core/reachability/weight.ts';
import { MAX_BEGINS } from '../core/state/begins.ts';
import { MAX_URL } from '../core/webhooks/target.ts';
import { MAX_ENDED, MAX_WAITING, MAX_WEBHOOKS } from '../core/webhooks/webhook-record.ts';
import { MAX_RESOURCE_CHARACTERS } from '../mcp/resources.ts';
import { COMPUTE_LIMITS } from '../plane/compute/limits.ts';
import { FLIGHT_LIMITS } from '../plane/webhooks/due.ts';
import { SEND_LIMITS } from '../plane/webhooks/post.ts';
import { BODY_POOL } from '../rest/body-pool.ts';
import { MAX_EXPORTS } from '../rest/evidence.ts';
import { BODY_LIMIT, SMALL_BODY_LIMIT } from '../rest/read-body.ts';
import { ARCHIVE_LIMITS } from '../rest/send-archive.ts';
import { MAX_AGENTS } from '../tools/agents/get-agent-tree.ts';
import { MAX_LIMIT, MAX_PAGE_CHARACTERS } from '../tools/page.ts';
import { MAX_NAMED } from '../tools/reviews/decide-review-items.ts';
import { SNAPSHOT_PAGE } from '../tools/snapshots/get-snapshot.ts';
import { MAX_WORKSPACES } from '../tools/users/get-me.ts';
import { MAX_LEFTOVERS } from '../tools/users/leftover-view.ts';
import { MAX_SUBSCRIPTIONS } from '../tools/webhooks/webhook-view.ts';
import { YAML_LIMITS } from '../tools/yaml.ts';

const TEXTS: Readonly<Record<keyof typeof TEXT_LIMITS, string>> = {
  name: 'Name, namespace, label value',
  hostname: 'Host name',
  title: 'Display name, name of a token',
  reference: 'Name or id that is looked up',
  id: 'Id',
  cursor: 'Cursor of a page',
  duration: 'Duration, of at most eight terms',
  instant: 'Instant',
  cidr: 'Address or block',
  range: 'Range of addresses',
  labelKey: 'Label key, annotation key',
  term: 'Side of an assertion',
  note: 'Note of a review',
  intent: 'Intent (several lines)',
  annotation: 'Value of an annotation (several lines)',
  password: 'Password as sent',
  otp: 'One-time or recovery code as sent',
  version: 'Version of a device',
  token: 'Token',
  credentialId: 'Id of a passkey',
  passkey: 'A part of what an authenticator signs',
  identityToken: 'OIDC token of a workload',
  callback: 'Query with which an issuer sends a browser back',
  manifest: 'YAML of resources (several lines)',
};

type Row = readonly [what: string, limit: number, unit: string];

/** What bounds a request, a workspace and an answer, from the constants that the code goes by. */
export const limits: Readonly<Record<string, readonly Row[]>> = {
  'A request': [
    ['Body, before and after decompression', BODY_LIMIT, 'bytes'],
    ['Body of a login, a registration and the calls of devices', SMALL_BODY_LIMIT, 'bytes'],
    ['Bodies on their way, of what each has beyond 64 KiB, of all senders', BODY_POOL.total, 'bytes'],
    ['The same, of one address', BODY_POOL.perSource, 'bytes'],
    ['JSON: nesting', JSON_LIMITS.depth, 'levels'],
    ['JSON: keys', JSON_LIMITS.keys, ''],
    ['JSON: keys of one object', JSON_LIMITS.keysOfObject, ''],
    ['JSON: values, with the entries of lists', JSON_LIMITS.values, ''],
    ['YAML: line ends and characters that can begin a node', YAML_LIMITS.indicators, 'characters'],
    ['YAML: keys and values, with those that aliases repeat', YAML_LIMITS.nodes, ''],
    ['YAML: nesting', YAML_LIMITS.depth, 'levels'],
    ['YAML: keys of one mapping', YAML_LIMITS.keysOfMapping, ''],
    ['YAML: anchors', YAML_LIMITS.anchors, ''],
    ['YAML: aliases', YAML_LIMITS.aliases, 'in one document'],
    ['Documents of one apply', MAX_DOCUMENTS, ''],
    ['Changes of one plan', MAX_CHANGES, ''],
    ['Expectations of one plan', MAX_EXPECTATIONS, ''],
    ['Orders of one plan', MAX_ORDERS, ''],
    ['Different times for which policies of a workspace wait', MAX_BEGINS, ''],
    [
      'Edges of address ranges that one plan or difference compares; with more the effect is not checked',
      MAX_EDGES,
      '',
    ],
    ['Ranges of ports, of all different changes that one write or plan makes', MAX_EFFECT_RANGES, ''],
    [
      'First and last ports of the sets that the policies of a network add up to, for each kind of peer with each, one rule after the other',
      MAX_WEIGHT,
      'in all, of which agents by themselves half',
    ],
    ['First and last ports of all different sets of ports that one computation tells apart', MAX_NUMBERS, ''],
    ['Reports of paths in one heartbeat', MAX_PATH_REPORTS, ''],
    ['Wrong fields named in one refusal, after which checking ends', MAX_FIELD_ERRORS, ''],
    ['Wrong fields of one refusal for which near names are looked up', MAX_SUGGESTIONS, ''],
  ],
  'A text': Object.entries(TEXT_LIMITS).map(([kind, max]) => [TEXTS[kind as keyof typeof TEXTS], max, 'characters']),
  'A root agent with all its sub-agents': [
    ['Living sub-agents', AGENT_SHARES.AgentIdentity, ''],
    ['Join tokens', AGENT_SHARES.Token, ''],
    ['Policies that they wrote by themselves', AGENT_SHARES.MeshPolicy, ''],
    ['Different times for which their policies wait', AGENT_BEGINS, ''],
    ['Open plans', AGENT_SHARES.Plan, 'that are neither applied nor ended; dry runs do not count'],
    ['Workflows that wait for a person', AGENT_SHARES.Workflow, ''],
    ['Snapshots', AGENT_SHARES.Snapshot, 'a day'],
    ['Assessments', AGENT_SHARES.Assessment, 'a day'],
    ['Nodes of a workspace', AGENT_PEER_QUOTA * 100, '% of maxNodeCount'],
  ],
  'A resource': [
    ['Labels', MAX_LABELS, ''],
    ['Annotations', MAX_ANNOTATIONS, ''],
    ['Rules in one direction of a policy', POLICY_LIMITS.rulesPerDirection, ''],
    [
      'Entries and ports of all rules in one direction of a policy, or of one `reach` or `egress`; an entry counts once for each peer, label, value and exception that it names',
      MAX_RULES_WEIGHT,
      'together',
    ],
    ['Ports of a rule', POLICY_LIMITS.portsPerRule, ''],
    ['Peers that a selector lists', POLICY_LIMITS.peersPerSelector, ''],
    ['Expressions of a selector', POLICY_LIMITS.expressionsPerSelector, ''],
    ['Values of an expression', POLICY_LIMITS.valuesPerExpression, ''],
    ['Exceptions of an `ipBlock`', POLICY_LIMITS.exceptsPerBlock, ''],
  ],
  'A workspace': [
    ['Peers (`maxNodeCount`)', MAX_NODE_COUNT, 'at most'],
    ['Depth of delegation', MAX_DEPTH, 'below a root agent'],
    ['Life of an agent', MAX_AGENT_TTL_MS / 86_400_000, 'days'],
    ['Uses of a join token', MAX_JOIN_USES, ''],
    [
      'Devices deleted, revoked or given another key within an hour before new keys wait, on servers of your own that know nodes by a key',
      LOST_KEYS_PER_HOUR,
      'and half for new keys of agents',
    ],
    ['Time between two changes that a device makes to its own name or key', SELF_CHANGE_PAUSE_MS / 1_000, 'seconds'],
    ['Quarantine of a freed address while others are free', ADDRESS_QUARANTINE_MS / 1_000, 'seconds'],
    ['Paths kept of one node', MAX_PATHS_OF_NODE, ''],
    ['Calls kept of a root agent with all below it, or of an API token, since the start', TRACE_LIMITS.calls, ''],
    ['Arguments and results of the same', TRACE_LIMITS.characters, 'characters'],
    ['One of them; it is cut there', TRACE_LIMITS.text, 'characters'],
    ['Root agents and API tokens whose calls are kept', TRACE_LIMITS.families, ''],
    ['Arguments and results that are kept of all workspaces together', TRACE_LIMITS.allCharacters, 'characters'],
  ],
  'A simulation': [
    ['Peers', SIMULATE_LIMITS.peers, ''],
    ['Policies', SIMULATE_LIMITS.policies, ''],
    ['Externals', SIMULATE_LIMITS.externals, ''],
    ['Queries', SIMULATE_LIMITS.queries, ''],
    ['Rows of the answer', SIMULATE_LIMITS.rows, ''],
  ],
  'A computation': [
    ['Time that it computes, or else it is `unavailable`', COMPUTE_LIMITS.runMs / 1_000, 'seconds'],
    ['Time that a question waits for a thread', COMPUTE_LIMITS.waitMs / 1_000, 'seconds'],
    [
      'Time that the judgement of a write waits for one; it goes before all questions, and they leave it one',
      COMPUTE_LIMITS.judgementWaitMs / 1_000,
      'seconds',
    ],
    ['Waiting, of one person, or of a root agent with all below it', COMPUTE_LIMITS.waiting.perPrincipal, ''],
    ['Waiting, of all agents of a workspace', COMPUTE_LIMITS.waiting.perTenantAgents, ''],
    ['Waiting, of a workspace', COMPUTE_LIMITS.waiting.perTenant, ''],
    ['Waiting, of everyone', COMPUTE_LIMITS.waiting.total, ''],
  ],
  'An assessment': [
    ['Period', MAX_PERIOD_DAYS, 'days'],
    ['Different states of the network in it', MAX_STATES, ''],
    ['Time that it is kept', RETENTION_YEARS, 'years'],
    ['Archives of evidence that are made at once; of one person two', MAX_EXPORTS, ''],
    ['Time that an archive takes at most', ARCHIVE_LIMITS.wholeMs / 60_000, 'minutes'],
    ['Time after which a client that takes nothing of it is cut off', ARCHIVE_LIMITS.stalledMs / 1_000, 'seconds'],
    ['Schedules of a workspace', FRAMEWORKS.length, ''],
    ['Points of a trend, the newest', MAX_POINTS, ''],
  ],
  'A review': [
    ['Items', MAX_ITEMS, ''],
    ['Items named in one decision', MAX_NAMED, ''],
    ['Note on one item', MAX_ITEM_NOTE, 'characters'],
    ['Entries of the audit log that one of activity covers', MAX_ENTRIES, ''],
    ['Time that it is kept once finished', RETENTION_YEARS, 'years'],
  ],
  'A webhook': [
    ['Webhooks of a workspace', MAX_WEBHOOKS, ''],
    ['Subscriptions', MAX_SUBSCRIPTIONS, ''],
    ['URL', MAX_URL, 'characters'],
    ['Deliveries that wait; later events wait in the audit log', MAX_WAITING, ''],
    ['Deliveries that are over and kept', MAX_ENDED, ''],
    ['Deliveries under way', FLIGHT_LIMITS.webhook, ''],
    ['Deliveries under way, of a workspace', FLIGHT_LIMITS.workspace, ''],
    ['Deliveries under way, of everyone', FLIGHT_LIMITS.total, ''],
    ['The same, where the next is the first one of its workspace', FLIGHT_LIMITS.withFirst, ''],
    ['Time of one attempt', SEND_LIMITS.totalMs / 1_000, 'seconds'],
    ['Of an answer that is read', SEND_LIMITS.responseBytes, 'bytes'],
  ],
  'A page of an answer': [
    ['Records (`limit`)', MAX_LIMIT, ''],
    ['JSON of the records; then `next_cursor` goes on', MAX_PAGE_CHARACTERS, 'characters'],
    ['Resources of a snapshot over MCP; then `next_cursor` goes on', SNAPSHOT_PAGE.mcp, 'characters'],
    ['A snapshot as an MCP resource', MAX_RESOURCE_CHARACTERS, 'characters'],
    ['Agents of a tree; then `omitted` counts the others', MAX_AGENTS, ''],
    ['Items of what a person would leave; then `omitted_left` counts the others', MAX_LEFTOVERS, ''],
    ['Workspaces of `get_me`; then `omitted_workspaces` counts the others', MAX_WORKSPACES, ''],
  ],
};

/**
 * What bounds each list and map of an answer that is no page, by its last field or by the operation and its place. A test
 * fails for a list that is neither here nor in a page.
 */
export const answers: Readonly<Record<string, string>> = {
  labels: 'labels of one record',
  deviceLabels: 'labels that one token grants',
  claims: 'claims that one join token names',
  points: 'the newest assessments of one framework',
  annotations: 'annotations of one record',
  scopes: 'scopes that there are',
  warnings: 'one for each check of a policy or a plan',
  call: 'the fields of the one request that waits',
  changes: 'changes of one commit or one plan',
  effect: 'rows of one effect; `omitted` counts the others',
  reach: 'rules of one agent',
  egress: 'rules of one agent',
  riskReasons: 'one for each rule of risk',
  risk_reasons: 'one for each rule of risk',
  unmet: 'expectations and checks of one plan',
  objections: 'expectations and checks of one plan',
  questions: 'questions of one plan',
  allowed: 'ranges of ports of one pair',
  changed_by: 'the resources that one commit changed',
  steps: 'stages of one question',
  blocked_by: 'policies about one pair',
  would_fix: 'changes for one pair',
  endedAgents: 'agents that end with the membership of one person',
  revoke_agent: 'one for each record that ends with the agent',
  get_audit_keys: 'one for each key there was',
  get_snapshot: 'the network as it was at one moment: over REST as it is read, over MCP in pages',
  groups: 'a page of groups, each with a bounded number of words; `next_cursor` goes on',
  controls: 'controls of one framework',
  controls_standing: 'controls of the frameworks',
  notes: 'sentences about one review, one for each way to tell of the whole',
  facts: 'fields of one item of a review',
  told: 'fields of one item of a review',
  may: 'scopes that there are',
  gaps: 'one for each way in which a period is not known',
  findings: 'what is found in the policies of one page',
  policies: 'policies that one finding is about',
  get_connectivity_matrix: 'groups up to a limit; `omitted_groups` counts the others',
  get_connectivity_summary: 'groups, cells and ranges of ports up to a limit; `omitted_…` counts the others',
  get_path_summary: 'groups, and counts between them, up to a limit; `omitted_paths` counts the others',
  get_connectivity_history: 'a page of intervals or of groups; `next_cursor` goes on',
  check_connectivity_at: 'a page of intervals or of groups; `next_cursor` goes on',
  events: 'subscriptions of one webhook',
  find_cause: 'a page of findings; `next_cursor` goes on',
  simulate_connectivity: 'rows and queries of one simulation',
  diff_snapshots: 'what differs between two moments of one network',
  list_audit: 'up to 50 changed fields of each record of one commit; one says how many more there are',
  list_changes: 'the records of one commit, and when the network changed: 2,000 instants',
  get_peer_access:
    'rows up to a limit in each direction, each with a bounded number of words; `omitted` counts the others',
  get_peer_paths: 'paths kept of one node',
  apply_resources: 'one for each document of the request, and for each record that it prunes',
  preview_resources: 'one for each document of the request, and for each record that it would prune',
  export_resources: 'the resources of the network at one moment: over REST as they are read, else in pages',
  get_own_graph: 'peers that one device has to do with, and the rules about them',
  get_agent: 'the custom resource of one agent',
  get_agent_tree: 'agents up to a limit; `omitted` counts the others',
  get_me: 'workspaces up to a limit; `omitted_workspaces` counts the others',
};
