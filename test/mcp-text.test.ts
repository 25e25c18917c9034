import { expect, test } from 'vitest';
import { isObject } from '../core/base/is-object.ts';
import type { AnyOperation } from '../core/base/operation.ts';
import type { Services } from '../core/workflow/services.ts';
import { operations as registry } from '../tools/index.ts';
import { MCP_TOOLS } from '../tools/surfaces.ts';
import { startFaces } from './kits/http/faces-kit.ts';
import { agent, person } from './kits/plane/kit.ts';
import { seedPeers } from './kits/records/seed-peers.ts';

const operations = registry as readonly AnyOperation<Services>[];

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

/** Returns true if each field of a part stands in the whole under its name, and each entry of a list in that list. */
function isPartOf(part: unknown, whole: unknown): boolean {
  if (part === undefined) return true;
  if (Array.isArray(part)) {
    return Array.isArray(whole) && part.every((each) => whole.some((entry) => isPartOf(each, entry)));
  }
  if (!isObject(part)) return part === whole;
  return isObject(whole) && Object.entries(part).every(([name, value]) => isPartOf(value, whole[name]));
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
    // The text is this part of the answer, written by one function: no field has another name, place or value there.
    const shown = operations.find((operation) => operation.name === name)?.brief?.(structuredContent as never);
    if (shown) expect([name, isPartOf(shown, structuredContent)]).toEqual([name, true]);
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
  await kit.call(
    'create_policy',
    { name: 'shut', spec: { action: 'DENY', peerSelector: {} } },
    { as: person('admin', workspace), workspace },
  );
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

test('a list of policies says each in one line of words', async () => {
  await using faces = await startFaces();
  const workspace = await faces.kit.workspace('own');
  const admin = person('admin', workspace);
  faces.callers.set('admin', admin);
  for (const [name, spec] of [
    ['shut', { action: 'DENY', peerSelector: {}, ingress: [] }],
    ['ssh', { action: 'ALLOW', peerSelector: { matchLabels: { role: 'db' } }, ingress: [{ ports: [{ port: 22 }] }] }],
  ] as const) {
    await faces.kit.call('create_policy', { name, spec }, { as: admin, workspace });
  }
  const client = await faces.connect('admin', 'legacy');
  const { content } = await client.callTool({ name: 'list_policies', arguments: {} });
  const [block] = content;
  const text = block?.type === 'text' ? block.text : '';
  expect(text).toContain('"DENY all ingress to every peer that no ALLOW opens; egress not touched"');
  expect(text).toContain('"ALLOW ingress to role=db only from anyone on TCP/22; egress not touched"');
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
