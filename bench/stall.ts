import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { machine, median } from './report.ts';
import { type Call, callsOf, type Place } from './stall/calls.ts';

/**
 * What the dearest calls do to everyone else: `node bench/stall.ts [peers] [seconds]`. Finds the twelve dearest calls of a
 * plane, lets eight callers repeat each, and meanwhile asks /healthz and for one peer. The callers run in this process,
 * on the same machine.
 */
const [peers = 2_000, seconds = 5] = process.argv.slice(2).map(Number);
const DEAREST = 12;
const CALLERS = 8;
const ROUNDS_ALONE = 5;
const PROBE_MS = 10;
/** After which a computing thread that nobody uses has ended. */
const IDLE_MS = 45_000;
const MB = 1_048_576;
/** What the goals are: docs/benchmarks/stall.md. */
const GOAL_MS = 100;
const GOAL_MB = 700;

const directory = mkdtempSync(path.join(tmpdir(), 'mesh-bench-'));
const filling = fork(new URL('stall/fill.ts', import.meta.url), [directory, String(peers), String(CALLERS)]);
const [filled] = (await once(filling, 'message')) as [Place & { readonly tokens: readonly string[] }];
await once(filling, 'exit');
const child = fork(new URL('stall/plane.ts', import.meta.url), [directory]);
const agent = new Agent({ keepAlive: true });
let memory = 0;
let sends = 0;
try {
  const [url] = (await once(child, 'message')) as [string];
  const place = { ...filled, url };
  const watching = setInterval(() => {
    memory = Math.max(memory, residentMb());
  }, 50);
  const [token = ''] = place.tokens;
  await send(url, { what: '', method: 'GET', path: '/api/v1/peers/peer-1' }, token);
  const before = residentMb();

  console.log(
    `${peers} peers, ${CALLERS} callers, ${seconds} s each; ${machine()}; ${new Date().toISOString().slice(0, 10)}\n`,
  );
  const costs: { readonly call: Call; readonly ms: number }[] = [];
  for (const call of callsOf(place)) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS_ALONE; round += 1) {
      const { ms, status } = await send(place.url, call, token);
      if (status !== 200 && status !== 413) throw new Error(`${call.what}: ${status}`);
      times.push(ms);
    }
    costs.push({ call, ms: median(times) });
  }
  costs.sort((a, b) => b.ms - a.ms);
  const idle = await probe(place, token, after(seconds * 1_000));
  console.log('| Call | alone | answers | refused | /healthz p50, p99, max | a peer p50, p99, max |');
  console.log('|---|---|---|---|---|---|');
  console.log(`| nothing | | | | ${told(idle.health)} | ${told(idle.peer)} |`);
  for (const { call, ms } of costs.slice(0, DEAREST)) {
    const counts = { answers: 0, refused: 0 };
    const end = performance.now() + seconds * 1_000;
    const callers = place.tokens.map(async (own) => {
      while (performance.now() < end) {
        const { status } = await send(place.url, call, own);
        if (status === 503) counts.refused += 1;
        else counts.answers += 1;
      }
    });
    const during = await probe(place, token, Promise.all(callers));
    const { answers, refused } = counts;
    const [health, peer] = [told(during.health, idle.health), told(during.peer, idle.peer)];
    console.log(`| ${call.what} | ${ms.toFixed(0)} ms | ${answers} | ${refused} | ${health} | ${peer} |`);
  }
  console.log(
    `\nCheaper, not shown: ${costs
      .slice(DEAREST)
      .map(({ call, ms }) => `${call.what} ${ms.toFixed(1)} ms`)
      .join(', ')}.`,
  );

  const counts = { answers: 0, refused: 0 };
  const end = performance.now() + seconds * 1_000;
  const all = costs.slice(0, DEAREST).flatMap(({ call }) =>
    place.tokens.map(async (own) => {
      while (performance.now() < end) {
        const { status } = await send(place.url, call, own);
        if (status === 503) counts.refused += 1;
        else counts.answers += 1;
      }
    }),
  );
  const during = await probe(place, token, Promise.all(all));
  const [health, peer] = [told(during.health, idle.health), told(during.peer, idle.peer)];
  console.log(
    `\nAll ${DEAREST * CALLERS} callers at once: ${counts.answers} answers, ${counts.refused} refused; /healthz ${health}; a peer ${peer}.`,
  );
  const peak = memory;
  await after(IDLE_MS);
  clearInterval(watching);
  console.log(
    `Resident memory: ${before.toFixed(0)} MB before, ${peak.toFixed(0)} MB at most (goal ${GOAL_MB}), ${residentMb().toFixed(0)} MB ${IDLE_MS / 1_000} s after. Goal for each p99: ${GOAL_MS} ms.`,
  );
} finally {
  agent.destroy();
  child.send('stop');
  await once(child, 'exit');
  rmSync(directory, { recursive: true });
}

interface Latencies {
  readonly health: number[];
  readonly peer: number[];
}

/** Asks for the health and for a peer in turn, one request each {@link PROBE_MS}, until something has ended. */
async function probe({ url }: { readonly url: string }, token: string, until: Promise<unknown>): Promise<Latencies> {
  const found: Latencies = { health: [], peer: [] };
  const under: Promise<void>[] = [];
  let isOver = false;
  const ended = until.then(() => {
    isOver = true;
  });
  const health: Call = { what: '', method: 'GET', path: '/healthz' };
  const peer: Call = { what: '', method: 'GET', path: '/api/v1/peers/peer-1' };
  for (let round = 0; !isOver; round += 1) {
    const isHealth = round % 2 === 0;
    const asked = send(url, isHealth ? health : peer, token);
    under.push(asked.then(({ ms }) => void (isHealth ? found.health : found.peer).push(ms)));
    await after(PROBE_MS);
  }
  await Promise.all([ended, ...under]);
  return found;
}

/** Reads the whole answer and keeps nothing of it. */
function send(url: string, { method, path: to, body }: Call, token: string): Promise<{ ms: number; status: number }> {
  sends += 1;
  const text = body && JSON.stringify(body(sends));
  const started = performance.now();
  const headers = {
    authorization: `Bearer ${token}`,
    ...(text !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${to}`, { method, headers, agent }, (response) => {
      response.resume();
      response.once('end', () => resolve({ ms: performance.now() - started, status: response.statusCode ?? 0 }));
    });
    sent.once('error', reject);
    sent.end(text);
  });
}

function told(values: readonly number[], idle?: readonly number[]): string {
  const at = (share: number, of = values) => [...of].sort((a, b) => a - b)[Math.floor((of.length - 1) * share)] ?? 0;
  const ratio = idle ? ` (${(at(0.99) / at(0.99, idle)).toFixed(1)} x idle)` : '';
  return `${at(0.5).toFixed(1)}, ${at(0.99).toFixed(1)}${ratio}, ${at(1).toFixed(1)} ms`;
}

function residentMb(): number {
  const match = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'));
  return (Number(match?.[1]) * 1_024) / MB;
}
