import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { connectMcp } from '../kits/http/agent-client.ts';
import { ADMIN_PASSWORD, startHarness } from '../kits/http/harness.ts';
import { apiToken, webAndDatabase } from '../kits/http/network-setup.ts';
import { planIdOf } from '../kits/http/plan-id.ts';
import { mesh } from '../kits/process/run-command.ts';

/** What the loop proves, standing assertions, and undo: over REST, MCP and the command line. */
const harness = await startHarness();
afterAll(() => harness[Symbol.asyncDispose]());

const ONLY_WEB = 'let the web servers reach the database on port 5432 and nobody else';
const WEB_TO_DB = { src: 'role=web', dst: 'role=db', protocol: 'TCP', port: 5432 };
const denyAll = { action: 'create', resource: 'MeshPolicy', name: 'base', spec: { action: 'DENY', peerSelector: {} } };

let count = 0;
async function setUp() {
  count += 1;
  const network = await webAndDatabase(harness, `proof-${count}`);
  const { token, workspace } = network;
  const call = (method: string, route: string, body?: unknown, bearer = token) =>
    harness.api(method, `/api/v1${route}`, { token: bearer, workspace, ...(body !== undefined && { body }) });
  const execute = async (planId: string) => {
    const { body } = await call('POST', '/ai/intent/apply', { plan_id: planId, approved_by: 'admin' });
    return (await call('POST', `/workflows/${body.workflow_id}/approve`, {})).body;
  };
  return {
    ...network,
    call,
    execute,
    plan: async (intent: string, more: object = {}) =>
      (await call('POST', '/ai/intent/plan', { intent, ...more })).body,
    revert: (target: object = {}) => call('POST', '/ai/intent/revert', target),
    policies: async () =>
      (await call('GET', '/policies')).body.items.map(({ name, spec }: { name: string; spec: object }) => [name, spec]),
    mcp: async () => connectMcp(harness.url, await apiToken(harness, { token, workspace }), 'legacy', workspace),
  };
}

describe('a plan of typed changes', () => {
  test('is not checked without anything to hold it against, and goes before a person all the same', async () => {
    const { mcp, call } = await setUp();
    await using agent = await mcp();
    const plan = await agent.use('plan_network_change', { intent: 'start from nothing', changes: [denyAll] });
    expect(plan).toMatchObject({
      verified: false,
      check: 'not checked',
    });
    const applied = await agent.use('apply_network_change', { plan_id: planIdOf(plan) });
    expect(applied).toMatchObject({ status: 'pending_approval', auto_approve: false });
    const workflow = await call('POST', `/workflows/${applied['workflow_id']}/approve`, {});
    expect(workflow.body.status).toBe('executed');
  });

  test('whose expectations do not hold is applied by nobody without intents:override', async () => {
    const { mcp, call } = await setUp();
    await using agent = await mcp();
    const plan = await agent.use('plan_network_change', {
      intent: 'start from nothing',
      changes: [denyAll],
      expectations: [{ ...WEB_TO_DB, expect: 'allow' }],
    });
    expect(plan).toMatchObject({
      verified: false,
      check: 'not checked',
      expectations_hold: false,
      unmet: expect.arrayContaining([
        'Your expectations: web-1 cannot reach db-1 on TCP 5432; web-2 cannot reach db-1 on TCP 5432',
        expect.stringContaining('it would close'),
      ]),
    });
    const refused = await agent.use('apply_network_change', { plan_id: planIdOf(plan) });
    expect(refused).toMatchObject({ status: 403, code: 'forbidden', scope: 'intents:override' });
    const applied = await call('POST', '/ai/intent/apply', { plan_id: planIdOf(plan), approved_by: 'admin' });
    const workflow = await call('GET', `/workflows/${applied.body.workflow_id}`);
    expect(workflow.body).toMatchObject({ status: 'pending', overridden: true });
  });
});

