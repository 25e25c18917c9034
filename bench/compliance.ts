import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openEvidence } from '../cli/evidence-file.ts';
import { headsInMemory } from '../core/audit/log-keys.ts';
import { ANONYMOUS } from '../core/base/caller.ts';
import type { Op } from '../core/base/ports.ts';
import { draftOf, type RecordDraft } from '../core/base/record.ts';
import { silentLog } from '../core/base/silent-log.ts';
import { formatInstant } from '../core/base/time.ts';
import { assessPeriod } from '../core/compliance/assess.ts';
import { assessAndKeep } from '../core/compliance/assessments.ts';
import { FRAMEWORKS } from '../core/compliance/frameworks.ts';
import { openArchive } from '../core/evidence/archive.ts';
import { verifyArchive } from '../core/evidence/verify/verify-archive.ts';
import { snapshotDraft } from '../core/history/snapshot-record.ts';
import type { PolicySpec } from '../core/model/policy.ts';
import { SIGN_IN_DEFAULTS } from '../core/model/sign-in-rules.ts';
import { DEFAULT_SETTINGS } from '../core/model/workspaces.ts';
import { buildNetworkStates } from '../core/state/states.ts';
import type { Services } from '../core/workflow/services.ts';
import { sendArchive } from '../rest/send-archive.ts';
import { buildLogKeys, newLogKey } from '../storage/log-keys.ts';
import { openStore } from '../storage/open.ts';
import { draft } from './draft.ts';

/** A year of a network with few different states: how long the assessment of each framework takes, and its evidence. */
const USAGE = `Usage: node bench/compliance.ts [--peers N] [--snapshots N] [--changes N] [--states N]

  --peers      1000 by default, of which a tenth has cardholder data and a tenth health data
  --snapshots  10000
  --changes    1000 writes of policies, which lead through
  --states     100 different states

It starts itself once more, with --store DIR --archive ID: what is resident then is that of the archive alone.
`;
const { values } = parseArgs({
  options: {
    peers: { type: 'string', default: '1000' },
    snapshots: { type: 'string', default: '10000' },
    changes: { type: 'string', default: '1000' },
    states: { type: 'string', default: '100' },
    archive: { type: 'string' },
    store: { type: 'string', default: '' },
    help: { type: 'boolean', short: 'h' },
  },
});
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
const [PEERS, SNAPSHOTS, CHANGES, STATES] = [values.peers, values.snapshots, values.changes, values.states].map(Number);
const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;
const WS = 'w_bench';
const WHY = { actor: 'user:bench', reason: 'bench', requestId: 'r_bench' } as const;
const POLICIES = 40;

const { archive } = values;
const folder = archive === undefined ? await mkdtemp(join(tmpdir(), 'mesh-bench-')) : values.store;
const clock = { time: Date.UTC(2025, 0, 1), now: () => clock.time };
const began = clock.time;
/** As a control plane has them that runs on one machine. */
const SETTINGS = {
  version: 'bench',
  apiUrl: 'https://127.0.0.1',
  signalingUrl: 'nats://127.0.0.1:4222',
  relays: [],
  stunUrls: ['127.0.0.1:3478'],
  registrationProof: 'required',
  listens: {
    api: { host: '127.0.0.1', tls: false },
    bus: { host: '127.0.0.1', auth: 'none', tls: false },
  },
  logKeySince: began,
  planTtlMs: 1,
  signIn: SIGN_IN_DEFAULTS,
  webhookAllow: [],
} as const;
const store = await openStore(`sqlite:${join(folder, 'mesh.db')}`, { clock, log: silentLog });
if (archive === undefined) await assessYear();
else await exportOne(archive).finally(() => store.close());

