import { draftOf } from '../../../core/base/record.ts';
import type { PathReport } from '../../../core/model/reported-paths.ts';
import type { Services } from '../../../core/workflow/services.ts';
import { type Harness, startHarness } from '../http/harness.ts';
import { askToBeLetIn } from '../plane/client-request.ts';
import { enrol } from '../plane/devices.ts';
import { presence } from '../records/records.ts';
import { seedPeers } from '../records/seed-peers.ts';
import { type NetworkWords, PLAIN_WORDS } from './network-words.ts';
import { member, ownPassword, PASSWORD } from './page-people.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** When it is now in the network: always the same moment, so that what is seen is always the same. */
export const NOW = Date.parse('2026-03-12T09:30:00Z');
const OPS_SCOPES = ['network:read', 'snapshots:read', 'intents:plan', 'intents:apply', 'agents:delegate'];
/** Of each role in the workspace somebody, who signs in with `PASSWORD`. The platform's administrator is `admin`. */
export const PEOPLE = { vera: 'viewer', ayla: 'auditor', olga: 'operator', adam: 'admin' } as const;

export interface SeedOptions {
  /** The moment at which the history ends, in milliseconds since 1970; {@link NOW} by default. */
  readonly endsAt?: number;
  /** Where the control plane keeps its data; a temporary directory by default. */
  readonly directory?: string;
  /** Peers beside those that the pages name. */
  readonly workers?: number;
}

/**
 * A plane with twelve days behind it in which everything happened that a page tells of: devices, policies, a change of an
 * agent that was approved and others that wait, assessments that differ, a review, tokens, webhooks, people of every role.
 * Nothing in it depends on when it is made.
 */
