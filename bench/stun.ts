import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { BINDING, encodeStun } from '../net/stun/message.ts';
import { type Measured, startCoturn, startScript } from './relay/servers.ts';
import { machine, median, spread } from './report.ts';
import { ask as askAtOnce } from './stun/asker.ts';

/** The STUN server beside coturn: node bench/stun.ts [--quick] */

const quick = process.argv.includes('--quick');
const ROUNDS = quick ? 3 : 7;
const SECONDS = quick ? 0.4 : 1;
const OUTSTANDING = 64;
/** No answer for this long: what is on the way counts as lost. */
const STALL_MS = 50;

const script = new URL('./stun/serve.ts', import.meta.url);
const batched = await startScript(script, 'auto');
const pure = await startScript(script, 'plain');
const coturn = await startCoturn('--stun-only');
try {
  console.log(`${machine()}, load average ${loadavg()[0]?.toFixed(1)}.`);
  console.log(
    `${ROUNDS} interleaved rounds of ${SECONDS} s; closed loop, ${OUTSTANDING} outstanding; median (lowest to highest)\n`,
  );
  await compare('all requests with one system call: the server is the limit', async ({ port }) =>
    askAtOnce(port, request(), OUTSTANDING, SECONDS * 1_000),
  );
  await compare('one request at a time from Node: the asker is the limit', ({ port }) => askOneByOne(port));
} finally {
  await batched.stop();
  await pure.stop();
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

/** Prints a table; `load` asks for SECONDS and resolves to the number of answers. */
async function compare(title: string, load: (server: Measured) => Promise<number>): Promise<void> {
  const sides = Object.entries({ 'mesh, batched': batched, 'mesh, pure Node': pure, coturn }).map(([name, server]) => ({
    name,
    server,
    rates: [] as number[],
    perCpu: [] as number[],
  }));
  for (let round = -1; round < ROUNDS; round++) {
    for (const { server, rates, perCpu } of round % 2 === 0 ? sides : sides.toReversed()) {
      const [start, cpu] = [performance.now(), server.cpu()];
      const answers = await load(server);
      const [seconds, used] = [(performance.now() - start) / 1_000, Math.max(0.01, server.cpu() - cpu)];
      // The first round warms all up and is not counted.
      if (round < 0) continue;
      rates.push(answers / seconds);
      perCpu.push(answers / used);
    }
  }
  const theirs = sides.at(-1);
  console.log(`Load: ${title}.\n`);
  console.log('| Server | answers/s | answers per CPU-second | by rate | by CPU | bytes of an answer (IPv4) |');
  console.log('| --- | --- | --- | --- | --- | --- |');
  for (const { name, server, rates, perCpu } of sides) {
    const length = await answerLength(server.port);
    const byRate = spread(rates.map((value, n) => value / (theirs?.rates[n] ?? 1)));
    const byCpu = spread(perCpu.map((value, n) => value / (theirs?.perCpu[n] ?? 1)));
    console.log(`| ${name} | ${thousands(rates)} | ${thousands(perCpu)} | ${byRate} | ${byCpu} | ${length} |`);
  }
  console.log();
}

async function askOneByOne(port: number): Promise<number> {
  const socket = await connected(port);
  const question = request();
  let answers = 0;
  socket.on('message', () => {
    answers++;
    socket.send(question);
  });
  const fill = () => {
    for (let n = 0; n < OUTSTANDING; n++) socket.send(question);
  };
  let last = -1;
  const watch = setInterval(() => {
    if (answers === last) fill();
    last = answers;
  }, STALL_MS);
  fill();
  await new Promise((resolve) => setTimeout(resolve, SECONDS * 1_000));
  clearInterval(watch);
  socket.close();
  return answers;
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