async function assessYear(): Promise<void> {
  try {
    console.log(`node ${process.version}, ${cpus().length} x ${cpus()[0]?.model.trim()}, ${new Date().toISOString()}`);
    await fill();
    clock.time = began + YEAR_MS;
    await assessAll();
    const asked = { framework: 'pci-dss', period_start: formatInstant(began), period_end: formatInstant(clock.time) };
    const { evidence_id: id } = await assessAndKeep(contextOf() as never, asked);
    await store.close();
    const again = [...process.execArgv, import.meta.filename, '--store', folder, '--archive', id];
    process.exitCode = spawnSync(process.execPath, again, { stdio: 'inherit' }).status ?? 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A workspace, its peers and policies, and a year of changes that come back to the states they began with. */
async function fill(): Promise<void> {
  const settings = DEFAULT_SETTINGS;
  const spec = { slug: 'bench', namespace: 'bench', displayName: 'bench', maxNodeCount: 10_000, settings };
  const workspace = { ...draft('Workspace', 'bench', spec, {}), uid: WS };
  await store.commit('w_system', [{ op: 'create', record: workspace }], WHY);
  const networkSpec = { cidr: '10.96.0.0/16', mtu: 1280, defaultAction: 'ALLOW' as const };
  await store.commit(WS, [{ op: 'create', record: draft('MeshNetwork', 'default', networkSpec, {}) }], WHY);
  const peers = Array.from({ length: PEERS ?? 0 }, (_, index) => peerDraft(index));
  for (let from = 0; from < peers.length; from += 500) await create(peers.slice(from, from + 500));
  await create([
    policyDraft('base', { action: 'DENY', peerSelector: {} }),
    ...Array.from({ length: POLICIES }, (_, index) => policyDraft(`p-${index}`, grantOf(index, 0))),
  ]);
  const step = YEAR_MS / Math.max(CHANGES ?? 1, SNAPSHOTS ?? 1);
  const every = Math.max(1, Math.floor((SNAPSHOTS ?? 1) / (CHANGES ?? 1)));
  for (let index = 0; index < (SNAPSHOTS ?? 0); index++) {
    clock.time = Math.floor(began + step * (index + 1));
    if (index % every === 0) await change(Math.floor(index / every) % (STATES ?? 1));
    const revision = await store.revision(WS);
    const capture = { revision, capturedAt: clock.time, trigger: 'scheduled', triggeredBy: 'bench' } as const;
    await create([snapshotDraft({ ...capture, digest: '', historyBytes: 0 })]);
  }
}

async function create(records: readonly RecordDraft[]): Promise<void> {
  await store.commit(
    WS,
    records.map((record): Op => ({ op: 'create', record })),
    WHY,
  );
}

/** State number so many: one policy has another port. */
async function change(state: number): Promise<void> {
  const name = 'p-0';
  const stored = await store.get(WS, { kind: 'MeshPolicy', name });
  if (!stored) return;
  const record = { ...draftOf(stored), spec: grantOf(0, state) };
  await store.commit(WS, [{ op: 'update', record, revision: stored.revision }], WHY);
}

function grantOf(index: number, state: number): PolicySpec {
  const role = (of: number) => ({ peerSelector: { matchLabels: { role: `r-${of}` } } });
  const ports = [{ port: 1_000 + index * 10 + state * 500 }];
  return { action: 'ALLOW', ...role(index % 20), ingress: [{ from: [role((index + 1) % 20)], ports }] };
}

function peerDraft(index: number): RecordDraft<'MeshPeer'> {
  const name = `peer-${index}`;
  const scope =
    index % 10 === 0 ? { 'compliance.scope': 'cde' } : index % 10 === 1 ? { 'compliance.scope': 'ephi' } : {};
  const publicKey = Buffer.from(name.padEnd(32, '.')).toString('base64');
  const address = `10.96.${index >> 8}.${index & 255}`;
  return {
    ...draft(
      'MeshPeer',
      name,
      { displayName: name, hostname: name, platform: 'linux', publicKey, network: 'default' },
      { phase: 'ready', address, tokenId: 'tok_bench' },
    ),
    labels: { role: `r-${index % 20}`, env: index % 2 === 0 ? 'prod' : 'test', ...scope },
    unique: [`ip:${address}`],
  };
}

function policyDraft(name: string, spec: PolicySpec): RecordDraft<'MeshPolicy'> {
  return draft('MeshPolicy', name, spec, {});
}

async function assessAll(): Promise<void> {
  const logs = { keys: [], originOf: (name: string) => name, heads: headsInMemory() };
  const services = { store, states: buildNetworkStates({ store }), clock, settings: SETTINGS, logs };
  let [total, busyTotal] = [0, 0];
  for (const framework of FRAMEWORKS) {
    const asked = { framework, from: formatInstant(began), to: formatInstant(clock.time) };
    const [start, cpu] = [performance.now(), process.cpuUsage()];
    const { states, score, controls } = await assessPeriod(services, WS, asked);
    const ms = performance.now() - start;
    total += ms;
    const { user, system } = process.cpuUsage(cpu);
    const busy = (user + system) / 1_000;
    busyTotal += busy;
    console.log(
      `${framework}: ${Math.round(ms)} ms (${Math.round(busy)} ms of processor), ${controls.length} controls, ${states} states, score ${score}`,
    );
  }
  console.log(`all: ${Math.round(total)} ms (${Math.round(busyTotal)} ms of processor)`);
}

function contextOf() {
  const keys = { logs: buildLogKeys([newLogKey(began)], new Uint8Array(32)) };
  const states = buildNetworkStates({ store });
  const logs = { keys: [], originOf: (name: string) => name, heads: headsInMemory() };
  const own = { store, states, clock, keys, settings: SETTINGS, logs, nextTurn: () => nextTurn() };
  return {
    services: own as unknown as Services,
    workspace: WS,
    caller: ANONYMOUS,
    requestId: 'r_bench',
    face: 'rest',
    origin: '127.0.0.1',
    signal: new AbortController().signal,
  } as const;
}

/** Makes the archive of the year as the route does, to a client that takes all at once, and verifies it. */
async function exportOne(id: string): Promise<void> {
  clock.time = began + YEAR_MS;
  const context = contextOf();
  const file = join(folder, 'evidence.zip');
  const server = createServer(async (request, response) => {
    await sendArchive(response, await openArchive(context, id), AbortSignal.timeout(600_000)).catch(() => {});
    request.resume();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 20);
  const before = process.memoryUsage().rss;
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  const response = await fetch(`http://127.0.0.1:${port}`);
  await pipeline(Readable.fromWeb(response.body as ReadableStream<Uint8Array>), createWriteStream(file));
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  clearInterval(watch);
  const [rss, peak] = [before, most].map((bytes) => Math.round(bytes / 1_048_576));
  console.log(
    `archive: ${Math.round(ms)} ms (${Math.round((user + system) / 1_000)} ms of processor), ${statSync(file).size} bytes, resident ${rss} MB before, ${peak} MB at most`,
  );
  server.close();
  const archive = await openEvidence(file);
  const verifying = performance.now();
  const { findings, notes } = await verifyArchive(archive, () => true);
  archive.close();
  console.log(
    `verified: ${Math.round(performance.now() - verifying)} ms, ${findings.length} findings; ${notes.join(' ')}`,
  );
}