export async function seededNetwork(
  words: NetworkWords = PLAIN_WORDS,
  { endsAt = NOW, directory, workers = 0 }: SeedOptions = {},
) {
  let now = endsAt - 12 * DAY_MS;
  const harness = await startHarness({ clock: { now: () => now }, ...(directory !== undefined && { directory }) });
  const at = (before: number) => {
    now = endsAt - before;
  };
  const { workspace } = await harness.workspace();
  await ownPassword(harness);
  const session = async (name = 'admin') => ({ token: await harness.login(name, PASSWORD), workspace });
  let admin = await session();
  const ask = (method: string, route: string, body?: unknown, as = admin) => answered(harness, method, route, as, body);

  await devices(harness, workspace, { ...peersOf(words), ...some(workers, 'worker') }, words);
  for (const policy of policiesOf(words)) await ask('POST', '/api/v1/policies', policy);
  await ask('POST', '/api/v1/networks', { name: words.network, spec: { cidr: '10.97.0.0/24' } });
  const always = { src: 'role=api', dst: 'role=db', port: 5432, expect: 'reachable' };
  await ask('POST', '/api/v1/assertions', { name: words.assertion, ...always });
  // Once others who approve have signed in, it would wait for one of them.
  await ask('PATCH', `/api/v1/workspaces/${workspace}`, { settings: { selfApproval: true } });
  for (const [name, role] of Object.entries(PEOPLE)) await member(harness, admin, name, role);
  await ask('PATCH', '/api/v1/users/olga', { displayName: words.person });

  at(9 * DAY_MS);
  admin = await session();
  await ask('PATCH', `/api/v1/workspaces/${workspace}`, { settings: { compliance: { cde: ['role=db'] } } });
  await assess(9);
  await ask('PUT', '/api/v1/ai/compliance/schedules/pci-dss', { cadence: 'weekly' });
  at(6 * DAY_MS);
  admin = await session();
  const opens = {
    action: 'ALLOW',
    peerSelector: { matchLabels: { role: 'db' } },
    ingress: [{ from: ['*'], ports: [{ port: 5432 }] }],
  };
  const annotations = { why: words.annotation };
  await ask('POST', '/api/v1/policies', { name: words.policies.open, annotations, spec: opens });
  const evidence = await assess(3);
  at(2 * DAY_MS);
  admin = await session();
  const review = await ask('POST', '/api/v1/ai/compliance/reviews', { kind: 'access' });
  const { items } = await ask('GET', `/api/v1/ai/compliance/reviews/${review.id}`);
  const decided = [{ item: items[0].id, verdict: 'flagged', note: words.reason, digest: items[0].digest }];
  await ask('POST', `/api/v1/ai/compliance/reviews/${review.id}/decisions`, { items: decided });

  at(11 * HOUR_MS);
  await ask('DELETE', `/api/v1/policies/${words.policies.open}`, {}, await session('olga'));
  at(3 * HOUR_MS);
  admin = await session();
  const settings = { requirePeerApproval: true };
  await ask('PATCH', `/api/v1/workspaces/${workspace}`, { displayName: words.workspace, settings });
  const agent = await agents();
  const done = await change('let role=ops reach role=db on port 5432');
  await ask('POST', `/api/v1/workflows/${done}/approve`, { note: words.note }, await session('olga'));
  at(2 * HOUR_MS);
  const refused = await change('let role=web reach role=db on port 22');
  await ask('POST', `/api/v1/workflows/${refused}/reject`, { note: words.reason }, await session('olga'));
  at(0);
  admin = await session();
  const waits = await change(words.intent, [{ action: 'create', resource: 'MeshPolicy', ...admits('db', 'ci', 5432) }]);
  await harness.api('POST', '/api/v1/ai/intent/plan', {
    ...agent,
    body: { workspace_id: workspace, intent: words.question },
  });
  await harness.api('GET', '/api/v1/peers?limit=3', agent);
  await harness.api('GET', `/api/v1/peers/${encodeURIComponent(words.lookedUp)}`, agent);
  const join = { name: words.joinToken, expiry: '24h', usageLimit: 5, labels: { role: 'laptop' } };
  const { token: invitation } = await ask('POST', '/api/v1/token/generate', join);
  await enrol(harness, invitation, words.peers.waiting, { hostname: words.peers.waiting });
  for (const name of ['admin', 'vera', 'olga'])
    await ask(
      'POST',
      '/api/v1/users/me/api-tokens',
      { name: words.apiToken, scopes: ['network:read'] },
      await session(name),
    );
  await online(harness, workspace, words);
  const hook = { ...words.webhook, events: ['workflow.*'] };
  const webhook = await ask('POST', `/api/v1/workspaces/${workspace}/webhooks`, hook);
  await ask('POST', `/api/v1/workspaces/${workspace}/webhooks/${webhook.id}/test`);
  const { items: entries } = await ask('GET', `/api/v1/audit?kind=MeshPolicy&name=${words.policies.open}&limit=1`);

  /** The ids that addresses of single pages hold. */
  const ids = {
    done,
    refused,
    waits,
    evidence: evidence.evidence_id as string,
    review: review.id as string,
    webhook: webhook.id as string,
    entry: String(entries[0].seq),
    clientRequest: await askToBeLetIn(harness.plane),
  };
  const peers = [...(await harness.plane.services.states.current(workspace)).peers.keys()];
  return { ...harness, words, workspace, ids, peers, session };

  async function assess(days: number) {
    const period = { period_start: new Date(now - days * DAY_MS).toISOString() };
    return ask('POST', '/api/v1/ai/compliance/assess', { framework: 'pci-dss', ...period });
  }

  async function agents() {
    const toWeb = { to: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports: [{ protocol: 'TCP', port: 443 }] };
    const root = { name: words.agents.first, ttl: '8h', scopes: OPS_SCOPES, reach: [toWeb] };
    const own = { token: (await ask('POST', '/api/v1/agents', root)).token as string, workspace };
    const below = { subAgentName: words.agents.below, ttl: '4h', policyPreset: 'sandboxed', egress: [toWeb] };
    const delegated = await ask('POST', '/api/v1/agents/self/delegate', { scopes: ['network:read'], ...below }, own);
    await enrol(harness, delegated.enrollmentToken, words.agents.below);
    return own;
  }

  /** What the agent asks for, as far as it waits for a person. */
  async function change(intent: string, changes?: readonly object[]): Promise<string> {
    const wanted = {
      workspace_id: workspace,
      intent,
      dry_run: false,
      ...(changes && { changes, expectations: EXPECTED }),
    };
    const plan = await ask('POST', '/api/v1/ai/intent/plan', wanted, agent);
    const applied = { plan_id: plan.plan_id, approved_by: 'olga' };
    return (await ask('POST', '/api/v1/ai/intent/apply', applied, agent)).workflow_id;
  }
}

