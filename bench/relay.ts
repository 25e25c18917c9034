import { loadavg } from 'node:os';
import { type Channels, type Dialect, openChannels, RELAY, TURN } from './relay/channels.ts';
import { type Latency, openPaced } from './relay/latency.ts';
import { flood, megabits } from './relay/loads.ts';
import { type Measured, startCoturn, startScript } from './relay/servers.ts';
import { machine, median, spread } from './report.ts';

/** The relay beside coturn (TURN over TCP, an allocation at each end): node bench/relay.ts [--quick] */

const quick = process.argv.includes('--quick');
const ROUNDS = quick ? 3 : 7;
const SECONDS = quick ? 0.4 : 1;

interface Contestant {
  readonly dialect: Dialect;
  readonly server: Measured;
}

const startMesh = () => startScript(new URL('./relay/serve.ts', import.meta.url));
const mesh: Contestant = { dialect: RELAY, server: await startMesh() };
const coturn: Contestant = { dialect: TURN, server: await startCoturn('--no-udp') };
try {
  console.log(`${machine()}, load average ${loadavg()[0]?.toFixed(1)}.`);
  console.log(`${ROUNDS} interleaved rounds of ${SECONDS} s; 1,452-byte packets; median (lowest to highest)\n`);
  console.log('| Workload | mesh Mbit/s | coturn Mbit/s | ratio by rate | ratio by CPU | lost mesh, coturn |');
  console.log('| --- | --- | --- | --- | --- | --- |');
  const rates = await compare('1 sender, 10 receivers, interleaved', 10);
  await compare('1 sender, 1 receiver', 1);
  await latencies([
    ['mesh, half its own load', mesh, rates.mesh / 2],
    ["mesh, half of coturn's load", mesh, rates.coturn / 2],
    ['coturn, half its own load', coturn, rates.coturn / 2],
  ]);
  await frozen();
} finally {
  await mesh.server.stop();
  await coturn.server.stop();
}

/** @returns packets a second of each */
async function compare(name: string, receivers: number): Promise<Record<Dialect['name'], number>> {
  const runs = { mesh: await sides(mesh, receivers), coturn: await sides(coturn, receivers) };
  for (let round = -1; round < ROUNDS; round++) {
    const order = round % 2 === 0 ? [runs.mesh, runs.coturn] : [runs.coturn, runs.mesh];
    // The first round warms both up and is not counted.
    for (const side of order) await side.run(round >= 0);
  }
  const [ours, theirs] = [runs.mesh, runs.coturn];
  const ratio = (pick: 'rates' | 'perCpu') => spread(ours[pick].map((value, n) => value / (theirs[pick][n] ?? 1)));
  const rate = (side: typeof ours) => Math.round(megabits(median(side.rates)));
  const lost = [ours, theirs].map((side) => `${((100 * side.lost) / side.sent).toFixed(1)} %`).join(', ');
  console.log(`| ${name} | ${rate(ours)} | ${rate(theirs)} | ${ratio('rates')} | ${ratio('perCpu')} | ${lost} |`);
  ours.channels.close();
  theirs.channels.close();
  return { mesh: median(ours.rates), coturn: median(theirs.rates) };
}

async function sides({ server, dialect }: Contestant, receivers: number) {
  const side = {
    channels: await openChannels(dialect, server.port, receivers),
    rates: [] as number[],
    perCpu: [] as number[],
    lost: 0,
    sent: 0,
    async run(isCounted: boolean) {
      const before = server.cpu();
      const { packets, lost, seconds } = await flood(side.channels, SECONDS);
      const cpu = Math.max(0.01, server.cpu() - before);
      if (!isCounted) return;
      side.rates.push(packets / seconds);
      side.perCpu.push(packets / cpu);
      side.lost += lost;
      side.sent += packets + lost;
    },
  };
  return side;
}

/** Packets sent evenly to ten receivers; sender and receivers are processes of their own. */
async function latencies(loads: readonly (readonly [name: string, of: Contestant, perSecond: number])[]) {
  const runs: { readonly name: string; readonly perSecond: number; readonly rounds: Latency[] }[] = [];
  for (const [name, { dialect, server }, perSecond] of loads) {
    const paced = await openPaced(dialect.name, server.port, 10);
    await paced.run(perSecond, SECONDS);
    const rounds: Latency[] = [];
    for (let round = 0; round < ROUNDS; round++) rounds.push(await paced.run(perSecond, SECONDS));
    runs.push({ name, perSecond, rounds });
    paced.close();
  }
  console.log(
    '\n| Latency to 10 receivers | Mbit/s | p50 ms | p99 ms | sender late, p99 | receivers’ loop, p99 | lost |',
  );
  console.log('| --- | --- | --- | --- | --- | --- | --- |');
  for (const { name, perSecond, rounds } of runs) {
    const columns = (['p50', 'p99', 'senderMs', 'receiversMs'] as const).map((pick) =>
      spread(rounds.map((round) => round[pick])),
    );
    const lost = rounds.reduce((sum, round) => sum + round.lost, 0);
    console.log(`| ${name} | ${Math.round(megabits(perSecond))} | ${columns.join(' | ')} | ${lost} |`);
  }
}

/** The other nine receivers, with the tenth frozen and with it reading. */
async function frozen(): Promise<void> {
  const healthy = await openChannels(RELAY, mesh.server.port, 10);
  const stuck: Channels = await openChannels(RELAY, mesh.server.port, 10);
  stuck.receivers[9]?.socket.pause();
  await flood(healthy, 0.3);
  await flood(stuck, 0.5, 9);
  const rss = mesh.server.rss();
  const ratios: number[] = [];
  let lost = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const runs = { with: 0, without: 0 };
    for (const which of round % 2 === 0 ? (['with', 'without'] as const) : (['without', 'with'] as const)) {
      const run = which === 'with' ? await flood(stuck, SECONDS, 9) : await flood(healthy, SECONDS);
      if (which === 'with') lost += run.lost;
      // Of ten equal shares, the nine that are compared.
      runs[which] = (which === 'with' ? run.packets : run.packets * 0.9) / run.seconds;
    }
    ratios.push(runs.with / runs.without);
  }
  const grown = (mesh.server.rss() - rss) / 1e6;
  const memory = `${(rss / 1e6).toFixed(0)} MB, ${grown.toFixed(1)} MB more at the end`;
  console.log('\n| One receiver of ten frozen | Figure |');
  console.log('| --- | --- |');
  console.log(`| rate of the other nine, frozen / not | ${spread(ratios)}, ${lost} of their packets lost |`);
  console.log(`| resident memory over these rounds | ${memory} |`);
  healthy.close();
  stuck.close();
}
