import { expect, test } from 'vitest';
import { TRACE_LIMITS } from '../../core/model/call-trace.ts';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const RULES = { name: 'ops', scopes: ['network:read', 'agents:delegate'] };

async function kitWithAgent() {
  const kit = await buildWorkspaceKit();
  const { token } = await kit.ask('create_agent', RULES);
  const { workspace } = kit;
  const call = (name: string, raw = {}, face: 'mcp' | 'rest' = 'mcp') =>
    kit.call(name, raw, { bearer: token, workspace, face });
  return { ...kit, call };
}

test('what an agent called is listed newest first with arguments, result and refusals, page by page', async () => {
  await using kit = await kitWithAgent();
  await kit.join('web-1');
  await kit.call('list_peers', { limit: 5 });
  await expect(kit.call('delete_peer', { id: 'web-1' }, 'rest')).rejects.toThrow();
  const { items } = await kit.ask('list_agent_calls', { id: 'ops' });
  expect(items).toMatchObject([
    { operation: 'delete_peer', face: 'rest', outcome: 'forbidden', input: '{"id":"web-1"}' },
    { operation: 'list_peers', face: 'mcp', outcome: 'ok', input: '{"limit":5}' },
  ]);
  expect(items[1].result).toContain('"name":"web-1"');
  expect(items[0].result).toContain('network:write');
  const first = await kit.ask('list_agent_calls', { id: 'ops', limit: 1 });
  expect(first.items).toEqual([items[0]]);
  const second = await kit.ask('list_agent_calls', { id: 'ops', cursor: first.next_cursor });
  expect(second).toEqual({ items: [items[1]] });
});

test('a field that is ignored is not kept either, and nothing fails by what it holds', async () => {
  await using kit = await buildWorkspaceKit();
  const { token } = await kit.ask('create_agent', { ...RULES, scopes: ['network:read', 'network:write'] });
  const status: unknown = JSON.parse('['.repeat(9_000) + ']'.repeat(9_000));
  const policy = { name: 'p', spec: { action: 'DENY', peerSelector: { peers: [] } }, status };
  const call = kit.call('create_policy', policy, { bearer: token, workspace: kit.workspace });
  await expect(call).resolves.toMatchObject({ name: 'p' });
  const { items } = await kit.ask('list_agent_calls', { id: 'ops' });
  expect(items).toMatchObject([{ operation: 'create_policy', outcome: 'ok' }]);
  expect(items[0].input).not.toContain('status');
});

test('no secret of an argument or a result is kept, whole or cut', async () => {
  await using kit = await kitWithAgent();
  const delegation = { id: 'self', subAgentName: 'scout', ttl: '10m', policyPreset: 'sandboxed' };
  const { enrollmentToken } = await kit.call('delegate_agent', delegation);
  const padding = 'x'.repeat(TRACE_LIMITS.text - 40);
  await expect(kit.call('get_peer', { id: `${padding} ${enrollmentToken}` })).rejects.toThrow();
  const text = JSON.stringify((await kit.ask('list_agent_calls', { id: 'ops' })).items);
  expect(text).toContain('enrollmentToken');
  expect(text).not.toContain(enrollmentToken.slice(0, 20));
});

test('who reads no audit log reads no calls, a sub-agent only its own, and nobody those of another workspace', async () => {
  await using kit = await kitWithAgent();
  const id = 'ops';
  expect(await refusalOf(kit.as('operator')('list_agent_calls', { id }))).toBe('forbidden audit:read');
  expect((await kit.as('auditor')('list_agent_calls', { id })).items).toEqual([]);
  expect(await refusalOf(kit.foreign('list_agent_calls', { id }))).toBe('not_found');
  expect(await refusalOf(kit.ask('list_agent_calls', { id, cursor: 'x' }))).toBe('invalid_input /cursor');
});
