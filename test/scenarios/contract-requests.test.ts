import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectMcp, ERAS } from '../kits/http/agent-client.ts';
import { callContractTool, sendRequest } from '../kits/http/contract-request.ts';
import { ADMIN_PASSWORD, startHarness } from '../kits/http/harness.ts';
import { apiToken, joinDevice } from '../kits/http/network-setup.ts';
import { planIdOf } from '../kits/http/plan-id.ts';
import { verifies } from '../verifies.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
const INTENT = 'let the web servers reach the database on port 5432 and nobody else';

const harness = await startHarness();
const { url } = harness;
afterAll(() => harness[Symbol.asyncDispose]());

/** As the contract sends it: a session of an account with two workspaces, so that nothing is known but what is sent. */
let token: string;
let workspace: string;
const bearer = (secret = token) => ({ Authorization: `Bearer ${secret}` });
const inWorkspace = () => ({ ...bearer(), 'X-Workspace-Id': workspace });
const addWorkspace = (slug: string) =>
  sendRequest(url, 'workspace-add', {
    headers: bearer(),
    body: { slug, namespace: `${slug}-ns`, displayName: slug, maxNodeCount: 10 },
  });

/** A life that ends as it should began between the request and now. */
function expectBegun(began: number, asked: number): void {
  expect([began >= asked, began <= Date.now()]).toEqual([true, true]);
}

beforeAll(async () => {
  const login = { username: 'admin', password: ADMIN_PASSWORD };
  ({ token } = (await sendRequest(url, 'login', { body: login })).body.data);
  workspace = (await addWorkspace('demo')).body.data.id;
  await addWorkspace('other');
  for (const [name, role] of [
    ['web-1', 'web'],
    ['db-1', 'db'],
    ['laptop', 'laptop'],
  ] as const)
    await joinDevice(harness, { token, workspace }, name, { role });
});

test('discovery answers 200 without a token and carries no credential', async () => {
  verifies('discovery', 'paths-prefixed');
  const { status, body } = await sendRequest(url, 'discovery', {});
  expect(status).toBe(200);
  expect(Object.keys(body).sort()).toEqual([
    'api',
    'controlKey',
    'controlKeyId',
    'edition',
    'name',
    'signalingUrl',
    'stunUrl',
    'version',
  ]);
});

test('a login answers a session token, with which a workspace is added and named by its id', async () => {
  verifies('login', 'auth-session', 'workspace-add', 'workspace-id', 'auth-workspace-header');
  expect(typeof token).toBe('string');
  const { status, body } = await addWorkspace('third');
  expect([status, body.data]).toMatchObject([
    200,
    { slug: 'third', namespace: 'third-ns', displayName: 'third', maxNodeCount: 10, id: expect.any(String) },
  ]);
  const headers = { ...bearer(), 'X-Workspace-Id': body.data.id };
  const made = await sendRequest(url, 'token-generate', { headers, body: { name: 'x', expiry: '' } });
  expect(made.status).toBe(200);
  const nowhere = await sendRequest(url, 'token-generate', {
    headers: { ...bearer(), 'X-Workspace-Id': 'w_none' },
    body: { name: 'x', expiry: '' },
  });
  expect(nowhere.status).toBe(404);
});

test('a join token is good for 7 days and 5 uses, and for others where that is said', async () => {
  verifies('token-generate', 'token-defaults', 'token-adjustable');
  const asked = Date.now();
  const { body } = await sendRequest(url, 'token-generate', {
    headers: inWorkspace(),
    body: { name: 'laptops', expiry: '' },
  });
  expect(body.token).toMatch(/^mesh-join-[\w-]{43}-[\w-]{16}$/);
  expect(body.usageLimit).toBe(5);
  expectBegun(Date.parse(body.expiresAt) - 7 * DAY_MS, asked);
  const day = await sendRequest(url, 'token-generate', {
    headers: inWorkspace(),
    body: { name: 'ci', expiry: '24h' },
  });
  expectBegun(Date.parse(day.body.expiresAt) - DAY_MS, asked);
  const fleet = { name: 'fleet', expiry: '', usageLimit: 40 };
  const many = await harness.api('POST', '/api/v1/token/generate', { token, workspace, body: fleet });
  expect(many.body.usageLimit).toBe(40);
});

test.each([
  ['sandboxed', '10m'],
  ['coordinator', '90m'],
])('an agent delegates with the preset %s and a ttl in minutes, by its token alone', async (policyPreset, ttl) => {
  verifies('delegate', 'delegate-answer', 'delegate-presets', 'delegate-ttl-minutes', 'delegate-expires-at');
  verifies('delegate-token-prefix', 'delegate-parent-ref');
  const parent = await harness.api('POST', '/api/v1/agents', {
    token,
    workspace,
    body: { name: `parent-${policyPreset}`, policyPreset: 'inherit' },
  });
  const asked = Date.now();
  const { status, body } = await sendRequest(url, 'delegate', {
    path: [parent.body.id],
    headers: bearer(parent.body.token),
    body: { subAgentName: `child-${policyPreset}`, ttl, policyPreset },
  });
  expect([status, body]).toEqual([
    200,
    {
      enrollmentToken: expect.stringMatching(/^mesh-dlg-/),
      expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/),
      parentRef: { name: `parent-${policyPreset}`, namespace: 'demo-ns' },
    },
  ]);
  expectBegun(Date.parse(body.expiresAt) - Number.parseInt(ttl, 10) * MINUTE_MS, asked);
});

