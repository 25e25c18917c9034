import { afterAll, describe, expect, test } from 'vitest';
import { connectMcp, ERAS } from '../kits/http/agent-client.ts';
import { loginWithOwn, startHarness } from '../kits/http/harness.ts';
import { apiToken, webAndDatabase } from '../kits/http/network-setup.ts';
import { planIdOf } from '../kits/http/plan-id.ts';
import { buildSettableClock } from '../kits/plane/settable-clock.ts';
import { verifies } from '../verifies.ts';

const INTENT = 'let the web servers reach the database on port 5432 and nobody else';
const MINUTE_MS = 60_000;

const clock = buildSettableClock();
const harness = await startHarness({ clock });
afterAll(() => harness[Symbol.asyncDispose]());

let count = 0;
/** A network of its own, and the requests of the contract in it. */
async function setUp() {
  count += 1;
  const network = await webAndDatabase(harness, `intent-${count}`);
  const { token, workspace } = network;
  const as = (bearer: string) => ({
    plan: (intent = INTENT, more: object = {}) =>
      harness.api('POST', '/api/v1/ai/intent/plan', {
        token: bearer,
        body: { workspace_id: workspace, intent, dry_run: false, ...more },
      }),
    apply: (planId: string, more: object = { approved_by: 'admin' }) =>
      harness.api('POST', '/api/v1/ai/intent/apply', { token: bearer, body: { plan_id: planId, ...more } }),
    review: (workflow: string, verb: 'approve' | 'reject') =>
      harness.api('POST', `/api/v1/workflows/${workflow}/${verb}`, { token: bearer, workspace, body: {} }),
  });
  return { ...network, as, admin: as(token) };
}

describe('a plan', () => {
  test('carries the fields of the contract, CRD YAML and a Markdown diff, and executes nothing', async () => {
    verifies('intent-plan', 'intent-plan-fields', 'intent-yaml', 'intent-markdown');
    const { admin, token, workspace } = await setUp();
    const { status, body } = await admin.plan();
    expect(status).toBe(200);
    expect(body).toMatchObject({
      plan_id: expect.stringMatching(/^plan_/),
      summary: expect.any(String),
      risk_level: 'low',
      verified: true,
      changes: [{ action: 'create', resource: 'MeshPolicy', before: '' }],
    });
    expect(body.changes[0].after).toMatch(/^apiVersion: mesh.internal\/v1alpha1\nkind: MeshPolicy\n/);
    expect(body.diff_markdown).toContain('## Closes (1 pair, and 1 with addresses outside of the network)');
    expect(Date.parse(body.expires_at) - clock.now()).toBeLessThanOrEqual(10 * MINUTE_MS);
    const policies = await harness.api('GET', '/api/v1/policies', { token, workspace });
    expect(policies.body.items).toEqual([]);
  });

  test('of a dry run cannot be applied', async () => {
    const { admin } = await setUp();
    const { body: dryRun } = await admin.plan(INTENT, { dry_run: true });
    expect(dryRun).toMatchObject({ dry_run: true, plan_id: expect.any(String) });
    expect((await admin.apply(dryRun.plan_id)).body).toMatchObject({ status: 409, code: 'dry_run' });
  });

  test('is refused with what can be asked when its sentence is not understood', async () => {
    const { admin } = await setUp();
    const { status, body } = await admin.plan('make everything nice again');
    expect([status, body.code]).toEqual([422, 'intent_not_understood']);
    expect(body.detail.length).toBeGreaterThan(20);
  });

  test('is used once: applying it again is a conflict', async () => {
    verifies('intent-apply');
    const { admin, token, workspace } = await setUp();
    const { body: plan } = await admin.plan();
    const applied = await admin.apply(planIdOf(plan));
    expect(applied.status).toBe(200);
    expect(applied.body).toMatchObject({
      workflow_id: expect.stringMatching(/^wf_/),
      status: 'pending_approval',
      auto_approve: false,
    });
    expect((await admin.apply(planIdOf(plan))).body).toMatchObject({ status: 409, code: 'conflict' });
    const policies = await harness.api('GET', '/api/v1/policies', { token, workspace });
    expect(policies.body.items).toEqual([]);
  });

  test('needs the name of who is asked to approve over REST', async () => {
    const { admin } = await setUp();
    const { body: plan } = await admin.plan();
    const { body } = await admin.apply(planIdOf(plan), {});
    expect([body.code, body.errors[0].pointer]).toEqual(['invalid_input', '/approved_by']);
  });

  test('whose effect is no longer the one it showed is stale, and nothing is written', async () => {
    const { admin, token, workspace, peers } = await setUp();
    const { body: plan } = await admin.plan();
    const labels = { body: { labels: { role: 'web' } }, token, workspace };
    expect((await harness.api('PATCH', `/api/v1/peers/${peers.laptop.id}`, labels)).status).toBe(200);
    expect((await admin.apply(planIdOf(plan))).body).toMatchObject({ status: 409, code: 'plan_stale' });
    const workflows = await harness.api('GET', '/api/v1/workflows', { token, workspace });
    expect(workflows.body.items).toEqual([]);
  });

  test('that went stale while it waited fails at its approval', async () => {
    const { admin, token, workspace, peers } = await setUp();
    const { body: plan } = await admin.plan();
    const { body: applied } = await admin.apply(planIdOf(plan));
    await harness.api('PATCH', `/api/v1/peers/${peers.laptop.id}`, {
      token,
      workspace,
      body: { labels: { role: 'web' } },
    });
    const late = await admin.review(applied.workflow_id, 'approve');
    expect([late.status, late.body.code]).toEqual([409, 'plan_stale']);
    const { body } = await harness.api('GET', `/api/v1/workflows/${applied.workflow_id}`, { token, workspace });
    expect([body.status, body.resultRevision]).toEqual(['failed', null]);
    const policies = await harness.api('GET', '/api/v1/policies', { token, workspace });
    expect(policies.body.items).toEqual([]);
  });

  test('ends after ten minutes', async () => {
    const { admin } = await setUp();
    const { body: plan } = await admin.plan();
    clock.pass(11 * MINUTE_MS);
    expect((await admin.apply(planIdOf(plan))).body).toMatchObject({ status: 410, code: 'plan_expired' });
  });

  test('of another workspace is not there in the one that is named, nor for who is no member of its own', async () => {
    const { admin } = await setUp();
    const { body: plan } = await admin.plan();
    const { token, workspace } = await setUp();
    const apply = (call: object) =>
      harness.api('POST', '/api/v1/ai/intent/apply', {
        ...call,
        body: { plan_id: planIdOf(plan), approved_by: 'admin' },
      });
    const key = await apiToken(harness, { token, workspace });
    for (const call of [{ token, workspace }, { token: key }, { token: key, workspace }]) {
      expect((await apply(call)).body).toMatchObject({ status: 404, code: 'not_found' });
    }
  });
});

