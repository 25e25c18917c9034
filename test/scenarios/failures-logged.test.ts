import { expect, test } from 'vitest';
import { connectMcp } from '../kits/http/agent-client.ts';
import { startHarness } from '../kits/http/harness.ts';
import { startMeshd } from '../kits/process/meshd.ts';

type Line = Readonly<Record<string, unknown>>;

/** Lines about one request, those for developers left out. */
function about(lines: readonly string[], requestId: unknown): Line[] {
  return lines
    .map((line): Line => JSON.parse(line))
    .filter((line) => line['requestId'] === requestId && line['level'] !== 'debug');
}

test('a refused request is one line at info, with its code and the id that the caller was shown', async () => {
  await using harness = await startHarness();
  const { token, workspace } = await harness.workspace();
  const ofOperation = await harness.api('GET', '/api/v1/policies/none', { token, workspace });
  const ofPath = await harness.api('GET', '/api/v1/nothing');
  const anonymous = await harness.api('GET', '/api/v1/policies');
  expect(about(harness.log, ofOperation.body.requestId)).toMatchObject([
    { level: 'info', operation: 'get_policy', status: 404, code: 'not_found', msg: 'request refused' },
  ]);
  expect(about(harness.log, ofPath.body.requestId)).toMatchObject([
    { level: 'info', method: 'GET', path: '/api/v1/nothing', status: 404, code: 'not_found' },
  ]);
  expect(about(harness.log, anonymous.body.requestId)).toMatchObject([
    { level: 'info', operation: 'list_policies', status: 401, code: 'unauthenticated' },
  ]);
});

test('a request that fails here is one line at error, with its cause and the id that the caller was shown', async () => {
  await using harness = await startHarness();
  const { token, workspace } = await harness.workspace();
  await harness.plane.services.store.close();
  const body = { name: 'late', spec: { action: 'DENY', peerSelector: { matchLabels: { app: 'web' } } } };
  const failed = await harness.api('POST', '/api/v1/policies', { token, workspace, body });
  expect([failed.status, failed.body.code]).toEqual([503, 'unavailable']);
  expect(about(harness.log, failed.body.requestId)).toMatchObject([
    {
      level: 'error',
      operation: 'create_policy',
      status: 503,
      code: 'unavailable',
      msg: 'request failed',
      err: { name: 'StoreError', subject: 'the database: database is not open' },
    },
  ]);
  const states = async () => (await harness.api('GET', '/readyz')).status;
  expect([await states(), await states(), await states()]).toEqual([503, 503, 503]);
  const lines = harness.log.map((line): Line => JSON.parse(line));
  const failing = lines
    .filter(({ msg }) => msg === 'not ready')
    .map(({ checks }) => (checks as { name: string }[]).map(({ name }) => name).join());
  // One line for each change of the failed checks, however often a probe asks.
  expect(failing[0]).toContain('store');
  expect(new Set(failing).size).toBe(failing.length);
  expect(lines.filter(({ level, path }) => level === 'error' && path === '/readyz')).toEqual([]);
});

test('the line of a request says who sent it, in which workspace, and from which address', async () => {
  await using harness = await startHarness();
  const { token, workspace } = await harness.workspace();
  const body = { name: 'web', spec: { action: 'DENY', peerSelector: { matchLabels: { app: 'web' } } } };
  const made = await harness.api('POST', '/api/v1/policies', { token, workspace, body });
  expect(about(harness.log, made.headers.get('x-request-id'))).toMatchObject([
    { level: 'info', operation: 'create_policy', actor: 'user:admin', workspace, address: '127.0.0.1', status: 201 },
  ]);
});

test('a tool that refuses is a line at info under the id that the agent was shown', async () => {
  await using harness = await startHarness();
  const { token, workspace } = await harness.workspace();
  await using mcp = await connectMcp(harness.url, token, 'legacy', workspace);
  const problem = await mcp.use('get_peer', { id: 'none' });
  expect(about(harness.log, problem['requestId'])).toMatchObject([
    { level: 'info', tool: 'get_peer', status: 404, code: 'not_found' },
  ]);
});

test('an error that nothing handles is a line of the log like every other, and the process ends', async () => {
  const fault = 'process.once("SIGUSR2", () => void Promise.reject(new Error("boom")))';
  const plane = startMeshd({ env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(fault)}` } });
  await plane.ready();
  plane.child.kill('SIGUSR2');
  expect(await plane.ended).toBe(1);
  const last = JSON.parse(plane.stderr().trim().split('\n').at(-1) ?? '');
  expect(last).toMatchObject({ level: 50, origin: 'unhandledRejection', err: { message: 'boom' } });
});
