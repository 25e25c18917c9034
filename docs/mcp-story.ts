import { silentLog } from '../core/base/silent-log.ts';
import { buildTools } from '../mcp/tools.ts';
import { buildHistoryKit } from '../test/kits/plane/history-kit.ts';
import { operations } from '../tools/index.ts';
import { MCP_TOOLS } from '../tools/surfaces.ts';

/** A call of a tool with the text that it really answered. Ids, keys and tokens, which are others each time, are left out. */
export interface Example {
  readonly args: string;
  readonly answer: string;
}

type Json = Readonly<Record<string, unknown>>;

/** Between the steps, so that each has an instant of its own. */
const HOUR_MS = 3_600_000;

/** One story told with every tool: an agent changes a network, a person approves, the agent looks back. By tool. */
export async function tellStory(): Promise<ReadonlyMap<string, Example>> {
  await using kit = await buildHistoryKit();
  const { ask, gate, join, pass, workspace } = kit;
  for (const [name, labels] of [
    ['web-1', { role: 'web' }],
    ['db-1', { role: 'db' }],
    ['laptop', {}],
  ] as const) {
    await join(name, labels);
  }
  await pass(HOUR_MS);
  const { token } = await ask('create_agent', {
    name: 'deployer',
    scopes: [
      'network:read',
      'snapshots:read',
      'snapshots:write',
      'intents:plan',
      'intents:apply',
      'agents:delegate',
      'compliance:assess',
    ],
  });
  const principal = { caller: await gate.authenticate(token, ''), workspaceHint: workspace, origin: '' };
  const tools = buildTools({ operations, tools: MCP_TOOLS, gate, log: silentLog });
  const examples = new Map<string, Example>();

  async function call(tool: string, args: Json): Promise<Json> {
    const result = await tools.call(tool, args, principal, AbortSignal.timeout(HOUR_MS));
    const [content] = result?.content ?? [];
    if (!result || result.isError || content?.type !== 'text') {
      throw new Error(`The example of ${tool} failed: ${JSON.stringify(result)}`);
    }
    examples.set(tool, { args: masked(JSON.stringify(args)), answer: masked(content.text) });
    return (result.structuredContent ?? {}) as Json;
  }

  const before = new Date(kit.clock.time).toISOString();
  await pass(HOUR_MS);
  await call('list_peers', {});
  await call('get_peer', { id: 'web-1' });
  const intent = 'only role=web may reach role=db';
  const { plan_id } = await call('plan_network_change', { intent });
  const { workflow_id: id } = await call('apply_network_change', { plan_id });
  await call('list_workflows', { status: 'pending' });
  await ask('approve_workflow', { id, note: 'as discussed' });
  await pass(HOUR_MS);
  await call('get_workflow', { id });
  await call('list_policies', {});
  await call('check_connectivity', { src: 'web-1', dst: 'db-1', protocol: 'TCP', port: 5432 });
  await call('explain_denial', { src: 'laptop', dst: 'db-1', protocol: 'TCP', port: 5432 });
  await call('check_connectivity_at', { src: 'laptop', dst: 'db-1', protocol: 'TCP', port: 5432, at: before });
  const broken = 'since when can laptop not reach db-1 on 5432, and why?';
  await call('find_cause', { question: broken, from: before });
  await call('diff_snapshots', { from: before, to: new Date(kit.clock.time).toISOString() });
  await call('assess_compliance', { framework: 'hipaa', period_start: before });
  const { id: snapshot } = await call('take_snapshot', {});
  await call('list_snapshots', { trigger_type: 'manual' });
  await call('get_snapshot', { snapshot_id: snapshot });
  await call('delegate_agent', { id: 'self', subAgentName: 'reader', ttl: '30m', policyPreset: 'isolated' });
  return examples;
}

function masked(text: string): string {
  return text
    .replaceAll(/\b(plan_dry|[a-z]{1,4})_[a-z2-7]{26}\b/g, '$1_…')
    .replaceAll(/\b(mesh-\w{3,4}-)[\w-]{43,}/g, '$1…')
    .replaceAll(/\b[0-9a-f]{64}\b/g, '…');
}
