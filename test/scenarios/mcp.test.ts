import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { MCP_VIEWS } from '../../tools/surfaces.ts';
import { connectMcp, ERAS, SHOWS_VIEWS } from '../kits/http/agent-client.ts';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { apiToken, webAndDatabase } from '../kits/http/network-setup.ts';
import { planIdOf } from '../kits/http/plan-id.ts';
import { launcher } from '../kits/process/run-command.ts';
import { verifies } from '../verifies.ts';

const INTENT = 'let the web servers reach the database on port 5432 and nobody else';
const CONTRACT_TOOLS = [
  'plan_network_change',
  'apply_network_change',
  'list_snapshots',
  'get_snapshot',
  'diff_snapshots',
  'check_connectivity_at',
];

let harness: Harness;
let token: string;
let workspace: string;
let home: string;
beforeAll(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'mesh-mcp-'));
  harness = await startHarness();
  const network = await webAndDatabase(harness);
  workspace = network.workspace;
  token = await apiToken(harness, network);
});
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});

test.each(ERAS)('a client (%j) is offered the tools of the contract in less than 24,000 bytes', async (era) => {
  await using agent = await connectMcp(harness.url, token, era);
  const answer = await agent.client.listTools();
  expect(answer.tools.slice(0, CONTRACT_TOOLS.length).map(({ name }) => name)).toEqual(CONTRACT_TOOLS);
  expect(Buffer.byteLength(JSON.stringify({ jsonrpc: '2.0', id: 1, result: answer }))).toBeLessThan(24_000);
  for (const { outputSchema } of answer.tools) expect(outputSchema?.['type']).toBe('object');
  expect((await agent.client.listPrompts()).prompts.length).toBeGreaterThan(0);
  expect((await agent.client.listResourceTemplates()).resourceTemplates.length).toBeGreaterThan(0);
});

test.each(ERAS)(
  'a client (%j) that shows views is offered one for each tool that has one, in as many bytes',
  async (era) => {
    await using agent = await connectMcp(harness.url, token, era, workspace, SHOWS_VIEWS);
    const answer = await agent.client.listTools();
    expect(Buffer.byteLength(JSON.stringify({ jsonrpc: '2.0', id: 1, result: answer }))).toBeLessThan(24_000);
    const linked = MCP_VIEWS.flatMap(({ name, tools }) => tools.map((tool) => [tool, `ui://mesh/${name}`]));
    const meta = (tool: { _meta?: unknown }) => (tool._meta as { ui?: { resourceUri?: string } } | undefined)?.ui;
    const offered = answer.tools.flatMap((tool) => {
      const { resourceUri } = meta(tool) ?? {};
      return resourceUri ? [[tool.name, resourceUri]] : [];
    });
    expect(new Set(offered.map(String))).toEqual(new Set(linked.map(String)));
    for (const [, uri = ''] of linked) {
      const { contents } = await agent.client.readResource({ uri });
      const [page] = contents;
      expect(page && 'text' in page ? Buffer.byteLength(page.text) : 0).toBeGreaterThan(10_000);
      expect(page && 'text' in page ? Buffer.byteLength(page.text) : 0).toBeLessThan(150_000);
    }
  },
);

test('a client on the v1 SDK plans, applies and reads a refusal whole', async () => {
  verifies('mcp-plan', 'mcp-apply');
  const client = new ClientV1({ name: 'v1', version: '0' });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new TransportV1(new URL('/mcp', harness.url), { requestInit }) as Transport);
  try {
    await client.listTools();
    const call = (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args });
    const plan = await call('plan_network_change', { intent: INTENT });
    const planId = planIdOf(plan['structuredContent'] ?? plan);
    const applied = await call('apply_network_change', { plan_id: planId });
    expect(applied['structuredContent']).toMatchObject({ status: 'pending_approval' });
    const replayed = await call('apply_network_change', { plan_id: planId });
    const [, block] = replayed['content'] as { text: string }[];
    expect([replayed['isError'], JSON.parse(block?.text ?? '')]).toMatchObject([
      true,
      { status: 409, code: 'conflict' },
    ]);
  } finally {
    await client.close();
  }
});