describe('a standing assertion', () => {
  test('stops the write, the plan and the workflow that would break it, and names why', async () => {
    const { call, plan, execute, mcp } = await setUp();
    const waiting = await plan('isolate db-1');
    const { body: queued } = await call('POST', '/ai/intent/apply', {
      plan_id: planIdOf(waiting),
      approved_by: 'admin',
    });
    const made = await call('POST', '/assertions', { name: 'web-to-db', ...WEB_TO_DB, expect: 'reachable' });
    expect([made.status, made.body.status]).toEqual([201, { holds: true, detail: null }]);

    const refused = await call('POST', '/policies', { name: 'base', spec: denyAll.spec });
    expect(refused.body).toMatchObject({
      status: 422,
      code: 'policy_assertion_failed',
      failed: 1,
      failures: [{ name: 'web-to-db', from: 'web-1', to: 'db-1', pairs: 2, policy: 'base' }],
    });
    await using agent = await mcp();
    const shown = await agent.use('plan_network_change', { intent: 'isolate db-1' });
    expect(shown).toMatchObject({
      verified: false,
      check: 'matches',
      unmet: [expect.stringContaining('The assertion web-to-db would fail: role=web must reach role=db on TCP 5432')],
    });
    const applied = await agent.use('apply_network_change', { plan_id: planIdOf(shown) });
    expect(applied).toMatchObject({ status: 422, code: 'policy_assertion_failed' });
    const workflow = await call('POST', `/workflows/${queued.workflow_id}/approve`, {});
    expect(workflow.body).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('policy_assertion_failed'),
    });

    const harmless = await plan('isolate laptop');
    expect(harmless).toMatchObject({ verified: true });
    expect((await execute(planIdOf(harmless))).status).toBe('executed');
  });

  test('is listed, read, replaced and deleted; as YAML too, and from the command line', async () => {
    const { call, workspace } = await setUp();
    const manifest = `apiVersion: mesh.internal/v1alpha1
kind: PolicyAssertion
metadata: { name: open }
spec: { src: role=web, dst: role=db, port: 5432, expect: reachable }
`;
    const made = await call('POST', '/assertions', { manifest });
    expect(made.body).toMatchObject({ name: 'open', spec: { ...WEB_TO_DB, expect: 'reachable' } });
    const replaced = await call('PUT', '/assertions/open', { src: 'laptop', dst: 'db-1', expect: 'reachable' });
    expect(replaced.body).toMatchObject({ id: made.body.id, generation: 2, spec: { src: 'laptop' } });
    const wrong = await call('PUT', '/assertions/open', { src: 'laptop', dst: 'db-1', expect: 'unreachable' });
    expect(wrong.body).toMatchObject({ code: 'policy_assertion_failed', failures: [{ from: 'laptop', to: 'db-1' }] });

    const home = mkdtempSync(path.join(tmpdir(), 'mesh-home-'));
    try {
      await mesh(['login', '--server', harness.url], { home, env: { MESH_PASSWORD: ADMIN_PASSWORD } });
      const listed = await mesh(['admin', 'list-assertions', '--workspace', workspace, '--json'], { home });
      expect(JSON.parse(listed.stdout).items).toMatchObject([{ name: 'open', status: { holds: true } }]);
    } finally {
      rmSync(home, { recursive: true });
    }
    expect((await call('DELETE', '/assertions/open')).body).toEqual({ deleted: 'open' });
    expect((await call('GET', '/assertions/open')).status).toBe(404);
  });

  test('is in the audit log and in the difference of two snapshots', async () => {
    const { call, workspace } = await setUp();
    const take = async () => (await call('POST', `/workspaces/${workspace}/snapshots`, {})).body.id;
    const before = await take();
    await call('POST', '/assertions', { name: 'open', ...WEB_TO_DB, expect: 'reachable' });
    const { body } = await call('GET', `/workspaces/${workspace}/snapshots/diff?from=${before}&to=${await take()}`);
    expect(body.added).toEqual([{ kind: 'PolicyAssertion', name: 'open' }]);
    const audit = await call('GET', '/audit?kind=PolicyAssertion');
    expect(audit.body.items).toMatchObject([{ actor: 'user:admin' }]);
  });
});

