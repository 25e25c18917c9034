import { setTimeout as after } from 'node:timers/promises';
import { beginStorm, type LiveStorm } from '../storm/measure.ts';

/** Each next to so many others. */
const GROUP = 51;
const IDLE_MS = 60_000;
const ROUNDS = 5;
const QUESTIONS = 300;

export interface Fleet {
  readonly storm: LiveStorm;
  /** Processor of `meshd` for one node for a minute in which nothing changes, ms. */
  readonly idleMs: number;
  readonly changes: readonly Change[];
  /** ms */
  readonly question: { readonly p50: number; readonly p99: number; readonly cpu: number };
}

/** A change of one policy, told to whom it concerns: medians. */
interface Change {
  readonly what: string;
  readonly told: number;
  /** From the request to the last message. */
  readonly seconds: number;
  readonly cpuS: number;
}

/** Nodes on real sockets: what they cost while nothing happens, what a change costs, what a question costs. */
export async function measureFleet(devices: number): Promise<Fleet> {
  const storm = await beginStorm(devices, GROUP);
  try {
    const before = storm.cpuSeconds();
    await after(IDLE_MS);
    const idleMs = ((storm.cpuSeconds() - before) * 1_000) / devices / (IDLE_MS / 60_000);
    const changes = [
      await change(storm, 'every node', {}),
      await change(storm, 'one group', { matchLabels: { app: 'g0' } }),
    ];
    return { storm, idleMs, changes, question: await ask(storm, devices) };
  } finally {
    await storm.close();
  }
}

async function change(
  { api, as, received, cpuSeconds, quiet }: LiveStorm,
  what: string,
  peerSelector: object,
): Promise<Change> {
  const name = what.replaceAll(' ', '-');
  /** All else is allowed: what is denied is the difference. */
  const specOf = (port: number) => ({
    action: 'DENY',
    peerSelector,
    ingress: [{ from: [{ peerSelector }], ports: [{ protocol: 'TCP', port }] }],
  });
  await must(api('POST', '/api/v1/policies', { ...as, body: { name, spec: specOf(9_000) } }));
  await quiet();
  const rounds: Change[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const [begun, cpu, sent] = [performance.now(), cpuSeconds(), received.full + received.delta];
    await must(api('PUT', `/api/v1/policies/${name}`, { ...as, body: { spec: specOf(9_000 + round) } }));
    await quiet();
    const told = received.full + received.delta - sent;
    rounds.push({ what, told, seconds: (received.lastAt - begun) / 1_000, cpuS: cpuSeconds() - cpu });
  }
  const of = (key: 'told' | 'seconds' | 'cpuS') =>
    rounds.map((round) => round[key]).toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
  return { what, told: of('told'), seconds: of('seconds'), cpuS: of('cpuS') };
}

async function ask({ api, as, cpuSeconds }: LiveStorm, devices: number): Promise<Fleet['question']> {
  const took: number[] = [];
  const cpu = cpuSeconds();
  for (let n = 0; n < QUESTIONS; n += 1) {
    const [src, dst] = [(n * 7) % devices, (n * 7 + 1) % devices];
    const begun = performance.now();
    const query = `src=device-${src}&dst=device-${dst}&protocol=TCP&port=443`;
    await must(api('GET', `/api/v1/connectivity/check?${query}`, as));
    took.push(performance.now() - begun);
  }
  took.sort((a, b) => a - b);
  const at = (share: number) => took[Math.floor((took.length - 1) * share)] ?? 0;
  return { p50: at(0.5), p99: at(0.99), cpu: ((cpuSeconds() - cpu) * 1_000) / QUESTIONS };
}

async function must(call: ReturnType<LiveStorm['api']>): Promise<void> {
  const { status, text } = await call;
  if (status > 299) throw new Error(`${status}: ${text}`);
}
