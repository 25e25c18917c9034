import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { BINDING, encodeStun } from '../net/stun/message.ts';
import { type Measured, startCoturn, startScript } from './relay/servers.ts';
import { machine, median, spread } from './report.ts';

/** The STUN server beside coturn: node bench/stun.ts [--quick] */

const quick = process.argv.includes('--quick');
const ROUNDS = quick ? 3 : 7;
const SECONDS = quick ? 0.4 : 1;
const OUTSTANDING = 64;
/** No answer for this long: what is on the way counts as lost. */
const STALL_MS = 50;

const mesh = await startScript(new URL('./stun/serve.ts', import.meta.url));
const coturn = await startCoturn('--stun-only');
try {
  console.log(machine());
  console.log(
    `${ROUNDS} interleaved rounds of ${SECONDS} s; closed loop, ${OUTSTANDING} outstanding; median (lowest to highest)\n`,
  );
  const ours = { server: mesh, rates: [] as number[], perCpu: [] as number[] };
  const theirs = { server: coturn, rates: [] as number[], perCpu: [] as number[] };
  for (let round = -1; round < ROUNDS; round++) {
    for (const side of round % 2 === 0 ? [ours, theirs] : [theirs, ours]) {
      const run = await ask(side.server);
      // The first round warms both up and is not counted.
      if (round < 0) continue;
      side.rates.push(run.perSecond);
      side.perCpu.push(run.perCpuSecond);
    }
  }
  console.log('| Server | answers/s | answers per CPU-second | bytes of an answer (IPv4) |');
  console.log('| --- | --- | --- | --- |');
  for (const [name, side] of Object.entries({ mesh: ours, coturn: theirs })) {
    const length = await answerLength(side.server.port);
    console.log(`| ${name} | ${thousands(side.rates)} | ${thousands(side.perCpu)} | ${length} |`);
  }
  const ratio = (pick: 'rates' | 'perCpu') => spread(ours[pick].map((value, n) => value / (theirs[pick][n] ?? 1)));
  console.log(`\nmesh / coturn, median of paired rounds: by rate ${ratio('rates')}, by CPU ${ratio('perCpu')}`);
} finally {
  await mesh.stop();
  await coturn.stop();
}

function request(): Uint8Array {
  return encodeStun({ class: 'request', method: BINDING, transactionId: new Uint8Array(12).fill(7), attributes: [] });
}

async function connected(port: number) {
  const socket = createSocket('udp4');
  socket.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

async function ask(server: Measured): Promise<{ readonly perSecond: number; readonly perCpuSecond: number }> {
  const socket = await connected(server.port);
  const question = request();
  let answers = 0;
  let isRunning = true;
  socket.on('message', () => {
    answers++;
    if (isRunning) socket.send(question);
  });
  const fill = () => {
    for (let n = 0; n < OUTSTANDING; n++) socket.send(question);
  };
  let last = -1;
  const watch = setInterval(() => {
    if (answers === last) fill();
    last = answers;
  }, STALL_MS);
  const [start, cpu] = [performance.now(), server.cpu()];
  fill();
  await new Promise((resolve) => setTimeout(resolve, SECONDS * 1_000));
  const seconds = (performance.now() - start) / 1_000;
  const used = Math.max(0.01, server.cpu() - cpu);
  const total = answers;
  isRunning = false;
  clearInterval(watch);
  socket.close();
  return { perSecond: total / seconds, perCpuSecond: total / used };
}

async function answerLength(port: number): Promise<number> {
  const socket = await connected(port);
  socket.send(request());
  const [answer] = await once(socket, 'message');
  socket.close();
  return (answer as Uint8Array).length;
}

function thousands(values: readonly number[]): string {
  return Math.round(median(values)).toLocaleString('en');
}
