import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { joinTokenFor, type Place, peerNames, register } from '../kits/http/joining.ts';
import { buildSettableClock } from '../kits/plane/settable-clock.ts';
import { verifies } from '../verifies.ts';

const HOUR_MS = 3_600_000;
const SOON = { timeout: 10_000 };

let harness: Harness;
let place: Place;
beforeAll(async () => {
  harness = await startHarness();
  place = await harness.workspace();
});
afterAll(() => harness[Symbol.asyncDispose]());

interface Agent {
  readonly id: string;
  readonly token: string;
}

async function rootAgent(name: string, fields: object = {}, at = harness, where = place): Promise<Agent> {
  const { body } = await at.api('POST', '/api/v1/agents', { ...where, body: { name, ...fields } });
  return { id: body.id, token: body.token };
}

const subAgent = (subAgentName: string, fields: object = {}) => ({
  subAgentName,
  ttl: '10m',
  policyPreset: 'sandboxed',
  ...fields,
});

const delegate = ({ id, token }: Agent, body: object, at = harness) =>
  at.api('POST', `/api/v1/agents/${id}/delegate`, { token, body });

const refusal = ({ status, body }: { status: number; body: { code: string } }) => [status, body.code];

async function agentNames(at = harness, where = place): Promise<string[]> {
  const { body } = await at.api('GET', '/api/v1/agents', where);
  const live = body.items.filter(({ phase }: { phase: string }) => phase === 'Active' || phase === 'Pending');
  return live.map(({ name }: { name: string }) => name);
}

test('a parent delegates with its own token; the sub-agent enrols itself with an identity that names the parent', async () => {
  verifies('delegate', 'delegate-answer', 'delegate-parent-ref', 'delegate-enrol', 'auth-sub-agent');
  verifies('crd-agent-identity', 'limit-delegated-life');
  const parent = await rootAgent('planner');
  const asked = Date.now();
  const { status, body } = await delegate(parent, subAgent('worker', { ttl: '90s' }));
  expect([status, body]).toEqual([
    200,
    {
      enrollmentToken: expect.stringMatching(/^mesh-dlg-[\w-]{43}-[\w-]{16}$/),
      expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      parentRef: { name: 'planner', namespace: 'prod' },
    },
  ]);
  const began = Date.parse(body.expiresAt) - 90_000;
  expect([began >= asked, began <= Date.now()]).toEqual([true, true]);

  const enrolled = await register(harness, body.enrollmentToken, 'worker', { platform: 'agent' });
  expect([enrolled.status, enrolled.body]).toMatchObject([
    201,
    { name: 'worker', phase: 'ready', agentToken: expect.stringMatching(/^mesh-agt-/), expiresAt: body.expiresAt },
  ]);
  const { items } = (await harness.api('GET', '/api/v1/agents', place)).body;
  expect(items.find(({ name }: { name: string }) => name === 'worker')).toMatchObject({
    parentRef: { name: 'planner', namespace: 'prod' },
    ttl: '90s',
    policyPreset: 'sandboxed',
    scopes: ['network:read'],
    phase: 'Active',
    depth: 1,
    peer: 'worker',
    expiresAt: body.expiresAt,
  });
  const peer = await harness.api('GET', '/api/v1/peers/worker', place);
  expect(peer.body).toMatchObject({ agent: 'worker', expiresAt: body.expiresAt });

  const second = await register(harness, body.enrollmentToken, 'second', { platform: 'agent' });
  expect(second.status).toBe(401);
});

test("only the parent's own token delegates for it", async () => {
  verifies('auth-delegation', 'delegate');
  const mine = await rootAgent('mine');
  const other = await rootAgent('other');
  const body = subAgent('nobody');
  const path = `/api/v1/agents/${mine.id}/delegate`;
  expect(refusal(await harness.api('POST', path, { body }))).toEqual([401, 'unauthenticated']);
  expect(refusal(await harness.api('POST', path, { ...place, body }))).toEqual([403, 'forbidden']);
  expect(refusal(await harness.api('POST', path, { token: other.token, body }))).toEqual([403, 'forbidden']);
  const joining = await joinTokenFor(harness, place);
  expect(refusal(await harness.api('POST', path, { token: joining, body }))).toEqual([403, 'forbidden']);
  expect(await agentNames()).not.toContain('nobody');
});

