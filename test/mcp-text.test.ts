import { expect, test } from 'vitest';
import { MCP_TOOLS } from '../tools/surfaces.ts';
import { startFaces } from './kits/http/faces-kit.ts';
import { agent, person } from './kits/plane/kit.ts';
import { seedPeers } from './kits/records/seed-peers.ts';

/** Fields that a client needs for its next call or its conclusion, whatever tool they come from. */
const NEEDED =
  /^(?:id|\w+_id|\w+Id|verdict|status|state|verification|next_cursor|resource|omitted\w*|\w+_count|\w+_pairs|denied)$/;

/** Values of needed fields at any depth, inside of what a policy or peer says of itself left out. */
function neededOf(value: unknown, name = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => neededOf(each, name));
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) => (key === 'spec' ? [] : neededOf(inner, key)));
  }
  return NEEDED.test(name) && value !== null && value !== '' ? [String(value)] : [];
}

test('the text of every tool holds each id, verdict, count and cursor of its structured answer', async () => {
  await using faces = await startFaces();
  const { kit } = faces;
  const workspace = await kit.workspace('own');
  const all = new Set([...person('admin', workspace).scopesIn(workspace), 'agents:delegate' as const]);
  faces.callers.set('agent', { ...agent([], workspace), scopesIn: (id) => (id === workspace ? all : new Set()) });
  const peers = { 'web-1': { role: 'web' }, 'web-2': { role: 'web' }, 'db-1': { role: 'db' }, laptop: {} };
  await seedPeers(kit.services, workspace, peers);
  const client = await faces.connect('agent', 'legacy');
  const tried = new Set<string>();

  async function ask(name: string, args: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const { content, structuredContent, isError } = await client.callTool({ name, arguments: args });
    const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
    expect([name, isError ? text : undefined]).toEqual([name, undefined]);
    for (const needed of neededOf(structuredContent))
      expect([name, text]).toEqual([name, expect.stringContaining(needed)]);
    tried.add(name);
    return structuredContent as Record<string, unknown>;
  }

  const before = await ask('take_snapshot');
  const plan = await ask('plan_network_change', { intent: 'let only role=web reach role=db on port 5432' });
  const applied = await ask('apply_network_change', { plan_id: plan['plan_id'] });
  await ask('get_workflow', { id: applied['workflow_id'] });
  await ask('list_workflows');
  const after = await ask('take_snapshot');
  await ask('list_snapshots', { limit: 1 });
  await ask('get_snapshot', { snapshot_id: before['id'] });
  await ask('diff_snapshots', { from: before['id'], to: after['id'] });
  await ask('list_peers', { limit: 2 });
  await ask('list_peers', { fields: ['publicKey', 'status'] });
  await ask('get_peer', { id: 'web-1' });
  await ask('list_policies');
  for (const pair of [{ src: 'laptop', dst: 'db-1' }, { dst: 'db-1' }, { src: 'role=web', dst: 'role=db' }]) {
    await ask('check_connectivity', pair);
    await ask('check_connectivity_at', { ...pair, snapshot_id: before['id'] });
  }
  await ask('explain_denial', { src: 'laptop', dst: 'db-1' });
  await ask('find_cause', { src: 'laptop', dst: 'db-1' });
  const day = { period_start: '2026-01-05T11:00:00Z', period_end: '2026-01-05T12:00:00Z' };
  await ask('assess_compliance', { framework: 'pci-dss', ...day });

  const built = (await client.listTools()).tools.map(({ name }) => name);
  // An agent's own token is needed to delegate; its answer is three fields, of which none is left out.
  const left = built.filter((name) => !tried.has(name) && name !== 'delegate_agent');
  expect([left, built.every((name) => MCP_TOOLS.includes(name))]).toEqual([[], true]);
});

test('a peer takes less than 120 characters of the text of a list', async () => {
  await using faces = await startFaces();
  const workspace = await faces.kit.workspace('own');
  faces.callers.set('reader', person('viewer', workspace));
  const names = Array.from(
    { length: 50 },
    (_, index) => [`web-${index}`, { role: 'web', zone: `z${index % 3}` }] as const,
  );
  await seedPeers(faces.kit.services, workspace, Object.fromEntries(names));
  const client = await faces.connect('reader');
  const { content } = await client.callTool({ name: 'list_peers', arguments: {} });
  const [block] = content;
  expect((block?.type === 'text' ? block.text.length : Number.NaN) / names.length).toBeLessThan(120);
});
