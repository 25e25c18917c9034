import { expect, test } from 'vitest';
import { startHarness } from '../kits/http/harness.ts';
import { planIdOf } from '../kits/http/plan-id.ts';
import { seedPeers } from '../kits/records/seed-peers.ts';

const RULE = { from: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports: [{ protocol: 'TCP', port: 5432 }] };
const SPEC = { action: 'ALLOW', peerSelector: { matchLabels: { role: 'db' } }, ingress: [RULE] };
/** Takes a computing thread for a while. */
const LONG = { peers: Array.from({ length: 400 }, (_, index) => ({ name: `p${index}` })), policies: [] };

async function scene() {
  const harness = await startHarness();
  const { token, workspace } = await harness.workspace();
  await seedPeers(harness.plane.services, workspace, { web: { role: 'web' }, db: { role: 'db' } });
  const ask = async (method: string, route: string, body?: unknown) => {
    const answer = await harness.api(method, `/api/v1${route}`, { token, workspace, body });
    expect([answer.status < 300, answer.body]).toEqual([true, answer.body]);
    return answer.body;
  };
  return { harness, token, workspace, ask };
}

/** A number of /metrics. */
async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
}

test('questions are answered by a computing thread of what was written the moment before, and plans made there are applied', async () => {
  const { harness, workspace, ask } = await scene();
  await using _ = harness;
  const matrix = async () => (await ask('GET', '/connectivity/matrix')).pairs;
  const pair = '/connectivity/check?src=web&dst=db&protocol=TCP&port=5432';
  expect(await matrix()).toBe(2);
  const before = await ask('POST', `/workspaces/${workspace}/snapshots`, {});
  await ask('POST', '/policies', { name: 'base', spec: { action: 'DENY', peerSelector: {} } });
  expect([await matrix(), (await ask('GET', pair)).verdict]).toEqual([0, 'unreachable']);

  const changes = [{ action: 'create', resource: 'MeshPolicy', name: 'web-to-db', spec: SPEC }];
  const plan = await ask('POST', '/ai/intent/plan', { intent: 'let web reach db', changes });
  expect(plan).toMatchObject({ base_revision: expect.any(Number), changes: [{ name: 'web-to-db' }] });
  const workflow = await ask('POST', '/ai/intent/apply', { plan_id: planIdOf(plan), approved_by: 'admin' });
  expect(workflow.status).toBe('pending_approval');

  await ask('DELETE', '/policies/base');
  const after = await ask('POST', `/workspaces/${workspace}/snapshots`, {});
  const diff = await ask('GET', `/workspaces/${workspace}/snapshots/diff?from=${before.id}&to=${after.id}`);
  expect(diff).toMatchObject({ added: [], removed: [], connectivity: [], commits: [{}, {}] });
  expect(await matrix()).toBe(2);
  expect(harness.log.filter((line) => /"level":"error"/.test(line))).toEqual([]);
});

test('what a computing thread refuses is the problem that it would be elsewhere', async () => {
  const { harness, token, workspace } = await scene();
  await using _ = harness;
  const answer = await harness.api('GET', '/api/v1/connectivity/matrix?snapshot_id=snap_none', { token, workspace });
  expect([answer.status, answer.body.code]).toEqual([404, 'not_found']);
  const wrong = await harness.api('POST', '/api/v1/connectivity/simulate', { token, body: { peers: 1, policies: [] } });
  expect([wrong.status, wrong.body.errors[0].pointer]).toEqual([400, '/peers']);
});

test('a plane stops cleanly while computations run and wait', async () => {
  const { harness, token } = await scene();
  await using _ = harness;
  const body = JSON.stringify(LONG);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const asked = Array.from({ length: 8 }, () =>
    fetch(`${harness.url}/api/v1/connectivity/simulate`, { method: 'POST', headers, body }),
  );
  await expect.poll(() => metric(harness.url, 'mesh_compute_running'), { timeout: 20_000 }).toBeGreaterThan(0);
  await harness.stop();
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  // Those that are done in time are answered, the others refused.
  expect(new Set([...statuses, 200, 503])).toEqual(new Set([200, 503]));
  const failed = harness.log.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error');
  expect(failed.filter(({ code }) => code !== 'unavailable')).toEqual([]);
});