test.each([
  ['a scope that its parent lacks', { scopes: ['network:write'] }, 403],
  ['approval, which no agent has', { scopes: ['workflows:approve'] }, 403],
  ['a wider preset', { policyPreset: 'inherit' }, 403],
  ['a longer life', { ttl: '2h' }, 403],
  ['a ttl without a unit', { ttl: '60' }, 400],
  ['a ttl that is a number', { ttl: 60 }, 400],
  ['a ttl below one second', { ttl: '10ms' }, 400],
  ['no ttl', { ttl: undefined }, 400],
  ['an unknown preset', { policyPreset: 'root' }, 400],
  ['an unknown field', { admin: true }, 400],
])('a sub-agent with %s is refused, and nothing is written', async (what, fields, status) => {
  verifies('delegate-enrol');
  const name = `bounded-${what.replaceAll(/\W+/g, '-')}`.slice(0, 60);
  const parent = await rootAgent(name, { ttl: '1h', policyPreset: 'coordinator' });
  const { store } = harness.plane.services;
  const before = await store.revision(place.workspace);
  const answer = await delegate(parent, subAgent('child', fields));
  expect(answer.body).toMatchObject({ status, code: status === 403 ? 'forbidden' : 'invalid_input' });
  const since = await store.commits(place.workspace, before, 10);
  // Snapshots of what came before are taken when they are due.
  expect(since.filter(({ actor }) => !actor.startsWith('system:'))).toEqual([]);
});

test('a child cannot do what its parent cannot, nor delegate without having been given that', async () => {
  const parent = await rootAgent('reader', { scopes: ['network:read', 'agents:delegate'] });
  const { body } = await delegate(parent, subAgent('reading-child'));
  const enrolled = await register(harness, body.enrollmentToken, 'reading-child', { platform: 'agent' });
  const child = { token: enrolled.body.agentToken, workspace: place.workspace };
  expect((await harness.api('GET', '/api/v1/peers', child)).status).toBe(200);
  const refused: [method: string, path: string, body?: object][] = [
    ['POST', '/api/v1/policies', { name: 'open', spec: { action: 'ALLOW', peerSelector: {}, ingress: [{}] } }],
    ['POST', '/api/v1/token/generate', { name: 'more', expiry: '' }],
    ['POST', '/api/v1/agents', { name: 'free' }],
    ['POST', '/api/v1/agents/self/delegate', subAgent('grandchild')],
    ['PATCH', '/api/v1/peers/reading-child', { labels: { role: 'admin' } }],
    ['GET', '/api/v1/users'],
    ['GET', '/api/v1/audit'],
  ];
  for (const [method, path, sent] of refused) {
    const answer = await harness.api(method, path, { ...child, ...(sent && { body: sent }) });
    expect([path, ...refusal(answer)]).toEqual([path, 403, 'forbidden']);
  }
  const names = await peerNames(harness, place);
  expect(names).toContain('reading-child');
});

test('a sandboxed sub-agent reaches what it was granted inside what its parent may reach, and nothing else', async () => {
  const at = await startHarness();
  try {
    const where = await at.workspace();
    const join = await joinTokenFor(at, where, { labels: { role: 'db' } });
    await register(at, join, 'db');
    await register(at, await joinTokenFor(at, where), 'web');
    const to = [{ peerSelector: { matchLabels: { role: 'db' } } }];
    const egress = [{ to, ports: [{ protocol: 'TCP', port: 5432 }] }];
    const parent = await rootAgent('planner', { reach: egress }, at, where);
    const { body } = await delegate(parent, subAgent('worker', { egress }), at);
    await register(at, body.enrollmentToken, 'worker', { platform: 'agent' });
    const verdict = async (src: string, dst: string, port: number) => {
      const query = new URLSearchParams({ src, dst, port: String(port), protocol: 'TCP' });
      const answer = await at.api('GET', `/api/v1/connectivity/check?${query}`, where);
      return answer.body.verdict;
    };
    expect(await verdict('worker', 'db', 5432)).toBe('reachable');
    expect(await verdict('worker', 'db', 22)).toBe('unreachable');
    expect(await verdict('worker', 'web', 5432)).toBe('unreachable');
    expect(await verdict('db', 'worker', 22)).toBe('unreachable');
  } finally {
    await at[Symbol.asyncDispose]();
  }
});

