import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import { fieldOf } from '../../core/base/operation.ts';
import { type Access, ROLE_SCOPES, type Role } from '../../core/base/scope.ts';
import { operations } from '../../tools/index.ts';
import { ADMIN_PASSWORD, type ApiAnswer, type Harness, loginWithOwn, startHarness } from '../kits/http/harness.ts';
import { joinTokenFor, type Place, register } from '../kits/http/joining.ts';
import { planIdOf } from '../kits/http/plan-id.ts';
import { type Input, type Operation, requestOf, sampleOf } from '../kits/http/sample-requests.ts';
import { verifies } from '../verifies.ts';

/** Every operation of a whole plane, called wrongly in every way that all of them share. Nothing is ever written. */

const PASSWORD = 'a long enough password';
const FIRST_PASSWORD = 'given by the admin 7';
const ROLES = Object.keys(ROLE_SCOPES) as Role[];

let harness: Harness;
let admin: Place;
let elsewhere: Place;
const sessions = new Map<Role, string>();
/** Tokens that callers of these kinds hold. */
const held = { device: '', enrolment: '', agent: '' };
const dead: [what: string, token: string][] = [
  ['a word', 'password'],
  ['an unknown API token', `mesh-api-${'A'.repeat(43)}`],
  ['an unknown agent token', `mesh-agt-${'A'.repeat(43)}`],
  [
    'a session that nobody signed',
    `${btoa('{"alg":"none"}')}.${btoa('{"sub":"admin","aud":"mesh"}')}.`.replaceAll('=', ''),
  ],
];

beforeAll(async () => {
  harness = await startHarness();
  admin = await harness.workspace('own');
  const other = { slug: 'other', namespace: 'other', displayName: 'Other', maxNodeCount: 10 };
  const { body } = await harness.api('POST', '/api/v1/workspaces/add', { ...admin, body: other });
  elsewhere = { ...admin, workspace: body.data.id };
  sessions.set('platform_admin', admin.token);
  for (const role of ROLES.filter((name) => name !== 'platform_admin')) {
    const account = { username: `the-${role}`, password: FIRST_PASSWORD };
    await harness.api('POST', '/api/v1/users', { ...admin, body: account });
    const path = `/api/v1/workspaces/${admin.workspace}/members/the-${role}`;
    await harness.api('PUT', path, { ...admin, body: { role } });
    sessions.set(role, await loginWithOwn(harness.api, account.username, FIRST_PASSWORD, PASSWORD));
  }
  held.enrolment = await joinTokenFor(harness, admin);
  held.device = (await register(harness, held.enrolment, 'device')).body.deviceToken;
  held.agent = (await harness.api('POST', '/api/v1/agents', { ...admin, body: { name: 'agent' } })).body.token;

  const leaving = await harness.login('the-viewer', PASSWORD);
  await harness.api('POST', '/api/v1/users/logout', { token: leaving });
  dead.push(['a session that was logged out', leaving]);
  const { body: ended } = await harness.api('POST', '/api/v1/agents', { ...admin, body: { name: 'ended' } });
  await harness.api('DELETE', `/api/v1/agents/${ended.id}`, admin);
  dead.push(['the token of a revoked agent', ended.token]);
  const { body: api } = await harness.api('POST', '/api/v1/users/me/api-tokens', { ...admin, body: { name: 'cli' } });
  await harness.api('DELETE', `/api/v1/users/me/api-tokens/${api.id}`, admin);
  dead.push(['a revoked API token', api.token]);
  harness.plane.services.store.onCommit(({ actor, reason }) => {
    if (!actor.startsWith('system:')) written.push(`${actor}: ${reason}`);
  });
});
afterAll(() => harness[Symbol.asyncDispose]());

/** Commits that a caller made; what the plane does by itself, such as a snapshot of the beginning, is none of them. */
const written: string[] = [];
beforeEach(() => {
  written.length = 0;
});
afterEach(() => {
  expect(written).toEqual([]);
});