test('snapshots are listed, read and compared by the workspace in the path alone', async () => {
  verifies(
    'snapshot-list',
    'snapshot-get',
    'snapshot-diff',
    'snapshot-fields',
    'snapshot-presence',
    'snapshot-captured-at',
  );
  const take = async (): Promise<string> =>
    (await harness.api('POST', `/api/v1/workspaces/${workspace}/snapshots`, { token, body: {} })).body.id;
  const before = Date.now();
  const from = await take();
  const policy = { name: 'base', spec: { action: 'DENY', peerSelector: { matchLabels: { role: 'db' } } } };
  await harness.api('POST', '/api/v1/policies', { token, workspace, body: policy });
  const to = await take();
  const list = await sendRequest(url, 'snapshot-list', { path: [workspace], headers: bearer() });
  const listed = list.body.items.map(({ id }: { id: string }) => id);
  expect([list.status, listed]).toEqual([200, expect.arrayContaining([from, to])]);
  const one = await sendRequest(url, 'snapshot-get', { path: [workspace, to], headers: bearer() });
  expect(one.status).toBe(200);
  for (const field of ['peers', 'policies', 'networks', 'presence', 'trigger_type', 'captured_at'])
    expect(Object.keys(one.body)).toContain(field);
  expect(one.body.presence).toEqual({ 'web-1': 'offline', 'db-1': 'offline', laptop: 'offline' });
  expect(Date.parse(one.body.captured_at)).toBeGreaterThanOrEqual(before - 1);
  const compared = await sendRequest(url, 'snapshot-diff', {
    path: [workspace],
    query: { from, to },
    headers: bearer(),
  });
  expect([compared.status, JSON.stringify(compared.body)]).toEqual([200, expect.stringContaining('"base"')]);
  await harness.api('DELETE', '/api/v1/policies/base', { token, workspace });
});

describe('an intent', () => {
  const plan = (dryRun: boolean) =>
    sendRequest(url, 'intent-plan', {
      headers: bearer(),
      body: { workspace_id: workspace, intent: INTENT, dry_run: dryRun },
    });
  const apply = (planId: string, approvedBy: string) =>
    sendRequest(url, 'intent-apply', { headers: bearer(), body: { plan_id: planId, approved_by: approvedBy } });
  const policies = async () => (await harness.api('GET', '/api/v1/policies', { token, workspace })).body.items;

  test('becomes a plan of YAML changes and executes nothing', async () => {
    verifies('intent-plan', 'intent-plan-fields', 'intent-change-fields', 'intent-nothing-executed', 'intent-yaml');
    const { status, body } = await plan(false);
    expect([status, body]).toMatchObject([
      200,
      {
        plan_id: expect.any(String),
        summary: expect.not.stringContaining('\n'),
        risk_level: expect.stringMatching(/^(low|medium|high|critical)$/),
        changes: [
          {
            action: 'create',
            resource: 'MeshPolicy',
            before: '',
            after: expect.stringMatching(/^apiVersion: \S+\/v1alpha1\nkind: MeshPolicy\n/),
          },
        ],
        expires_at: expect.stringMatching(/Z$/),
      },
    ]);
    expect(await policies()).toEqual([]);
  });

  test('is applied by the plan and the approver alone, and waits for approval', async () => {
    verifies('intent-apply', 'intent-workflow', 'intent-approver');
    const planId = planIdOf((await plan(false)).body);
    const { status, body } = await apply(planId, 'admin');
    expect([status, body]).toMatchObject([200, { workflow_id: expect.any(String), status: 'pending_approval' }]);
    expect(await policies()).toEqual([]);
    const workflow = await harness.api('GET', `/api/v1/workflows/${body.workflow_id}`, { token, workspace });
    expect(workflow.body).toMatchObject({ status: 'pending', approvalAskedOf: 'admin', reviewedBy: null });
  });

  test('is not applied where nobody of that name may approve, nor from a dry run', async () => {
    verifies('intent-apply', 'intent-approver');
    const planId = planIdOf((await plan(false)).body);
    expect((await apply(planId, 'nobody')).body).toMatchObject({
      status: 400,
      code: 'invalid_input',
      errors: [{ pointer: '/approved_by', detail: expect.stringContaining('such as admin') }],
    });
    const { body: dryRun } = await plan(true);
    expect(dryRun).toMatchObject({ dry_run: true, plan_id: expect.any(String) });
    expect((await apply(dryRun.plan_id, 'admin')).body).toMatchObject({ status: 409, code: 'dry_run' });
    expect((await apply(`plan_${'a'.repeat(26)}`, 'admin')).body).toMatchObject({ status: 404, code: 'not_found' });
  });

  test.each(ERAS)('is planned and applied over MCP (%j) with the arguments of the contract alone', async (era) => {
    verifies('mcp-plan', 'mcp-apply');
    const key = await apiToken(harness, { token, workspace });
    await using agent = await connectMcp(url, key, era);
    const planned = await callContractTool(agent.client, 'mcp-plan', { intent: INTENT });
    const planId = planIdOf(planned.structuredContent ?? planned);
    const applied = await callContractTool(agent.client, 'mcp-apply', { plan_id: planId });
    expect(applied.structuredContent).toMatchObject({ status: 'pending_approval' });
  });
});

test('a token of one context is refused in the others', async () => {
  verifies('auth-tokens-apart', 'auth-delegation');
  const headers = inWorkspace();
  const joining = (await sendRequest(url, 'token-generate', { headers, body: { name: 'x', expiry: '' } })).body.token;
  const body = { slug: 'stolen', namespace: 'stolen', displayName: 'x', maxNodeCount: 1 };
  const added = await sendRequest(url, 'workspace-add', { headers: bearer(joining), body });
  expect(added.status).toBe(403);
  const delegated = await sendRequest(url, 'delegate', {
    path: ['agt_none'],
    headers: bearer(),
    body: { subAgentName: 'x', ttl: '1m', policyPreset: 'sandboxed' },
  });
  expect([400, 403, 404]).toContain(delegated.status);
});