test('a sub-agent whose time is over is gone from every list, and its tokens with it', async () => {
  verifies('delegate-ttl', 'limit-delegated-life');
  const clock = buildSettableClock();
  await using at = await startHarness({ clock });
  const where = await at.workspace();
  const parent = await rootAgent('quick', {}, at, where);
  const neighbour = await register(at, await joinTokenFor(at, where), 'neighbour');
  const { body } = await delegate(parent, subAgent('brief', { ttl: '1h', policyPreset: 'inherit' }), at);
  const enrolled = await register(at, body.enrollmentToken, 'brief', { platform: 'agent' });
  expect(enrolled.status).toBe(201);
  expect(await peerNames(at, where)).toContain('brief');
  expect(await agentNames(at, where)).toContain('brief');

  clock.pass(HOUR_MS);
  // A timer sleeps by real time; a write of its kind wakes it.
  await rootAgent('later', {}, at, where);
  await expect.poll(() => peerNames(at, where), SOON).not.toContain('brief');
  await expect.poll(() => agentNames(at, where), SOON).not.toContain('brief');
  expect((await at.api('GET', '/api/v1/peers/brief', where)).status).toBe(404);
  const graph = await at.api('GET', '/api/v1/devices/self/graph', { token: neighbour.body.deviceToken });
  expect(graph.body.peers.map(({ name }: { name: string }) => name)).not.toContain('brief');
  const { agents, peers, policies } = await at.plane.services.states.current(where.workspace);
  const left = [...peers.values()].filter(({ name }) => name === 'brief');
  const preset = [...policies.values()].filter(({ annotations }) => annotations['mesh.internal/identity'] === 'brief');
  expect([left, preset, agents.get('brief')?.status.phase ?? 'Expired']).toEqual([[], [], 'Expired']);
  for (const token of [enrolled.body.agentToken, enrolled.body.deviceToken, body.enrollmentToken]) {
    const answer = await at.api('GET', '/api/v1/peers', { token, workspace: where.workspace });
    expect(answer.status).toBe(401);
  }
});

test('a sub-agent whose time ends while the plane is down is gone on its return', async () => {
  verifies('delegate-ttl');
  const clock = buildSettableClock();
  await using first = await startHarness({ clock });
  const where = await first.workspace();
  const parent = await rootAgent('sleeper', {}, first, where);
  const { body } = await delegate(parent, subAgent('lost', { ttl: '1h' }), first);
  expect((await register(first, body.enrollmentToken, 'lost', { platform: 'agent' })).status).toBe(201);
  await first.stop();
  clock.pass(HOUR_MS);

  await using second = await startHarness({ clock, directory: first.directory });
  expect(await peerNames(second, where)).toEqual([]);
  const stored = async () => [...(await second.plane.services.states.current(where.workspace)).peers.keys()];
  await expect.poll(stored, SOON).toEqual([]);
  await expect.poll(() => agentNames(second, where), SOON).toEqual(['sleeper']);
});

test('revoking a parent ends its sub-agents and their peers at once', async () => {
  const parent = await rootAgent('boss');
  const { body } = await delegate(parent, subAgent('staff'));
  const enrolled = await register(harness, body.enrollmentToken, 'staff', { platform: 'agent' });
  const revoked = await harness.api('DELETE', `/api/v1/agents/${parent.id}`, place);
  expect(revoked).toMatchObject({ status: 200, body: { revoked: ['boss', 'staff'], peers: ['staff'] } });
  expect(await peerNames(harness, place)).not.toContain('staff');
  for (const token of [parent.token, enrolled.body.agentToken, enrolled.body.deviceToken])
    expect((await harness.api('GET', '/api/v1/devices/self', { token })).status).toBe(401);
});

test('no secret that was given out is in the log', () => {
  const log = harness.log.join('\n');
  expect([...harness.secrets].filter((secret) => log.includes(secret))).toEqual([]);
});