describe('undo', () => {
  test('brings back what a workflow changed, through proof and approval, and undoing that does it again', async () => {
    const { plan, execute, revert, policies } = await setUp();
    const done = await execute(planIdOf(await plan(ONLY_WEB)));
    const first = await policies();
    const { body: undo } = await revert({ workflow_id: done.id });
    expect(undo).toMatchObject({
      verified: true,
      read_by: 'person',
      reading: expect.stringContaining(`Undo workflow ${done.id}`),
      summary: expect.stringMatching(/^Opens TCP 5432 from outside to db-1, and TCP 5432 from laptop to db-1;/),
      changes: [{ action: 'delete', resource: 'MeshPolicy', name: 'only-to-db', after: '' }],
      effect: { opened_pairs: 1, closed_pairs: 0 },
    });
    const undone = await execute(planIdOf(undo));
    expect([undone.status, undone.reviewedBy, await policies()]).toEqual(['executed', 'user:admin', []]);
    const { body: redo } = await revert();
    expect(redo).toMatchObject({ verified: true, effect: { opened_pairs: 0, closed_pairs: 1 } });
    await execute(planIdOf(redo));
    expect(await policies()).toEqual(first);
  });

  test('goes back to a revision or a snapshot with policies, labels and networks, and names what it takes back', async () => {
    const { call, revert, execute, policies, workspace, peers } = await setUp();
    await call('POST', '/policies', { name: 'base', spec: denyAll.spec });
    const snapshot = (await call('POST', `/workspaces/${workspace}/snapshots`, {})).body.id;
    const then = await policies();
    await call('PUT', '/policies/base', { spec: { action: 'DENY', peerSelector: { matchLabels: { role: 'db' } } } });
    await call('POST', '/policies', { name: 'late', spec: denyAll.spec });
    await call('PATCH', `/peers/${peers.laptop.id}`, { labels: { role: 'web' } });
    await call('POST', '/networks', { name: 'lab', spec: { cidr: '10.97.0.0/24', defaultAction: 'DENY' } });
    const { body: plan } = await revert({ snapshot_id: snapshot });
    expect(plan.verified).toBe(true);
    expect(plan.changes.map(({ action, name }: { action: string; name: string }) => `${action} ${name}`)).toEqual([
      'delete lab',
      'update laptop',
      'update base',
      'delete late',
    ]);
    expect(plan.warnings[0]).toMatch(/^Takes back revision \d+ of user:admin: created network lab/);
    expect((await execute(planIdOf(plan))).status).toBe('executed');
    expect(await policies()).toEqual(then);
    expect((await call('GET', '/peers/laptop')).body.labels).toEqual({});
    expect((await call('GET', '/networks/lab')).status).toBe(404);
  });

  test('of a workflow whose records others changed since is a conflict that names them', async () => {
    const { plan, execute, revert, call } = await setUp();
    const done = await execute(planIdOf(await plan(ONLY_WEB)));
    await call('PUT', '/policies/only-to-db', { spec: denyAll.spec });
    const { body } = await revert({ workflow_id: done.id });
    expect(body).toMatchObject({
      status: 409,
      code: 'conflict',
      conflicts: [{ resource: 'MeshPolicy', name: 'only-to-db', actor: 'user:admin', workflow_id: null }],
    });
    expect((await revert({ revision: done.resultRevision - 1 })).body).toMatchObject({ verified: true });
  });

  test('is an input of the planning tool over MCP, and refuses what is no past of this workspace', async () => {
    const { plan, execute, mcp } = await setUp();
    await using agent = await mcp();
    const undo = (revert: string) => agent.use('plan_network_change', { intent: 'undo', revert });
    expect(await undo('last')).toMatchObject({ status: 404, code: 'not_found' });
    await execute(planIdOf(await plan(ONLY_WEB)));
    expect(await undo('last')).toMatchObject({ verified: true, effect: { opened_pairs: 1 } });
    expect(await undo('wf_unknown')).toMatchObject({ code: 'not_found' });
    expect(await undo('999999')).toMatchObject({ code: 'not_found' });
    expect(await undo('yesterday')).toMatchObject({ code: 'invalid_input' });
  });

  test('is checked like any plan: an assertion of today stops it', async () => {
    const { call, plan, execute, revert } = await setUp();
    await execute(planIdOf(await plan(ONLY_WEB)));
    await call('POST', '/assertions', {
      name: 'no-laptop',
      src: 'laptop',
      dst: 'role=db',
      protocol: 'TCP',
      port: 5432,
      expect: 'unreachable',
    });
    const { body } = await revert();
    expect(body).toMatchObject({
      verified: false,
      unmet: [expect.stringContaining('The assertion no-laptop would fail')],
    });
    const applied = await call('POST', '/ai/intent/apply', { plan_id: planIdOf(body), approved_by: 'admin' });
    expect(applied.body).toMatchObject({ status: 422, failures: [{ from: 'laptop', to: 'db-1' }] });
  });
});
