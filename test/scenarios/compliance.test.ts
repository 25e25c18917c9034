import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { connectMcp } from '../kits/http/agent-client.ts';
import { sendRequest } from '../kits/http/contract-request.ts';
import { ADMIN_PASSWORD, startHarness } from '../kits/http/harness.ts';
import { joinDevice } from '../kits/http/network-setup.ts';
import { mesh } from '../kits/process/run-command.ts';
import { verifies } from '../verifies.ts';

const harness = await startHarness();
afterAll(() => harness[Symbol.asyncDispose]());
const token = await harness.login();
const started = new Date(Date.now() - 3_600_000).toISOString();

/** A workspace of its own with a peer of cardholder data and one that has none. */
async function workspaceOf(slug: string): Promise<string> {
  const { workspace } = await harness.workspace(slug);
  const admin = { token, workspace };
  await joinDevice(harness, admin, 'card-1', { 'compliance.scope': 'cde' });
  await joinDevice(harness, admin, 'web-1', { role: 'web' });
  return workspace;
}

const FIELDS = ['framework', 'generated_at', 'score', 'status', 'controls', 'summary', 'evidence_id'];
const OF_CONTROLS = ['id', 'title', 'status', 'evidence', 'remediation'];
const FOUR = ['PCI-DSS-1.2', 'PCI-DSS-1.3', 'PCI-DSS-6.4', 'PCI-DSS-10.2'];

interface Control {
  readonly id: string;
  readonly status: string;
  readonly evidence: string;
  readonly remediation: string;
}

function assess(workspace: string, framework: string) {
  return sendRequest(harness.url, 'compliance-assess', {
    headers: { Authorization: `Bearer ${token}` },
    body: { workspace_id: workspace, framework, period_start: started, period_end: new Date().toISOString() },
  });
}

test('the request of the contract answers its result, field by field, for each framework', async () => {
  verifies('compliance-assess', 'compliance-fields', 'compliance-control-fields', 'compliance-frameworks');
  const workspace = await workspaceOf('fields');
  for (const [framework, prefix] of [
    ['pci-dss', 'PCI-DSS-'],
    ['SOC2 Type II', 'SOC2-'],
    ['hipaa', 'HIPAA-'],
  ] as const) {
    const { status, body } = await assess(workspace, framework);
    expect([status, Object.keys(body)]).toEqual([200, expect.arrayContaining(FIELDS)]);
    expect([body.framework, ['pass', 'fail', 'partial'].includes(body.status)]).toEqual([framework, true]);
    for (const control of body.controls as Control[]) {
      expect(Object.keys(control)).toEqual(expect.arrayContaining(OF_CONTROLS));
      expect([control.id, control.id.startsWith(prefix)]).toEqual([control.id, true]);
      expect([control.id, control.remediation === '']).toEqual([control.id, control.status === 'pass']);
    }
  }
});

test('the four controls of the contract pass or fail by policies, changes and their reviews', async () => {
  verifies('compliance-pci', 'compliance-sources');
  const workspace = await workspaceOf('mapped');
  const statuses = async () => {
    const { body } = await assess(workspace, 'pci-dss');
    return (body.controls as Control[]).filter(({ id }) => FOUR.includes(id)).map(({ status }) => status);
  };
  expect(await statuses()).toEqual(['fail', 'pass', 'pass', 'pass']);
  const spec = { action: 'ALLOW', peerSelector: { matchLabels: { 'compliance.scope': 'cde' } } };
  const open = { name: 'open', spec: { ...spec, ingress: [{ from: ['*'] }] } };
  const written = await harness.api('POST', '/api/v1/policies', { token, workspace, body: open });
  expect(written.status).toBe(201);
  expect(await statuses()).toEqual(['fail', 'fail', 'pass', 'fail']);
});

test('an agent assesses over MCP, and reads the result in the text', async () => {
  const workspace = await workspaceOf('agents');
  await using agent = await connectMcp(harness.url, token, undefined, workspace);
  const answer = await agent.use('assess_compliance', { framework: 'pci-dss', period_start: started });
  expect(answer).toMatchObject({ framework: 'pci-dss', evidence_id: expect.stringMatching(/^ev_/) });
});

test('an agent that watches drift over MCP is told once a control flips, and reads which', async () => {
  const workspace = await workspaceOf('watched');
  await using agent = await connectMcp(harness.url, token, undefined, workspace);
  const uri = `mesh://workspaces/${workspace}/drift`;
  const told = Promise.withResolvers<string>();
  agent.client.setNotificationHandler('notifications/resources/updated', ({ params }) => told.resolve(params.uri));
  await agent.client.subscribeResource({ uri });
  const asked = { framework: 'pci-dss', period_start: started };
  await agent.use('assess_compliance', asked);
  const open = { name: 'open', spec: { action: 'ALLOW', peerSelector: {}, ingress: [{ from: ['*'] }] } };
  await harness.api('POST', '/api/v1/policies', { token, workspace, body: open });
  const { evidence_id: id } = await agent.use('assess_compliance', asked);
  expect(await told.promise).toBe(uri);
  const { contents } = await agent.client.readResource({ uri });
  const [{ text = '' } = {}] = contents as { text?: string }[];
  expect(JSON.parse(text).items).toMatchObject([
    {
      evidence_id: id,
      controls: expect.arrayContaining([expect.objectContaining({ control: 'PCI-DSS-1.3', from: 'pass', to: 'fail' })]),
    },
  ]);
});

