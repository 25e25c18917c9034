import { loadavg } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { draftOf } from '../core/base/record.ts';
import { networkJobs } from '../core/peers/jobs.ts';
import { buildMcp } from '../mcp/http.ts';
import { GraphPush } from '../plane/graph-push.ts';
import { startSnapshots } from '../plane/snapshots.ts';
import { buildApp } from '../rest/app.ts';
import { listen } from '../rest/listen.ts';
import { createMetrics } from '../rest/metrics.ts';
import { enrol } from '../test/kits/plane/devices.ts';
import { buildKit, person } from '../test/kits/plane/kit.ts';
import { presence } from '../test/kits/records/records.ts';
import { operations } from '../tools/index.ts';
import { MCP_TOOLS } from '../tools/surfaces.ts';
import { machine, median } from './report.ts';

/**
 * A month of churn in minutes: `node --expose-gc --no-opt --no-maglev --no-sparkplug bench/soak.ts [days]`, without the code that
 * V8 makes as it goes, which is heap too and grows for weeks. Each day devices join, come, blink and leave, policies
 * come and go, snapshots are taken, readers of events and MCP clients come and go, the past is asked about; then the clock
 * moves on a day and the heap is measured after collection.
 */
const DAYS = Number(process.argv[2] ?? 30);
const DEVICES = 100;
const JOINS_A_DAY = 30;
const BLINKS_A_DAY = 60;
const POLICIES_A_DAY = 20;
const READERS = 20;
const MCP_SESSIONS = 20;
const DAY_MS = 86_400_000;
/** Days in which caches fill, left out of the slope. */
const WARM_UP = Math.floor(DAYS * 0.6);
const WHY = { actor: 'system:bench', reason: 'bench', requestId: 'bench' } as const;

const collect = globalThis.gc;
if (!collect) throw new Error('Run it with --expose-gc.');
const quiet = { error: console.error, warn() {}, info() {}, debug() {} };
await using kit = await buildKit({ now: Date.now() });
const { services, gate, clock } = kit;
const { store } = services;
const workspace = await kit.workspace('bench', 10_000);
const as = { as: person('admin', workspace), workspace };
const snapshots = startSnapshots(services);
const push = new GraphPush(services, { publish() {} });
const jobs = networkJobs(services);
const mcp = buildMcp({ operations, tools: MCP_TOOLS, gate, log: quiet });
const app = buildApp({
  operations,
  gate,
  log: quiet,
  metrics: createMetrics(),
  ready: async () => [],
  mcp: mcp.handle,
  limits: { rate: 'off' },
});
const server = await listen(app, { host: '127.0.0.1', port: 0 });
// Node keeps 250 of the requests of this client for whoever asks what they took.
performance.setResourceTimingBufferSize(0);
let named = 0;
const online: string[] = [];

for (let count = 0; count < DEVICES; count += 1) await join();
console.log(
  `${machine()}, load average ${loadavg()[0]?.toFixed(1)}. ${DEVICES} devices; each day ${JOINS_A_DAY} leave and join,`,
);
console.log(
  `${BLINKS_A_DAY} blink, ${POLICIES_A_DAY} policies come and go, ${READERS} readers and ${MCP_SESSIONS} MCP sessions.\n`,
);
console.log('| Day | revision | snapshots | heap MB |\n| --- | --- | --- | --- |');
const heaps: number[] = [];
for (let day = 1; day <= DAYS; day += 1) {
  await live();
  const heap = await heapMb();
  heaps.push(heap);
  console.log(`| ${day} | ${await store.revision(workspace)} | ${await snapshotCount()} | ${heap.toFixed(2)} |`);
}
const { slope, noise } = slopeOf(heaps.slice(WARM_UP));
console.log(
  `\nSlope after day ${WARM_UP}: ${slope.toFixed(3)} MB a day, standard error ${noise.toFixed(3)}; median ${median(heaps).toFixed(1)} MB.`,
);
await push.stop();
await snapshots.stop();
await server.stop();
await mcp.close();

/** In a frame of its own: a list of them held here would grow the heap that is measured. */
async function snapshotCount(): Promise<number> {
  return (await store.list(workspace, 'Snapshot')).items.length;
}