export type SeededNetwork = Awaited<ReturnType<typeof seededNetwork>>;

/** Of the changes that the agent writes itself. */
const EXPECTED = [{ src: 'role=ci', dst: 'role=db', port: 5432, expect: 'allow' }];

type Session = { readonly token: string; readonly workspace: string };

// biome-ignore lint/suspicious/noExplicitAny: each call knows its answer.
async function answered(harness: Harness, method: string, route: string, as: Session, body?: unknown): Promise<any> {
  const answer = await harness.api(method, route, { ...as, ...(body !== undefined && { body }) });
  if (answer.status >= 300) throw new Error(`${method} ${route}: ${answer.text}`);
  return answer.body;
}

const role = (name: string) => ({ peerSelector: { matchLabels: { role: name } } });

const admits = (to: string, from: string, port: number, more: readonly object[] = []) => ({
  name: `${from}-to-${to}`,
  spec: {
    network: 'default',
    action: 'ALLOW',
    ...role(to),
    ingress: [{ from: [...more, role(from)], ports: [{ port }] }],
  },
});

function policiesOf({ policies, annotation }: NetworkWords) {
  return [
    {
      name: policies.closed,
      annotations: { why: annotation },
      spec: { action: 'ALLOW', peerSelector: {}, ingress: [] },
    },
    admits('web', 'laptop', 443, [{ ipBlock: { cidr: '203.0.113.0/24' } }]),
    admits('api', 'web', 8080),
    admits('db', 'api', 5432),
    admits('build', 'laptop', 22),
  ];
}

function peersOf({ peers, label, oldLabelValue }: NetworkWords): Record<string, Record<string, string>> {
  const [key, value] = label;
  return {
    ...some(4, 'web'),
    ...some(3, 'api'),
    ...some(2, 'db'),
    ...Object.fromEntries([
      ['ci-1', { role: 'ci', env: 'test' }],
      ['ops-1', { role: 'ops', [key]: value }],
      ['printer', { role: oldLabelValue }],
      [peers.build, { role: 'build' }],
      [peers.laptop, { role: 'laptop', [key]: value }],
    ]),
  };
}

function some(count: number, role: string): Record<string, Record<string, string>> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`${role}-${n + 1}`, { role, env: 'prod' }] as const),
  );
}

async function devices(
  harness: Harness,
  workspace: string,
  peers: ReturnType<typeof peersOf>,
  words: NetworkWords,
): Promise<void> {
  const { services } = harness.plane;
  await seedPeers(services, workspace, peers);
  const names = Object.keys(peers).filter((name) => !['ci-1', words.peers.build].includes(name));
  const ops = names.map((name) => ({ op: 'create' as const, record: draftOf(presence(name, true)) }));
  await services.store.commit(workspace, ops, { actor: 'system:test', reason: 'seed', requestId: 'seed' });
}

/** Devices that were heard of now, and by which paths they said they reach others. */
async function online(harness: Harness, workspace: string, { peers }: NetworkWords): Promise<void> {
  for (const { services } of harness.planes) await onlineIn(services, workspace, peers);
}

async function onlineIn(services: Services, workspace: string, peers: NetworkWords['peers']): Promise<void> {
  const state = await services.states.current(workspace);
  const uidOf = (name: string) => state.peers.get(name)?.uid ?? '';
  const silent = ['ci-1', peers.build];
  const heard = [...state.peers.keys()].filter((name) => !silent.includes(name));
  for (const name of heard) services.liveness.heard(workspace, uidOf(name), services.clock.now());
  const report = (peer: string, path: PathReport['path']): PathReport => ({
    peer: uidOf(peer),
    transport: path === 'direct' ? 'ice-ready' : path === 'relayed' ? 'lrp-ready' : 'failed',
    path,
    reason: path === 'direct' ? 'connected' : 'no-direct-path',
    since: new Date(services.clock.now() - HOUR_MS).toISOString(),
  });
  services.paths.report(workspace, uidOf('web-1'), [report('api-1', 'direct'), report('api-2', 'direct')]);
  services.paths.report(workspace, uidOf('api-1'), [report('db-1', 'relayed'), report('db-2', 'direct')]);
}