test('mesh compliance assesses, lists, shows and compares', async () => {
  const workspace = await workspaceOf('commands');
  const home = mkdtempSync(path.join(tmpdir(), 'mesh-home-'));
  try {
    const run = (...args: string[]) => mesh(args, { home, env: { MESH_PASSWORD: ADMIN_PASSWORD } });
    await run('login', '--server', harness.url, '--workspace', 'commands');
    const first = await run('compliance', 'assess', 'pci-dss', '--from', started);
    expect([first.code, first.stderr]).toEqual([1, '']);
    expect(first.stdout).toMatch(/FAIL {2}PCI-DSS-1\.2 {2}Restrict inbound and outbound traffic\n {6}.*\n {6}To do: /);
    expect(first.stdout).toContain('      Changes: create MeshPolicy deny-all. Opens nothing; closes ');
    const id = /Kept as (ev_[a-z2-7]+)\./.exec(first.stdout)?.[1] ?? '';
    const base = { name: 'base', spec: { action: 'DENY', peerSelector: {} } };
    await harness.api('POST', '/api/v1/policies', { token, workspace, body: base });
    const now = new Date().toISOString();
    const second = JSON.parse((await run('compliance', 'assess', 'PCI', '--from', now, '--json')).stdout);
    expect(JSON.parse((await run('compliance', 'show', second.evidence_id, '--json')).stdout)).toEqual(second);
    expect((await run('compliance', 'list', '--framework', 'pci-dss')).stdout).toContain(id);
    expect((await run('compliance', 'compare', id, second.evidence_id)).stdout).toContain('PCI-DSS-1.2: fail -> pass');
    const wrong = await run('compliance', 'assess', 'iso27001', '--from', started);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('pci-dss, soc2, hipaa')]);
  } finally {
    rmSync(home, { recursive: true });
  }
});

test('mesh compliance reviews access on a terminal, and lists keys and tokens', async () => {
  const workspace = await workspaceOf('reviewed');
  const home = mkdtempSync(path.join(tmpdir(), 'mesh-home-'));
  try {
    const run = (...args: string[]) => mesh(['compliance', ...args], { home, env: { MESH_PASSWORD: ADMIN_PASSWORD } });
    await mesh(['login', '--server', harness.url, '--workspace', 'reviewed'], {
      home,
      env: { MESH_PASSWORD: ADMIN_PASSWORD },
    });
    const begun = await run('review', 'start', 'access');
    expect([begun.code, begun.stderr]).toEqual([0, '']);
    const id = /Started (rev_[a-z2-7]+): \d+ items\./.exec(begun.stdout)?.[1] ?? '';
    expect((await run('reviews')).stdout).toContain(`open: ${id}`);
    const shown = await run('review', 'show', id);
    expect(shown.stdout).toMatch(/open {7}device card-1\n {11}MeshPeer\/p_/);
    const flagged = await run('review', 'flag', id, 'card-1', '--note', 'to be replaced');
    expect(flagged.stdout).toMatch(/^1 decided, \d+ to be looked at yet\./);
    expect((await run('review', 'finish', id)).code).toBe(5);
    expect((await run('review', 'confirm', id, '--rest')).stdout).toContain(', 0 to be looked at yet.');
    expect((await run('review', 'finish', id)).stdout).toContain('1 flagged');
    const left = await run('review', 'show', id, '--flagged');
    expect(left.stdout).toMatch(/To end it: mesh admin revoke-peer p_/);
    await harness.api('POST', '/api/v1/peers/card-1/revoke', { token, workspace, body: {} });
    expect((await run('review', 'show', id, '--flagged')).stdout).toContain('0 flagged and in force');
    const none = await run('review', 'confirm', id, 'nobody');
    expect([none.code, none.stderr]).toEqual([4, expect.stringContaining('no item nobody')]);
    expect((await run('review', 'confirm', id)).code).toBe(2);
    const csv = (await run('inventory', '--csv')).stdout.split('\n');
    expect(csv[0]).toBe('type,id,name,since,age_days,ends,state,made_by,grants,owner');
    expect(csv.filter((line) => line.startsWith('WireGuard key,p_'))).toHaveLength(2);
  } finally {
    rmSync(home, { recursive: true });
  }
});
