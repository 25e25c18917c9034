import { type Lanes, openRelay, openTurn } from './relay/lanes.ts';
import { flood, megabits, p99At } from './relay/loads.ts';
import { type Measured, startCoturn, startScript } from './relay/servers.ts';
import { machine, median, spread } from './report.ts';

/** The relay beside coturn (TURN over TCP, an allocation at each end): node bench/relay.ts [--quick] */

const quick = process.argv.includes('--quick');
const ROUNDS = quick ? 3 : 7;
const SECONDS = quick ? 0.4 : 1;

interface Contestant {
  readonly name: 'mesh' | 'coturn';
  readonly server: Measured;
  readonly open: (port: number, count: number) => Promise<Lanes>;
}

const startMesh = () => startScript(new URL('./relay/serve.ts', import.meta.url));
const mesh: Contestant = { name: 'mesh', server: await startMesh(), open: openRelay };
const coturn: Contestant = { name: 'coturn', server: await startCoturn('--no-udp'), open: openTurn };
try {
  console.log(machine());
  console.log(`${ROUNDS} interleaved rounds of ${SECONDS} s; 1,452-byte packets; median (lowest to highest)\n`);
  console.log('| Workload | mesh Mbit/s | coturn Mbit/s | ratio by rate | ratio by CPU | lost mesh, coturn |');
  console.log('| --- | --- | --- | --- | --- | --- |');
  const rates = await compare('1 sender, 10 receivers, interleaved', 10);
  await compare('1 sender, 1 receiver', 1);
  console.log('');
  for (const contestant of [mesh, coturn]) await latency(contestant, rates[contestant.name] / 2);
  await frozen();
} finally {
  await mesh.server.stop();
  await coturn.server.stop();
}

/** @returns packets a second of each */
async function compare(name: string, receivers: number): Promise<Record<Contestant['name'], number>> {
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
  ours.lanes.close();
  theirs.lanes.close();
  return { mesh: median(ours.rates), coturn: median(theirs.rates) };
}

async function sides({ server, open }: Contestant, receivers: number) {
  const side = {
    lanes: await open(server.port, receivers),
    rates: [] as number[],
    perCpu: [] as number[],
    lost: 0,
    sent: 0,
    async run(isCounted: boolean) {
      const before = server.cpu();
      const { packets, lost, seconds } = await flood(side.lanes, SECONDS);
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

async function latency({ name, server, open }: Contestant, perSecond: number): Promise<void> {
  const lanes = await open(server.port, 10);
  await p99At(lanes, perSecond, 0.3);
  const p99: number[] = [];
  for (let round = 0; round < ROUNDS; round++) p99.push(await p99At(lanes, perSecond, SECONDS));
  const load = Math.round(megabits(perSecond));
  console.log(`- ${name}, p99 at half its load (${load} Mbit/s to 10 receivers): ${spread(p99)} ms`);
  lanes.close();
}

/** The other nine receivers, with the tenth frozen and with it reading. */
async function frozen(): Promise<void> {
  const healthy = await openRelay(mesh.server.port, 10);
  const stuck = await openRelay(mesh.server.port, 10);
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
  console.log(
    `- mesh, nine receivers while the tenth is frozen: ${spread(ratios)} of their rate, ${lost} packets lost`,
  );
  console.log(
    `- mesh, resident memory over that time: ${(rss / 1e6).toFixed(0)} MB, ${grown.toFixed(1)} MB more at the end`,
  );
  healthy.close();
  stuck.close();
}