/** The refusal, once it is what every refusal is: a problem with a string code and the status of the answer. */
function refusalOf({ status, headers, body }: ApiAnswer): string {
  expect(headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  expect(body).toMatchObject({
    status,
    code: expect.any(String),
    title: expect.any(String),
    detail: expect.any(String),
  });
  expect(body.detail).not.toMatch(/\bat .+:\d+:\d+|node_modules/);
  return `${status} ${body.code}`;
}

interface Change {
  readonly token?: string | undefined;
  readonly workspace?: string;
  readonly body?: string;
  readonly type?: string;
}

async function call(operation: Operation, input: Input, change: Change = {}): Promise<ApiAnswer> {
  const { token, workspace = admin.workspace, body, type } = change;
  const [path, init] = requestOf(operation, input, workspace);
  const sent = body ?? (init.body as string | undefined);
  return harness.api(init.method ?? 'GET', path, {
    workspace,
    ...(token !== undefined && { token }),
    ...(sent !== undefined && { body: sent }),
    ...(type !== undefined && { headers: { 'content-type': type } }),
  });
}

/** The token of a caller that may use the operation. */
function tokenFor({ access }: Operation): string | undefined {
  if (access === 'public') return undefined;
  if (access === 'device' || access === 'enrolment' || access === 'agent') return held[access];
  return access === 'agents:delegate' ? held.agent : admin.token;
}

function mayUse(role: Role, access: Access): boolean {
  if (access === 'public' || access === 'authenticated' || access === 'person') return true;
  return ROLE_SCOPES[role].has(access as never);
}

const cases = operations.map((operation) => [operation.name, operation] as const);
const guarded = cases.filter(([, { access }]) => access !== 'public');
const scoped = guarded.filter(([, { workspace }]) => workspace === 'scoped');
const withBody = cases.filter(([, { http }]) => http.method !== 'get');
const wrong = { surely_unknown: 1 };

describe('every operation', () => {
  test.each(guarded)('%s refuses every token that is none', async (_name, operation) => {
    verifies('auth-session');
    expect(refusalOf(await call(operation, sampleOf(operation)))).toBe('401 unauthenticated');
    for (const [what, token] of dead) {
      const refused = refusalOf(await call(operation, sampleOf(operation), { token }));
      expect([what, refused]).toEqual([what, '401 unauthenticated']);
    }
  });

  test.each(guarded)('%s serves the roles that hold its scope and no other', async (_name, operation) => {
    for (const role of ROLES) {
      const token = sessions.get(role);
      const refused = refusalOf(await call(operation, { ...sampleOf(operation), ...wrong }, { token }));
      expect([role, refused]).toEqual([role, mayUse(role, operation.access) ? '400 invalid_input' : '403 forbidden']);
    }
  });

  test.each(scoped)('%s does not find a workspace of others', async (_name, operation) => {
    verifies('auth-workspace-header');
    for (const token of [sessions.get('admin'), held.agent, held.device, held.enrolment]) {
      for (const workspace of [elsewhere.workspace, 'other', 'w_unknown', SYSTEM_WORKSPACE]) {
        const refused = refusalOf(await call(operation, sampleOf(operation), { token, workspace }));
        expect([workspace, refused]).toEqual([workspace, '404 not_found']);
      }
    }
  });

  test.each(cases)('%s names a field of the wrong type, and one that is unknown', async (_name, operation) => {
    const token = tokenFor(operation);
    const answer = await call(operation, { ...sampleOf(operation), ...wrong }, { token });
    expect(refusalOf(answer)).toBe('400 invalid_input');
    expect(answer.body.errors).toContainEqual({
      pointer: '/surely_unknown',
      detail: expect.stringMatching(/^There is no such field; there (is|are) .+\.$/),
    });
    for (const [field, value] of mistyped(operation)) {
      const refused = await call(operation, { ...sampleOf(operation), [field]: value }, { token });
      expect([field, refusalOf(refused)]).toEqual([field, '400 invalid_input']);
      const pointers = refused.body.errors.map(({ pointer }: { pointer: string }) => pointer.split('/')[1]);
      expect(pointers).toContain(field);
    }
  });

  test.each(withBody)('%s refuses a body that is broken, too large or of another type', async (_name, operation) => {
    const token = tokenFor(operation);
    const send = async (change: Change) => refusalOf(await call(operation, sampleOf(operation), { token, ...change }));
    expect(await send({ body: '{"name": "cut o' })).toBe('400 invalid_input');
    expect(await send({ body: '["a list"]' })).toBe('400 invalid_input');
    expect(await send({ body: 'null' })).toBe('400 invalid_input');
    expect(await send({ body: '{"__proto__": {"role": "admin"}}' })).toBe('400 invalid_input');
    expect(await send({ body: JSON.stringify({ name: 'x'.repeat(1_048_577) }) })).toBe('413 payload_too_large');
    expect(await send({ body: '<name>x</name>', type: 'application/xml' })).toBe('415 unsupported_media_type');
  });
});

describe('ids of another workspace', () => {
  const foreign: Record<string, string> = {};
  beforeAll(async () => {
    const { api } = harness;
    const token = await joinTokenFor(harness, elsewhere);
    foreign['peers'] = (await register(harness, token, 'theirs')).body.id;
    const rule = { name: 'theirs', spec: { action: 'DENY', peerSelector: {}, ingress: [{}] } };
    foreign['policies'] = (await api('POST', '/api/v1/policies', { ...elsewhere, body: rule })).body.id;
    const network = { name: 'theirs', spec: { cidr: '10.99.0.0/24' } };
    foreign['networks'] = (await api('POST', '/api/v1/networks', { ...elsewhere, body: network })).body.id;
    const assertion = { name: 'theirs', src: 'role=none', dst: '*', expect: 'unreachable' };
    foreign['assertions'] = (await api('POST', '/api/v1/assertions', { ...elsewhere, body: assertion })).body.id;
    foreign['agents'] = (await api('POST', '/api/v1/agents', { ...elsewhere, body: { name: 'theirs' } })).body.id;
    foreign['tokens'] = (await api('GET', '/api/v1/tokens', elsewhere)).body.items[0].id;
    const path = `/api/v1/workspaces/${elsewhere.workspace}/snapshots`;
    foreign['snapshots'] = (await api('POST', path, { ...elsewhere, body: {} })).body.id;
    const plan = { changes: [{ action: 'delete', resource: 'MeshPolicy', name: 'theirs' }], intent: 'delete it' };
    const planned = await api('POST', '/api/v1/ai/intent/plan', { ...elsewhere, body: plan });
    const apply = { plan_id: planIdOf(planned.body), approved_by: 'admin' };
    const applied = await api('POST', '/api/v1/ai/intent/apply', { ...elsewhere, body: apply });
    foreign['workflows'] = applied.body.workflow_id;
    const asked = { framework: 'soc2', period_start: new Date(Date.now() - 1_000).toISOString() };
    const assessed = await api('POST', '/api/v1/ai/compliance/assess', { ...elsewhere, body: asked });
    foreign['assessments'] = assessed.body.evidence_id;
    const review = { ...elsewhere, body: { kind: 'access' } };
    foreign['reviews'] = (await api('POST', '/api/v1/ai/compliance/reviews', review)).body.id;
    const webhook = { ...elsewhere, body: { url: 'https://hooks.example.com/mesh', events: ['*'] } };
    foreign['webhooks'] = (await api('POST', `/api/v1/workspaces/${elsewhere.workspace}/webhooks`, webhook)).body.id;
  });

  // The request of a client is in no workspace until a person chooses one.
  const byId = scoped.filter(
    ([, { http, access }]) =>
      /:(id|snapshotId)\b/.test(http.path) && access !== 'person' && !http.path.startsWith('/api/v1/oauth/requests/'),
  );
  const specs: Record<string, object> = {
    policies: { spec: { action: 'DENY', peerSelector: {}, ingress: [{}] } },
    networks: { spec: { cidr: '10.99.0.0/24' } },
    assertions: { src: '*', dst: 'role=none', expect: 'unreachable' },
  };

  test.each(byId)('%s does not find a record of another workspace', async (name, operation) => {
    const kind = /\/(\w+)\/:(?:id|snapshotId)/.exec(operation.http.path)?.[1] ?? '';
    const id = foreign[kind];
    expect([kind, typeof id]).toEqual([kind, 'string']);
    const param = operation.http.path.includes(':snapshotId') ? 'snapshot_id' : 'id';
    const more = operation.http.method === 'put' ? specs[kind] : {};
    const input = { ...sampleOf(operation), ...more, [param]: id };
    const delegation = name === 'delegate_agent' ? { ttl: '1m', policyPreset: 'isolated' } : {};
    const decision = name === 'decide_review_items' ? { confirm_rest: true } : {};
    const answer = await call(operation, { ...input, ...delegation, ...decision }, { token: tokenFor(operation) });
    expect(refusalOf(answer)).toBe(name === 'delegate_agent' ? '403 forbidden' : '404 not_found');
  });
});

test('what was refused left no secret in the log', () => {
  const log = harness.log.join('\n');
  const known = [...harness.secrets, ...dead.map(([, token]) => token), PASSWORD, FIRST_PASSWORD, ADMIN_PASSWORD];
  expect(known.filter((secret) => secret !== 'password' && log.includes(secret))).toEqual([]);
});

/** Values that no field of this name takes, as far as its schema says a type. */
function mistyped(operation: Operation): [field: string, value: unknown][] {
  const { input, http } = operation;
  const schema = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
  const inPath = new Set([...http.path.matchAll(/:(\w+)/g)].map(([, name = '']) => fieldOf(operation, name)));
  return Object.entries(schema.properties ?? {}).flatMap(([field, property]): [string, unknown][] => {
    // Text is what a URL holds; there a field of text cannot have the wrong type.
    const text = http.method === 'get' || inPath.has(field);
    // The token of an enrolment comes from the header as well, which wins.
    if (typeof property === 'boolean' || field === 'token') return [];
    if (text) return property.type === 'integer' || property.type === 'number' ? [[field, 'many']] : [];
    if (property.type === undefined) return [];
    return [[field, property.type === 'object' ? 'text' : { nested: [1] }]];
  });
}
