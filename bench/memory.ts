import autocannon from 'autocannon';
import { buildMcp } from '../mcp/http.ts';
import { buildApp } from '../rest/app.ts';
import { listen } from '../rest/listen.ts';
import { createMetrics } from '../rest/metrics.ts';
import { enrol } from '../test/kits/plane/devices.ts';
import { buildKit, person } from '../test/kits/plane/kit.ts';
import { operations } from '../tools/index.ts';
import { MCP_TOOLS } from '../tools/surfaces.ts';

/**
 * Heap after collection, before and after a load on both faces: `node --expose-gc bench/memory.ts`. Policies are written
 * and removed under the reads, so that caches, states and the audit log move too.
 */
const SECONDS = 8;
const collect = globalThis.gc;
if (!collect) throw new Error('Run it with --expose-gc.');

const silent = { error: console.error, warn() {}, info() {}, debug() {} };
await using kit = await buildKit({ now: Date.now() });
const workspace = await kit.workspace('bench');
const admin = person('admin', workspace);
const { token } = await kit.call('create_agent', { name: 'bench' }, { as: admin, workspace });
for (const name of ['a', 'b']) {
  const join = await kit.call('generate_join_token', { name }, { as: admin, workspace });
  await enrol(kit, join.token, name);
}
const { gate } = kit;
const mcp = buildMcp({ operations, tools: MCP_TOOLS, gate, log: silent });
const limits = { rate: 'off' } as const;
const app = buildApp({
  operations,
  gate,
  log: silent,
  metrics: createMetrics(),
  ready: async () => [],
  mcp: mcp.handle,
  limits,
});
const server = await listen(app, { host: '127.0.0.1', port: 0 });
const headers = { authorization: `Bearer ${token}` };

await load(2);
const before = await heap();
await load(SECONDS);
const after = await heap();
console.log(`# Memory under load

\`node --expose-gc bench/memory.ts\` on ${new Date().toISOString().slice(0, 10)}, Node ${process.version}. ${SECONDS} s of reads on 16 connections
with policies written and removed beside them; heap after two collections.

| What | Figure | Goal |
|---|---|---|
| heap before the load | ${mb(before)} MB | |
| heap after the load | ${mb(after)} MB (${mb(after - before)} MB more) | at most 20 MB more |`);
await server.stop();
await mcp.close();

async function load(seconds: number): Promise<void> {
  const reads = autocannon({
    url: `${server.url}/api/v1/peers`,
    method: 'GET',
    connections: 16,
    duration: seconds,
    headers,
  });
  const end = performance.now() + seconds * 1_000;
  for (let count = 0; performance.now() < end; count += 1) {
    const name = `policy-${count}`;
    await kit.call(
      'create_policy',
      { name, spec: { action: 'ALLOW', peerSelector: {}, ingress: [] } },
      { as: admin, workspace },
    );
    await kit.call('check_connectivity', { src: 'a', dst: 'b' }, { as: admin, workspace });
    await kit.call('delete_policy', { id: name }, { as: admin, workspace });
  }
  await reads;
}

async function heap(): Promise<number> {
  for (let round = 0; round < 2; round += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    collect?.();
  }
  return process.memoryUsage().heapUsed;
}

function mb(bytes: number): string {
  return (bytes / 1_048_576).toFixed(1);
}
