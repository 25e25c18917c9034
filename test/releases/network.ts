import { setTimeout } from 'node:timers/promises';
import type { Api, ApiOptions } from '../kits/http/harness.ts';
import { enrol } from '../kits/plane/devices.ts';

/** The network that the fixture of a release holds, made through the API of that release. */

export interface Place {
  readonly token: string;
  readonly workspace: string;
}

const WEB_TO_DB = {
  action: 'ALLOW',
  peerSelector: { matchLabels: { role: 'db' } },
  ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports: [{ protocol: 'TCP', port: 5432 }] }],
};
const SHUT = { action: 'DENY', peerSelector: { matchLabels: { role: 'ci' } }, ingress: [{}] };
const INTENT = 'let the ci machines reach the database on port 5432';
const CI_TO_DB = {
  action: 'ALLOW',
  peerSelector: { matchLabels: { role: 'db' } },
  ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'ci' } } }], ports: [{ protocol: 'TCP', port: 5432 }] }],
};

/** Fills a new control plane. @returns where, instants between its changes, and the token of the device db-1 */
export async function fill(api: Api, token: string): Promise<{ place: Place; instants: string[]; device: string }> {
  const call = callOf(api);
  const { data } = await call('POST', '/api/v1/workspaces/add', {
    token,
    body: { slug: 'prod', namespace: 'prod', displayName: 'Production', maxNodeCount: 50 },
  });
  const place = { token, workspace: data.id as string };
  const write = (method: string, route: string, body?: unknown) =>
    call(method, route, { ...place, ...(body !== undefined && { body }) });
  const instants: string[] = [];
  const pause = async () => {
    await write('POST', `/api/v1/workspaces/${place.workspace}/snapshots`, {});
    await setTimeout(20);
    instants.push(new Date().toISOString());
    await setTimeout(20);
  };
  const joinToken = async (role: string, network: string) =>
    (await write('POST', '/api/v1/token/generate', { name: role, expiry: '', labels: { role }, network })).token;

  await write('POST', '/api/v1/networks', { name: 'lab', spec: { cidr: '10.97.0.0/24', defaultAction: 'DENY' } });
  const devices = new Map<string, string>();
  for (const [name, role, network] of PEERS) {
    const joined = await enrol({ api }, await joinToken(role, network), name);
    devices.set(name, joined.deviceToken);
  }
  await pause();
  await write('POST', '/api/v1/policies', { name: 'web-to-db', spec: WEB_TO_DB, labels: { team: 'shop' } });
  await write('POST', '/api/v1/policies', { name: 'shut', spec: SHUT });
  await pause();
  const brief = { name: 'brief', spec: { ...WEB_TO_DB, peerSelector: { matchLabels: { role: 'ci' } } }, ttl: '1s' };
  await write('POST', '/api/v1/policies', brief);
  await pause();
  for (const name of ['web-1', 'db-1']) {
    await call('POST', '/api/v1/devices/self/heartbeat', { token: devices.get(name) ?? '', body: {} });
  }
  await write('PATCH', '/api/v1/peers/web-2', { labels: { role: 'web', stage: 'canary' } });
  await write('PUT', '/api/v1/policies/shut', {
    spec: { ...SHUT, peerSelector: { matchLabels: { stage: 'canary' } } },
  });
  await pause();
  await write('DELETE', '/api/v1/peers/web-3');
  await write('POST', '/api/v1/peers/ci-2/revoke', {});
  await write('POST', '/api/v1/assertions', {
    name: 'web-keeps-db',
    spec: { src: 'role=web', dst: 'role=db', protocol: 'TCP', port: 5432, expect: 'reachable' },
  });
  // The policy that ends by itself has gone.
  await setTimeout(1_200);
  await pause();

  const scopes = ['network:read', 'intents:plan', 'intents:apply', 'agents:delegate'];
  const reach = [{ to: [{ peerSelector: { matchLabels: { role: 'db' } } }] }];
  const { token: agent } = await write('POST', '/api/v1/agents', { name: 'planner', scopes, ttl: '24h', reach });
  const asAgent = { ...place, token: agent as string };
  const child = { subAgentName: 'child', ttl: '1h', policyPreset: 'isolated', scopes: ['network:read'] };
  const delegated = await call('POST', '/api/v1/agents/self/delegate', { ...asAgent, body: child });
  await enrol({ api }, delegated.enrollmentToken, 'child', { platform: 'agent' });
  await write('PATCH', `/api/v1/workspaces/${place.workspace}`, { settings: { requireApproval: true } });
  for (const name of ['ci-to-db', 'ci-to-db-too']) {
    const changes = [{ action: 'create', resource: 'MeshPolicy', name, spec: CI_TO_DB }];
    const plan = await call('POST', '/api/v1/ai/intent/plan', { ...asAgent, body: { intent: INTENT, changes } });
    const body = { plan_id: plan.plan_id, approved_by: 'admin' };
    const { workflow_id: id } = await call('POST', '/api/v1/ai/intent/apply', { ...asAgent, body });
    if (name === 'ci-to-db') await write('POST', `/api/v1/workflows/${id}/approve`, { note: 'as agreed' });
  }
  await write('POST', '/api/v1/users', { username: 'vera', password: 'a fixture of tests alone' });
  await write('PUT', `/api/v1/workspaces/${place.workspace}/members/vera`, { role: 'viewer' });
  await write('POST', '/api/v1/users/me/api-tokens', { name: 'backup-script', scopes: ['network:read'] });
  await pause();
  return { place, instants, device: devices.get('db-1') ?? '' };
}

