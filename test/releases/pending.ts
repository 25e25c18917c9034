import type { Api } from '../kits/http/harness.ts';
import { enrol, freshKey } from '../kits/plane/devices.ts';
import { callOf, type Place } from './network.ts';

/** What a release leaves undecided and unspent: workflows that `bob` may approve, and credentials that are still good. */
export interface Pending {
  readonly workflows: readonly PendingWorkflow[];
  readonly joinTokens: {
    readonly fresh: string;
    /** Its one use is spent. */
    readonly usedUp: string;
    /** Has {@link TOKEN_LABELS}, and grants {@link ASKED_LABELS} to a device that asks for them. */
    readonly labeled: string;
  };
  /** Reads the network as `admin`. */
  readonly apiToken: string;
  /** Of the agent `operator`, which plans, writes, delegates and makes join tokens. */
  readonly agent: string;
  /** Of its sub-agent `helper`, which has joined. */
  readonly subAgent: string;
  /** Enrolls the sub-agent `later`, once. */
  readonly enrollment: string;
  readonly webhook: string;
}

interface PendingWorkflow {
  readonly id: string;
  /** What it changes. */
  readonly policy?: string;
  readonly deletedPeer?: string;
  /** A call with a secret answer, which is carried out when `operator` repeats it. */
  readonly repeated?: { readonly route: string; readonly body: object };
}

export const APPROVER = { username: 'bob', password: 'another fixture of tests alone' };
export const TOKEN_LABELS = { role: 'web', tier: 'front' };
export const ASKED_LABELS = { zone: 'east', disk: 'ssd' };
/** A device that awaits approval. */
export const PENDING_PEER = 'pending-1';

const JOIN_TOKENS = '/api/v1/token/generate';
const CARD = { 'compliance.scope': 'cde' };
const OPEN = { action: 'ALLOW', peerSelector: { matchLabels: CARD }, ingress: [{ from: ['*'] }] };
const DB_FROM = (role: string) => ({
  action: 'ALLOW',
  peerSelector: { matchLabels: { role: 'db' } },
  ingress: [{ from: [{ peerSelector: { matchLabels: { role } } }], ports: [{ protocol: 'TCP', port: 5432 }] }],
});

/** Adds them to the network that `fill` made. */
export async function leavePending(api: Api, place: Place): Promise<Pending> {
  const call = callOf(api);
  const write = (method: string, route: string, body?: unknown, token = place.token) =>
    call(method, route, { ...place, token, ...(body !== undefined && { body }) });
  const workspace = `/api/v1/workspaces/${place.workspace}`;

  const first = 'the first password of bob';
  await write('POST', '/api/v1/users', { ...APPROVER, password: first });
  const member = await write('PUT', `${workspace}/members/bob`, { role: 'operator' });
  if (member.workflow_id) await write('POST', `/api/v1/workflows/${held(member)}/approve`, {});
  const passwords = { oldPassword: first, newPassword: APPROVER.password };
  await write('PUT', '/api/v1/users/me/password', passwords, await logIn(api, { ...APPROVER, password: first }));
  const bob = await logIn(api, APPROVER);
  /** Makes a credential: bob approves where a person has to, and the call is repeated then. */
  const make = async (route: string, body: object) => {
    const answer = await write('POST', route, body);
    if (answer.token !== undefined) return answer;
    await write('POST', `/api/v1/workflows/${held(answer)}/approve`, {}, bob);
    return write('POST', route, body);
  };
  const joinToken = async (fields: object): Promise<string> =>
    (await make(JOIN_TOKENS, { expiry: '', network: 'default', ...fields })).token;
  const joinTokens = {
    fresh: await joinToken({ name: 'fresh', labels: { role: 'ci' }, usageLimit: 5 }),
    usedUp: await joinToken({ name: 'used-up', labels: CARD, usageLimit: 1 }),
    labeled: await joinToken({ name: 'labeled', labels: TOKEN_LABELS, deviceLabels: ['zone', 'disk=ssd'] }),
  };
  await enrol({ api }, joinTokens.usedUp, 'card-1');

  const { token: apiToken } = await make('/api/v1/users/me/api-tokens', {
    name: 'reader',
    scopes: ['network:read'],
  });
  const { id: webhook } = await write('POST', `${workspace}/webhooks`, {
    url: 'https://hooks.example.net/mesh',
    events: ['workflow.*'],
    enabled: false,
  });

  const scopes = ['network:read', 'network:write', 'tokens:write', 'intents:plan', 'intents:apply', 'agents:delegate'];
  const { token: agent } = await make('/api/v1/agents', { name: 'operator', scopes, ttl: '720h' });
  const delegate = async (subAgentName: string) => {
    const body = { subAgentName, ttl: '240h', policyPreset: 'isolated', scopes: ['network:read'] };
    return (await write('POST', '/api/v1/agents/self/delegate', body, agent)).enrollmentToken as string;
  };
  const helper = await enrol({ api }, await delegate('helper'), 'helper', {
    platform: 'agent',
    publicKey: freshKey().publicKey,
  });
  const enrollment = await delegate('later');

  const plan = async (token: string, name: string, spec: object) => {
    const changes = [{ action: 'create', resource: 'MeshPolicy', name, spec }];
    const planned = await write('POST', '/api/v1/ai/intent/plan', { intent: `create ${name}`, changes }, token);
    const body = { plan_id: planned.plan_id, approved_by: 'bob' };
    return held(await write('POST', '/api/v1/ai/intent/apply', body, token));
  };
  const workflows: PendingWorkflow[] = [
    { id: await plan(agent, 'lab-to-db', DB_FROM('lab')), policy: 'lab-to-db' },
    { id: await plan(place.token, 'web-to-db-too', DB_FROM('web')), policy: 'web-to-db-too' },
  ];
  const deletion = held(await write('DELETE', '/api/v1/peers/web-2', undefined, agent));
  workflows.push({ id: deletion, deletedPeer: 'web-2' });
  const repeated = { route: JOIN_TOKENS, body: { name: 'for-cards', expiry: '', labels: CARD, network: 'default' } };
  workflows.push({ id: held(await write('POST', repeated.route, repeated.body, agent)), repeated });
  await write('PATCH', workspace, { settings: { requirePeerApproval: true, compliance: { secondPerson: true } } });
  await enrol({ api }, joinTokens.fresh, PENDING_PEER);
  const opening = held(await write('POST', '/api/v1/policies', { name: 'open', spec: OPEN }));
  workflows.push({ id: opening, policy: 'open' });
  return {
    workflows,
    joinTokens,
    apiToken,
    agent,
    subAgent: helper.agentToken,
    enrollment,
    webhook,
  };
}

export async function logIn(api: Api, body: { readonly username: string; readonly password: string }): Promise<string> {
  return (await callOf(api)('POST', '/api/v1/users/login', { body })).data.token;
}

/** @returns the id of the workflow that a call waits in */
function held(answer: { readonly status?: string; readonly workflow_id?: string }): string {
  if (answer.status !== 'pending_approval' || answer.workflow_id === undefined) {
    throw new Error(`A person should have to approve first: ${JSON.stringify(answer)}`);
  }
  return answer.workflow_id;
}
