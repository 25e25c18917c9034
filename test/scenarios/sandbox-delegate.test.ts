import { expect, test, vi } from 'vitest';
import { delegation, parseReach } from '../../cli/sandbox-delegate.ts';
import { startHarness } from '../kits/http/harness.ts';

const REQUEST = { name: 'worker', ttl: '5m', preset: 'sandboxed', scopes: ['network:read'], reach: [] };
const NEVER = new AbortController().signal;

test('an agent delegates by its own token, no more than it holds', async () => {
  await using harness = await startHarness();
  const { token, workspace } = await harness.workspace();
  const body = { name: 'planner', reach: [{ to: [{ peerSelector: { matchLabels: { role: 'db' } } }] }] };
  const { body: made } = await harness.api('POST', '/api/v1/agents', { token, workspace, body });
  const target = { server: harness.url, token: made.token, workspace: undefined };
  const own = delegation(target, { ...REQUEST, reach: [parseReach('role=db:5432')] });
  expect(await own.token(NEVER)).toMatch(/^mesh-dlg-/);
  await own.end();
  const { body: tree } = await harness.api('GET', '/api/v1/agents/planner/tree', { token, workspace });
  expect(tree.items).toMatchObject([
    { name: 'planner', phase: 'Active' },
    { name: 'worker', parentRef: { name: 'planner' }, egress: [{ ports: [{ protocol: 'TCP', port: 5432 }] }] },
  ]);
  const wider = delegation(target, { ...REQUEST, name: 'wide', scopes: ['network:write'] });
  await expect(wider.token(NEVER)).rejects.toThrow('A sub-agent cannot have a scope its parent lacks');
});

test('a person delegates by an agent of its own, which ends with it, and waits for the approval that it needs', async () => {
  await using harness = await startHarness();
  const { token, workspace } = await harness.workspace();
  const settings = { settings: { requireApproval: true } };
  await harness.api('PATCH', `/api/v1/workspaces/${workspace}`, { token, body: settings });
  const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    const own = delegation({ server: harness.url, token, workspace }, REQUEST);
    const made = own.token(NEVER);
    await expect.poll(() => said.mock.calls.join(' ')).toMatch(/Waits for approval: .*mesh approve wf_/);
    const [id = ''] = /wf_\w+/.exec(said.mock.calls.join(' ')) ?? [];
    await harness.api('POST', `/api/v1/workflows/${id}/approve`, { token, workspace, body: {} });
    expect(await made).toMatch(/^mesh-dlg-/);
    await own.end();
    const { body } = await harness.api('GET', '/api/v1/agents', { token, workspace });
    const phases = body.items.map(({ name, phase }: Record<string, string>) => `${name} ${phase}`);
    expect(phases.toSorted()).toEqual(['worker Revoked', 'worker-parent Revoked']);

    const rejected = delegation({ server: harness.url, token, workspace }, { ...REQUEST, name: 'other' }).token(NEVER);
    said.mockClear();
    await expect.poll(() => said.mock.calls.join(' ')).toContain('wf_');
    const [second = ''] = /wf_\w+/.exec(said.mock.calls.join(' ')) ?? [];
    await harness.api('POST', `/api/v1/workflows/${second}/reject`, { token, workspace, body: {} });
    await expect(rejected).rejects.toThrow(`the approval ${second} is rejected`);
  } finally {
    said.mockRestore();
  }
});

test('a caller that is signed in nowhere, and a token that is a delegation already, delegate nothing', () => {
  const target = { server: 'http://127.0.0.1:9', workspace: undefined };
  expect(() => delegation({ ...target, token: undefined }, REQUEST)).toThrow('Sign in first');
  expect(() => delegation({ ...target, token: 'mesh-dlg-x' }, REQUEST)).toThrow('This is a delegate token');
});

test.each(['db', 'db:http', ':5432', 'db:5432/icmp', 'a=b=c:1', ''])('--reach %s is no peer and port', (text) => {
  expect(() => parseReach(text)).toThrow('Write db:5432');
});