const PEERS = [
  ['web-1', 'web', 'default'],
  ['web-2', 'web', 'default'],
  ['web-3', 'web', 'default'],
  ['db-1', 'db', 'default'],
  ['ci-1', 'ci', 'default'],
  ['ci-2', 'ci', 'default'],
  ['lab-1', 'lab', 'lab'],
] as const;
const KEPT = ['web-1', 'web-2', 'db-1', 'ci-1', 'lab-1'];

/** What a control plane answers about that network now and in the past, by route. */
export async function ask(
  api: Api,
  place: Place,
  instants: readonly string[],
): Promise<Readonly<Record<string, unknown>>> {
  const call = callOf(api);
  const answers: Record<string, unknown> = {};
  const get = async (route: string) => {
    answers[route] = await call('GET', route, place);
    // biome-ignore lint/suspicious/noExplicitAny: each route has its own answer.
    return answers[route] as any;
  };
  const root = `/api/v1/workspaces/${place.workspace}`;
  for (const list of LISTS) await get(`/api/v1/${list}?limit=200`);
  await get(root);
  await get('/api/v1/users');
  await get(`${root}/members`);
  await get(`${root}/webhooks`);
  await get('/api/v1/agents/planner/tree');
  for (const { id } of (await get('/api/v1/workflows?limit=50')).items) await get(`/api/v1/workflows/${id}`);
  const { items } = await get(`${root}/snapshots?limit=50`);
  const ids: string[] = items.map(({ id }: { id: string }) => id);
  for (const id of ids) await get(`${root}/snapshots/${id}`);
  for (const [index, id] of ids.entries()) {
    if (index > 0) await get(`${root}/snapshots/diff?from=${id}&to=${ids[index - 1]}`);
  }
  await get('/api/v1/connectivity/matrix');
  for (const at of instants) await get(`/api/v1/connectivity/matrix?at=${at}`);
  for (const src of KEPT) {
    for (const dst of KEPT) {
      if (src === dst) continue;
      const pair = `src=${src}&dst=${dst}&protocol=TCP&port=5432`;
      await get(`/api/v1/connectivity/check?${pair}`);
      for (const at of instants.slice(0, 4)) await get(`/api/v1/connectivity/check-at?${pair}&at=${at}`);
    }
  }
  return answers;
}

const LISTS = ['peers', 'policies', 'networks', 'assertions', 'agents', 'tokens', 'users/me/api-tokens', 'audit'];

/** @throws Error with the whole answer where it is no success */
export function callOf(api: Api) {
  // biome-ignore lint/suspicious/noExplicitAny: each route has its own answer.
  return async (method: string, route: string, options: ApiOptions): Promise<any> => {
    const { status, text, body } = await api(method, route, options);
    if (status < 200 || status > 299) throw new Error(`${method} ${route} answered ${status}: ${text}`);
    return body;
  };
}
