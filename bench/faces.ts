import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import autocannon from 'autocannon';
import { median } from './report.ts';

/**
 * What the two faces cost beside the frameworks alone: node bench/faces.ts [--quick]
 * Each round measures the bare server and the real one in turn; the ratio is the median over the rounds.
 */
const quick = process.argv.includes('--quick');
const ROUNDS = quick ? 3 : 7;
const SECONDS = quick ? 2 : 4;
const WARM_UP_SECONDS = 2;
const CONNECTIONS = 16;
const LEGACY = '2025-11-25';
const MODERN = '2026-07-28';

interface Target {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly server: ChildProcess;
}

interface Cost {
  readonly perSecond: number;
  readonly cpuMicroseconds: number;
}

const children: ChildProcess[] = [];
try {
  const [mesh, meshServer] = await start<{ url: string; token: string; issued: string; workspace: string }>(
    'mesh-server.ts',
    [],
  );
  const headers = { authorization: `Bearer ${mesh.token}` };
  const read = {
    url: `${mesh.url}/api/v1/workspaces/${mesh.workspace}`,
    method: 'GET',
    headers,
    server: meshServer,
  } as const;
  const answer = await (await fetch(read.url, { headers })).text();
  const tool = await call(await modern(meshServer, `${mesh.url}/mcp`, 'list_snapshots', headers));
  const [bare, bareServer] = await start<{ url: string }>('bare-server.ts', [answer, JSON.stringify(tool)]);

  console.log(`node ${process.version}, ${cpus().length} x ${cpus()[0]?.model.trim()}, ${new Date().toISOString()}`);
  console.log(
    `${ROUNDS} interleaved rounds of ${SECONDS} s, ${CONNECTIONS} connections; ratios of paired rounds, median (lowest to highest)\n`,
  );
  console.log(
    '| What | mesh req/s | bare req/s | rate, mesh / bare | mesh CPU µs | bare CPU µs | CPU, bare / mesh | wanted |',
  );
  console.log('|---|---|---|---|---|---|---|---|');
  await compare(
    'REST read, token verified',
    read,
    { url: `${bare.url}/bare`, method: 'GET', headers: {}, server: bareServer },
    0.6,
  );
  await compare(
    `MCP tool call, ${MODERN}`,
    await modern(meshServer, `${mesh.url}/mcp`, 'list_snapshots', headers),
    await modern(bareServer, `${bare.url}/mcp`, 'echo', {}),
    0.7,
  );
  await compare(
    `MCP tool call, ${LEGACY} session`,
    await legacy(meshServer, `${mesh.url}/mcp`, 'list_snapshots', headers),
    await legacy(bareServer, `${bare.url}/mcp`, 'echo', {}),
    0.7,
  );
  const calls = (bearer: string) =>
    modern(meshServer, `${mesh.url}/mcp`, 'list_snapshots', { authorization: `Bearer ${bearer}` });
  // Beside the same call of the same server with a token of its own.
  await compare(
    `MCP tool call, ${MODERN}, token of another issuer / own`,
    await calls(mesh.issued),
    await calls(mesh.token),
    0.95,
  );
} finally {
  for (const child of children) child.kill();
}

async function start<T>(file: string, args: string[]): Promise<[T, ChildProcess]> {
  const child = fork(new URL(`faces/${file}`, import.meta.url), args);
  children.push(child);
  const [message] = (await once(child, 'message')) as [T];
  return [message, child];
}

async function modern(server: ChildProcess, url: string, name: string, extra: Record<string, string>): Promise<Target> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '0' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {}, _meta } });
  const headers = {
    ...mcpHeaders(extra),
    'mcp-protocol-version': MODERN,
    'mcp-method': 'tools/call',
    'mcp-name': name,
  };
  return { server, url, method: 'POST', headers, body };
}

async function legacy(server: ChildProcess, url: string, name: string, extra: Record<string, string>): Promise<Target> {
  const clientInfo = { name: 'bench', version: '0' };
  const params = { protocolVersion: LEGACY, capabilities: {}, clientInfo };
  const initialize = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
  const opened = await fetch(url, { method: 'POST', headers: mcpHeaders(extra), body: initialize });
  await opened.text();
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': LEGACY };
  const headers = { ...mcpHeaders(extra), ...session };
  // A session answers requests by their id, so each one in flight needs its own.
  const body = JSON.stringify({ jsonrpc: '2.0', id: '[<id>]', method: 'tools/call', params: { name, arguments: {} } });
  return { server, url, method: 'POST', headers, body };
}

function mcpHeaders(extra: Record<string, string>): Record<string, string> {
  return { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...extra };
}

async function call({ url, method, headers, body }: Target): Promise<unknown> {
  const response = await fetch(url, { method, headers, ...(body && { body }) });
  const { result } = (await response.json()) as { result: { structuredContent: unknown } };
  return result.structuredContent;
}

async function compare(what: string, mesh: Target, bare: Target, wanted: number): Promise<void> {
  await measure(bare, WARM_UP_SECONDS);
  await measure(mesh, WARM_UP_SECONDS);
  const rounds: { mesh: Cost; bare: Cost }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const first = round % 2 === 0;
    const one = await measure(first ? bare : mesh, SECONDS);
    const two = await measure(first ? mesh : bare, SECONDS);
    rounds.push(first ? { bare: one, mesh: two } : { bare: two, mesh: one });
  }
  const rate = spread(rounds.map((round) => round.mesh.perSecond / round.bare.perSecond));
  const cpu = spread(rounds.map((round) => round.bare.cpuMicroseconds / round.mesh.cpuMicroseconds));
  const of = (pick: (round: { mesh: Cost; bare: Cost }) => number) => Math.round(median(rounds.map(pick)));
  const perSecond = `${of((round) => round.mesh.perSecond)} | ${of((round) => round.bare.perSecond)}`;
  const each = `${of((round) => round.mesh.cpuMicroseconds)} | ${of((round) => round.bare.cpuMicroseconds)}`;
  console.log(`| ${what} | ${perSecond} | ${rate} | ${each} | ${cpu} | ${wanted} |`);
}

async function measure({ url, method, headers, body, server }: Target, duration: number): Promise<Cost> {
  const idReplacement = body?.includes('[<id>]') ?? false;
  const before = await cpuOf(server);
  const result = await autocannon({
    url,
    method,
    headers,
    connections: CONNECTIONS,
    duration,
    ...(body && { body, idReplacement }),
  });
  const used = (await cpuOf(server)) - before;
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} refused, ${result.errors} lost`);
  return { perSecond: result['2xx'] / result.duration, cpuMicroseconds: used / result['2xx'] };
}

async function cpuOf(server: ChildProcess): Promise<number> {
  server.send('cpu');
  const [{ cpuMicroseconds }] = (await once(server, 'message')) as [{ cpuMicroseconds: number }];
  return cpuMicroseconds;
}

function spread(ratios: readonly number[]): string {
  return `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`;
}
