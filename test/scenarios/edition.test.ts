import { afterAll, beforeAll, expect, test } from 'vitest';
import { operations } from '../../tools/index.ts';
import { connectMcp, ERAS } from '../kits/http/agent-client.ts';
import { sendRequest } from '../kits/http/contract-request.ts';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { webAndDatabase } from '../kits/http/network-setup.ts';
import { verifies } from '../verifies.ts';

let community: Harness;
let admin: { token: string; workspace: string };
beforeAll(async () => {
  community = await startHarness({ env: { MESH_EDITION: 'community' } });
  admin = await webAndDatabase(community);
});
afterAll(() => community[Symbol.asyncDispose]());

/** Of the Pro edition, and no operation of the table. */
const STREAMS = ['/api/v1/ai/debug', '/api/v1/ai/compliance/evidence'];
const PRO_TOOLS = [
  ['plan_network_change', { intent: 'isolate laptop' }],
  ['apply_network_change', { plan_id: 'plan_x' }],
  ['list_snapshots', {}],
  ['get_snapshot', { snapshot_id: 'snap_x' }],
  ['diff_snapshots', { from: 'snap_x', to: 'snap_y' }],
  ['check_connectivity_at', { src: 'web-1', dst: 'db-1', at: '2026-01-31T12:00:00Z' }],
  ['take_snapshot', {}],
  ['assess_compliance', { framework: 'pci-dss', period_start: '', period_end: '' }],
] as const;

test('every Pro route answers 402 in the Community edition', async () => {
  verifies('edition-gate-intent', 'edition-gate-compliance', 'edition-present');
  const pro = operations.filter(({ edition }) => edition === 'pro').map(({ http }) => http);
  expect(pro.length).toBeGreaterThanOrEqual(PRO_TOOLS.length);
  const routes = [...pro, ...STREAMS.map((path) => ({ method: 'post', path }))];
  for (const { method, path } of routes) {
    const route = path.replace(':workspaceId', admin.workspace).replaceAll(/:\w+/g, 'x');
    const { status, headers, body } = await community.api(method.toUpperCase(), route, {
      ...admin,
      ...(method !== 'get' && { body: { workspace_id: admin.workspace } }),
    });
    expect([path, status, body.status, body.code]).toEqual([path, 402, 402, 'edition_required']);
    expect(headers.get('content-type')).toContain('application/problem+json');
  }
});

test('the requests of the contract answer 402 as they stand, whatever is in them', async () => {
  verifies('edition-first', 'edition-gate-intent', 'edition-gate-compliance', 'edition-present');
  const headers = { Authorization: `Bearer ${admin.token}` };
  const path = ['no-such-workspace', 'no-such-snapshot'];
  const range = { from: '2026-01-01T00:00:00Z', to: 'whenever' };
  const answers = [
    await sendRequest(community.url, 'snapshot-list', { path, headers }),
    await sendRequest(community.url, 'snapshot-get', { path, headers }),
    await sendRequest(community.url, 'snapshot-diff', { path, headers, query: { from: 'a', to: 'b' } }),
    await sendRequest(community.url, 'ai-debug', {
      headers,
      body: { workspace_id: 'none', question: '', time_range: range },
    }),
    await sendRequest(community.url, 'compliance-assess', {
      headers,
      body: { workspace_id: 'none', framework: 'none', period_start: '', period_end: '' },
    }),
    await sendRequest(community.url, 'compliance-evidence', {
      headers,
      body: { workspace_id: 'none', framework: 'none', period_start: '', period_end: '' },
    }),
    await sendRequest(community.url, 'intent-plan', {
      headers,
      body: { workspace_id: 'none', intent: '', dry_run: 'maybe' },
    }),
    await sendRequest(community.url, 'intent-apply', { headers, body: { plan_id: 1, approved_by: null } }),
  ];
  expect(answers.map(({ status, body }) => [status, body.code])).toEqual(answers.map(() => [402, 'edition_required']));
});

test.each(ERAS)('every Pro tool is offered to an MCP client (%j) and answers the same 402', async (era) => {
  await using agent = await connectMcp(community.url, admin.token, era, admin.workspace);
  const { tools } = await agent.client.listTools();
  const offered = new Set(tools.map(({ name }) => name));
  for (const [tool, args] of PRO_TOOLS) {
    expect(offered.has(tool)).toBe(true);
    expect(await agent.use(tool, args)).toMatchObject({ status: 402, code: 'edition_required' });
  }
  expect(offered.has('check_connectivity')).toBe(true);
});

test('what is not part of the Pro edition works in the Community edition', async () => {
  const answers = [
    ['/api/v1/peers', 4],
    ['/api/v1/policies', 0],
  ] as const;
  for (const [route, count] of answers) {
    const { status, body } = await community.api('GET', route, admin);
    expect([status, body.items.length]).toEqual([200, count]);
  }
  const check = await community.api('GET', '/api/v1/connectivity/check?src=web-1&dst=db-1', admin);
  expect([check.status, check.body.verdict]).toEqual([200, 'reachable']);
});

test('without a token a Pro route says so before it says anything of editions', async () => {
  const refused = await community.api('POST', '/api/v1/ai/debug', { body: {} });
  expect([refused.status, refused.body.code]).toEqual([401, 'unauthenticated']);
});
