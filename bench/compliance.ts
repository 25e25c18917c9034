import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Op } from '../core/base/ports.ts';
import { draftOf, type RecordDraft } from '../core/base/record.ts';
import { silentLog } from '../core/base/silent-log.ts';
import { formatInstant } from '../core/base/time.ts';
import { assessPeriod } from '../core/compliance/assess.ts';
import { FRAMEWORKS } from '../core/compliance/frameworks.ts';
import { snapshotDraft } from '../core/history/snapshot-record.ts';
import type { PolicySpec } from '../core/model/policy.ts';
import { DEFAULT_SETTINGS } from '../core/model/workspaces.ts';
import { buildNetworkStates } from '../core/state/states.ts';
import { openStore } from '../storage/open.ts';
import { draft } from './draft.ts';

/** A year of a network with few different states: how long the assessment of each framework takes. */
const USAGE = `Usage: node bench/compliance.ts [--peers N] [--snapshots N] [--changes N] [--states N]

  --peers      1000 by default, of which a tenth has cardholder data and a tenth health data
  --snapshots  10000
  --changes    1000 writes of policies, which lead through
  --states     100 different states
`;
const { values } = parseArgs({
  options: {
    peers: { type: 'string', default: '1000' },
    snapshots: { type: 'string', default: '10000' },
    changes: { type: 'string', default: '1000' },
    states: { type: 'string', default: '100' },
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

const folder = await mkdtemp(join(tmpdir(), 'mesh-bench-'));
const clock = { time: Date.UTC(2025, 0, 1), now: () => clock.time };
const began = clock.time;
const store = await openStore(`sqlite:${join(folder, 'mesh.db')}`, { clock, log: silentLog });
try {
  console.log(`node ${process.version}, ${cpus().length} x ${cpus()[0]?.model.trim()}, ${new Date().toISOString()}`);
  await fill();
  clock.time = began + YEAR_MS;
  await assessAll();
  console.log(`peak memory ${Math.round(process.resourceUsage().maxRSS / 1024)} MB`);
} finally {
  await store.close();
  await rm(folder, { recursive: true, force: true });
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
  const settings = {
    version: 'bench',
    apiUrl: 'https://127.0.0.1',
    signalingUrl: 'nats://127.0.0.1:4222',
    relayAdvertiseUrl: undefined,
    stunUrl: '127.0.0.1:3478',
    registrationProof: 'required',
    planTtlMs: 1,
    webhookAllow: [],
  } as const;
  const services = { store, states: buildNetworkStates({ store }), clock, settings };
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