test('without a token the endpoint answers 401 and says how to authenticate', async () => {
  const { status, headers } = await harness.api('POST', '/mcp', { body: { jsonrpc: '2.0', id: 1, method: 'ping' } });
  expect([status, headers.get('www-authenticate')]).toEqual([401, expect.stringMatching(/^Bearer/)]);
});

describe.each(ERAS)('over stdio (%j)', (mode) => {
  async function connect(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const client = new Client({ name: 'stdio', version: '0' }, { versionNegotiation: { mode } });
    const errors: string[] = [];
    client.onerror = (error) => void errors.push(error.message);
    const surroundings = { PATH: process.env['PATH'] ?? '', HOME: home, MESH_CONFIG_DIR: home, ...env };
    await client.connect(new StdioClientTransport({ command, args: [...args], env: surroundings, stderr: 'ignore' }));
    return { client, errors, [Symbol.asyncDispose]: () => client.close() };
  }

  test('mesh mcp carries a client to a control plane', async () => {
    const args = ['mcp', '--server', harness.url, '--workspace', workspace];
    await using bridge = await connect(launcher('mesh'), args, { MESH_TOKEN: token });
    const { tools } = await bridge.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(CONTRACT_TOOLS));
    const peers = await bridge.client.callTool({ name: 'list_peers', arguments: {} });
    expect(peers.structuredContent).toMatchObject({
      items: [{ name: 'db-1' }, { name: 'laptop' }, { name: 'web-1' }, { name: 'web-2' }],
    });
    expect(bridge.errors).toEqual([]);
  });

  test('meshd --standalone --stdio is a control plane of its own that plans and never approves', async () => {
    const directory = mkdtempSync(path.join(home, 'plane-'));
    const args = ['--standalone', '--stdio', '--config-dir', directory];
    await using plane = await connect(launcher('meshd'), args, {
      MESH_LISTEN: '127.0.0.1:0',
      MESH_BUS_LISTEN: 'off',
      MESH_RELAY_LISTEN: 'off',
      MESH_STUN_LISTEN: 'off',
    });
    const { tools } = await plane.client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(CONTRACT_TOOLS));
    expect(names.filter((name) => /approve|reject/.test(name))).toEqual([]);
    const policies = await plane.client.callTool({ name: 'list_policies', arguments: {} });
    expect(policies.structuredContent).toEqual({ items: [] });
    expect(existsSync(path.join(directory, 'mesh.db'))).toBe(true);
    expect(plane.errors).toEqual([]);
  });
});

test('meshd --standalone --stdio writes nothing but the protocol to standard output and ends with its client', async () => {
  const directory = mkdtempSync(path.join(home, 'quiet-'));
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    MESH_LISTEN: '127.0.0.1:0',
    MESH_BUS_LISTEN: 'off',
    MESH_RELAY_LISTEN: 'off',
    MESH_STUN_LISTEN: 'off',
  };
  const child = spawn(launcher('meshd'), ['--standalone', '--stdio', '--config-dir', directory], { env });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '0' } };
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
  await expect.poll(() => output, { timeout: 15_000 }).toContain('\n');
  child.stdin.end();
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
  const messages = output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(messages).toMatchObject([{ jsonrpc: '2.0', id: 1, result: { serverInfo: { name: expect.any(String) } } }]);
});

test('the stream of a session whose token ends some time warns of nothing', async () => {
  const warnings: string[] = [];
  const onWarning = ({ message }: Error) => void warnings.push(message);
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '0' } };
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json, text/event-stream' };
  const opened = await fetch(`${harness.url}/mcp`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  });
  await opened.text();
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
  const stream = await fetch(`${harness.url}/mcp`, {
    headers: { ...headers, ...session, accept: 'text/event-stream' },
  });
  expect(stream.status).toBe(200);
  await stream.body?.cancel();
  expect(warnings).toEqual([]);
});