async function join(): Promise<void> {
  named += 1;
  const name = `device-${named}`;
  const { token } = await kit.call('generate_join_token', { name, labels: { app: `g${named % 10}` } }, as);
  const { id } = await enrol(kit, token, name);
  services.liveness.heard(workspace, id, clock.now());
  push.request(workspace, id);
  await store.commit(workspace, [{ op: 'create', record: draftOf(presence(name, true)) }], WHY);
  online.push(name);
}

async function live(): Promise<void> {
  const end = new AbortController();
  const agent = `agent-${named}`;
  const { token } = await kit.call('create_agent', { name: agent }, as);
  const headers = { authorization: `Bearer ${token}`, 'x-workspace-id': workspace };
  const readers = Array.from({ length: READERS }, async () => {
    const response = await fetch(`${server.url}/api/v1/events`, { headers, signal: end.signal });
    if (!response.ok) throw new Error(`The events answer ${response.status}.`);
    for await (const _chunk of response.body ?? []);
  });
  for (let count = 0; count < JOINS_A_DAY; count += 1) {
    const gone = online.shift();
    if (gone) await kit.call('delete_peer', { id: gone }, as);
    await join();
    await pass(DAY_MS / 200);
  }
  for (let count = 0; count < BLINKS_A_DAY; count += 1) {
    const name = online[count % online.length] ?? '';
    for (const isOnline of [false, true]) {
      const record = await store.get(workspace, { kind: 'Presence', name });
      if (record) {
        const draft = { ...draftOf(record), spec: { online: isOnline } };
        await store.commit(workspace, [{ op: 'update', record: draft, revision: record.revision }], WHY);
      }
      await pass(6_000);
    }
  }
  for (let count = 0; count < POLICIES_A_DAY; count += 1) {
    const name = `policy-${count}`;
    const spec = { action: 'ALLOW', peerSelector: { matchLabels: { app: `g${count % 10}` } }, ingress: [] };
    await kit.call('create_policy', { name, spec }, as);
    await pass(6_000);
    await kit.call('check_connectivity', { src: online[0], dst: online[1] }, as);
    await kit.call('delete_policy', { id: name }, as);
  }
  for (let count = 0; count < MCP_SESSIONS; count += 1) await mcpSession(token);
  const at = new Date(clock.now() - DAY_MS / 20).toISOString();
  await kit.call('list_peers', { at }, as);
  end.abort();
  const ended = await Promise.allSettled(readers);
  const failed = ended.find((one) => one.status === 'rejected' && one.reason.name !== 'AbortError');
  if (failed?.status === 'rejected') throw failed.reason;
  await kit.call('revoke_agent', { id: agent }, as);
  await pass(DAY_MS / 2);
}

/** A session of 2025-11-25 that is opened and never ended by its client. */
async function mcpSession(token: string): Promise<void> {
  const clientInfo = { name: 'bench', version: '1' };
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
  };
  const response = await fetch(`${server.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
}

/** Lets time pass for all that waits for it. */
async function pass(ms: number): Promise<void> {
  clock.time += ms;
  const { peers } = await services.states.current(workspace);
  for (const { uid } of peers.values()) services.liveness.heard(workspace, uid, clock.now());
  for (const job of jobs) await job.run();
  await snapshots.settle();
}

async function heapMb(): Promise<number> {
  for (let round = 0; round < 3; round += 1) {
    await nextTurn();
    collect?.();
  }
  return process.memoryUsage().heapUsed / 1_048_576;
}

/** Of the straight line through the values, and the standard error of its slope. */
function slopeOf(values: readonly number[]): { readonly slope: number; readonly noise: number } {
  const count = values.length;
  const middle = (count - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  const spread = values.reduce((sum, _value, at) => sum + (at - middle) ** 2, 0);
  const slope = values.reduce((sum, value, at) => sum + (at - middle) * (value - mean), 0) / spread;
  const squares = values.reduce((sum, value, at) => sum + (value - mean - slope * (at - middle)) ** 2, 0);
  return { slope, noise: Math.sqrt(squares / (count - 2) / spread) };
}