describe('approval', () => {
  test('is a signed-in person alone: no API token and no agent, and never over MCP', async () => {
    const { admin, as, token, workspace } = await setUp();
    const client = as(await apiToken(harness, { token, workspace }));
    const { body: plan } = await client.plan();
    const { body: applied } = await client.apply(planIdOf(plan));
    expect((await client.review(applied.workflow_id, 'approve')).status).toBe(403);

    const made = await harness.api('POST', '/api/v1/agents', { token, workspace, body: { name: 'planner' } });
    expect((await as(made.body.token).review(applied.workflow_id, 'approve')).status).toBe(403);
    const greedy = { name: 'greedy', scopes: ['workflows:approve'] };
    expect((await harness.api('POST', '/api/v1/agents', { token, workspace, body: greedy })).status).toBe(400);

    const approved = await admin.review(applied.workflow_id, 'approve');
    expect(approved.body).toMatchObject({ status: 'executed', reviewedBy: 'user:admin', auto_approve: false });
    expect((await admin.review(applied.workflow_id, 'approve')).status).toBe(409);
  });

  test.each(ERAS)('is not offered to an MCP client (%j), which is told where a person gives it', async (era) => {
    const { token, workspace } = await setUp();
    await using agent = await connectMcp(harness.url, token, era, workspace);
    const { tools } = await agent.client.listTools();
    expect(tools.map(({ name }) => name).filter((name) => /approve|reject/.test(name))).toEqual([]);
    const plan = await agent.use('plan_network_change', { intent: INTENT });
    const applied = await agent.use('apply_network_change', { plan_id: planIdOf(plan) });
    expect(applied).toMatchObject({ status: 'pending_approval', message: expect.stringContaining('A person has to') });
    await expect(agent.client.callTool({ name: 'approve_workflow', arguments: { id: 'x' } })).rejects.toThrow(
      'There is no tool approve_workflow',
    );
  });

  test('of an own request needs another person as soon as another approver has signed in', async () => {
    const { admin, as, token, workspace } = await setUp();
    const username = `second-${count}`;
    const password = 'another long password 7';
    const account = { username, password, role: 'user' };
    expect((await harness.api('POST', '/api/v1/users', { token, body: account })).status).toBe(201);
    const member = `/api/v1/workspaces/${workspace}/members/${username}`;
    expect((await harness.api('PUT', member, { token, body: { role: 'operator' } })).status).toBe(200);

    const second = as(await loginWithOwn(harness.api, username, password, 'chosen by the second 7'));

    const { body: plan } = await admin.plan();
    const { body: applied } = await admin.apply(planIdOf(plan), { approved_by: username });
    const own = await admin.review(applied.workflow_id, 'approve');
    expect([own.status, own.body.code]).toEqual([403, 'forbidden']);
    expect(own.body.detail).toContain('another person has to approve it');

    const approved = await second.review(applied.workflow_id, 'approve');
    expect(approved.body).toMatchObject({
      status: 'executed',
      requestedBy: 'user:admin',
      reviewedBy: `user:${username}`,
      selfApproved: false,
    });
  });

  test('can be refused, and then nothing changes', async () => {
    const { admin, token, workspace } = await setUp();
    const { body: plan } = await admin.plan();
    const { body: applied } = await admin.apply(planIdOf(plan));
    expect((await admin.review(applied.workflow_id, 'reject')).body).toMatchObject({ status: 'rejected' });
    expect((await admin.review(applied.workflow_id, 'approve')).status).toBe(409);
    const policies = await harness.api('GET', '/api/v1/policies', { token, workspace });
    expect(policies.body.items).toEqual([]);
  });
});
