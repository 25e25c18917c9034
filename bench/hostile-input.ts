import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { bodiesOf, type Sent } from './hostile-input/bodies.ts';
import { machine, median } from './report.ts';

/**
 * The cost of bodies that are made to be costly: `node bench/hostile-input.ts [peers] [rounds] [seconds]`. Each is sent beside
 * a plain one of the same bytes to the same operation, in turn; counted is the processor time of the serving thread, so
 * that other load does not show. Then senders repeat the dearest while one peer is read, where it does. The senders run in
 * this process, on the same machine. Ends with 1 where a goal is missed.
 */
const [peers = 2_000, rounds = 15, seconds = 5] = process.argv.slice(2).map(Number);
const DEAREST = 4;
const SENDERS = 2;
const PROBE_MS = 10;
/** Goals of docs/benchmarks/hostile-input.md. */
const MOST_TIMES = 5;
const GOAL_MS = 100;

const directory = mkdtempSync(path.join(tmpdir(), 'mesh-bench-'));
const filling = fork(new URL('stall/fill.ts', import.meta.url), [directory, String(peers), '1']);
const [{ workspace, tokens }] = (await once(filling, 'message')) as [{ workspace: string; tokens: readonly string[] }];
await once(filling, 'exit');
const child = fork(new URL('stall/plane.ts', import.meta.url), [directory]);
const agent = new Agent({ keepAlive: true });
let missed = 0;
try {
  const [url] = (await once(child, 'message')) as [string];
  const [admin = ''] = tokens;
  const made = await send(url, {
    path: '/api/v1/agents',
    token: admin,
    body: Buffer.from(JSON.stringify({ name: 'root', scopes: ['network:read', 'agents:delegate'] })),
  });
  const { token: ofAgent } = JSON.parse(made.text) as { token: string };
  const read = { path: '/api/v1/peers/peer-1', token: admin };
  const bodies = bodiesOf({ workspace, admin, agent: ofAgent, peers });

  const load = `load ${loadavg()[0]?.toFixed(0)}`;
  console.log(`${peers} peers, ${rounds} rounds; ${machine()}; ${new Date().toISOString().slice(0, 10)}; ${load}\n`);
  console.log('| Body | kB | plain | hostile | times | answer |');
  console.log('|---|---|---|---|---|---|');
  const costs: { readonly hostile: Sent; readonly what: string; readonly ms: number }[] = [];
  for (const { what, plain, hostile } of bodies) {
    const times: { readonly plain: number[]; readonly hostile: number[] } = { plain: [], hostile: [] };
    let said = '';
    for (let round = -2; round < rounds; round += 1) {
      const begun = servedMs();
      await send(url, plain);
      const between = servedMs();
      const { status, text } = await send(url, hostile);
      const ended = servedMs();
      said = `${status} ${detailOf(text)}`;
      if (round < 0) continue;
      times.plain.push(between - begun);
      times.hostile.push(ended - between);
    }
    const [usual, ms] = [median(times.plain), median(times.hostile)];
    if (ms > usual * MOST_TIMES) missed += 1;
    const bytes = (hostile.body?.length ?? 0) / 1_000;
    console.log(
      `| ${what} | ${bytes.toFixed(bytes < 10 ? 1 : 0)} | ${usual.toFixed(1)} ms | ${ms.toFixed(1)} ms | ${(ms / usual).toFixed(1)} | ${said} |`,
    );
    costs.push({ what, hostile, ms });
  }

  const dearest = costs.toSorted((a, b) => b.ms - a.ms).slice(0, DEAREST);
  console.log(`\n| ${SENDERS} senders repeat | answers | a peer p50 | p99 | max |`);
  console.log('|---|---|---|---|---|');
  for (const { what, hostile } of [{ what: 'nothing', hostile: undefined }, ...dearest]) {
    let answers = 0;
    const end = performance.now() + seconds * 1_000;
    const senders = Array.from({ length: SENDERS }, async () => {
      while (performance.now() < end) {
        if (hostile) await send(url, hostile);
        else await after(PROBE_MS);
        answers += 1;
      }
    });
    const reads = await probe(url, read, Promise.all(senders));
    const at = (share: number) => reads.toSorted((a, b) => a - b)[Math.floor((reads.length - 1) * share)] ?? 0;
    if (at(0.99) > GOAL_MS) missed += 1;
    console.log(
      `| ${what} | ${hostile ? answers : ''} | ${at(0.5).toFixed(1)} ms | ${at(0.99).toFixed(1)} ms | ${at(1).toFixed(1)} ms |`,
    );
  }
  console.log(
    `\nGoals: at most ${MOST_TIMES} times a plain body; p99 of a read below ${GOAL_MS} ms. Missed: ${missed}.`,
  );
} finally {
  agent.destroy();
  child.send('stop');
  await once(child, 'exit');
  rmSync(directory, { recursive: true });
}
process.exitCode = missed === 0 ? 0 : 1;

async function probe(url: string, read: Sent, until: Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  const under: Promise<unknown>[] = [];
  let isOver = false;
  const ended = until.then(() => {
    isOver = true;
  });
  while (!isOver) {
    under.push(send(url, read).then(({ ms }) => times.push(ms)));
    await after(PROBE_MS);
  }
  await Promise.all([ended, ...under]);
  return times;
}

function send(url: string, { path: to, token, body, headers = {} }: Sent) {
  const started = performance.now();
  const fields = {
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(body && { 'content-type': 'application/json', 'content-length': body.length }),
    ...headers,
  };
  return new Promise<{ ms: number; status: number; text: string }>((resolve, reject) => {
    const sent = request(`${url}${to}`, { method: body ? 'POST' : 'GET', headers: fields, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ ms: performance.now() - started, status: response.statusCode ?? 0, text });
      });
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

/** Processor time of the thread that serves everyone, ms. */
function servedMs(): number {
  return Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

/** The beginning of what an answer says. */
function detailOf(text: string): string {
  const said = /"(?:detail|message|text)":"((?:[^"\\]|\\.)*)/.exec(text)?.[1] ?? '';
  return said.length > 70 ? `${said.slice(0, 70)}…` : said;
}
