import path from 'node:path';
import { mesh } from '../kits/process/run-command.ts';
import { killInApproval } from './points/approval.ts';
import { killInBackup } from './points/backup.ts';
import { killInCommit } from './points/commit.ts';
import { killInCompaction } from './points/compaction.ts';
import { killInDeparture } from './points/departure.ts';
import { killInExpiry } from './points/expiry.ts';
import { killInMigration } from './points/migration.ts';
import { killInStart } from './points/start.ts';
import { killInWorkspace } from './points/workspace.ts';
import { type Random, randomOf } from './random.ts';
import { World } from './world.ts';

export interface CampaignOptions {
  readonly seed: number;
  /** At least so many kills. */
  readonly kills: number;
  /** Of what costs no whole start, at each point of each round. */
  readonly times: number;
  /** After so many rounds it goes on with an empty directory. */
  readonly roundsInWorld: number;
  readonly log?: (line: string) => void;
}

export interface Outcome {
  readonly kills: ReadonlyMap<string, number>;
  readonly acknowledged: number;
  /** Requests that a kill cut off, which were done or not. */
  readonly cut: { readonly done: number; readonly undone: number };
  /** Starts that came up and were looked at. */
  readonly starts: number;
  /** Each is something lost or untrue. */
  readonly findings: readonly string[];
}

type Point = (world: World, times: number) => Promise<unknown>;

const POINTS: readonly Point[] = [
  killInCommit,
  killInWorkspace,
  killInApproval,
  killInDeparture,
  killInExpiry,
  killInBackup,
  killInCompaction,
  killInStart,
];

/** Kills control planes at every crash point until there were enough kills, or something was lost. */
export async function campaign(options: CampaignOptions): Promise<Outcome> {
  const { seed, kills: wanted, log = () => undefined } = options;
  const random = randomOf(seed);
  const kills = new Map<string, number>();
  const findings: string[] = [];
  const sum = { acknowledged: 0, starts: 0, cut: { done: 0, undone: 0 } };
  while (total(kills) < wanted && findings.length === 0) {
    const world = new World(random.fork());
    try {
      findings.push(...(await migrations(random.fork(), options, kills)));
      findings.push(...(await live(world, options)));
    } catch (error) {
      findings.push(`${(error as Error).stack}`);
    }
    if (findings.length > 0) world.findings.push(`in ${world.victim.directory}`);
    await world.close();
    for (const [point, count] of world.kills) kills.set(point, (kills.get(point) ?? 0) + count);
    for (const { acknowledged, cut } of [world.main, world.guarded]) {
      sum.acknowledged += acknowledged;
      sum.cut.done += cut.done;
      sum.cut.undone += cut.undone;
    }
    sum.starts += world.starts;
    log(`seed ${seed}: ${total(kills)} kills, ${JSON.stringify(sum)}, ${findings.length} findings`);
    for (const finding of findings) log(finding);
  }
  return { kills, ...sum, findings };
}

export const total = (kills: ReadonlyMap<string, number>) => [...kills.values()].reduce((sum, count) => sum + count, 0);

/** One control plane, from its first start to its end in order. */
async function live(world: World, { seed, times, roundsInWorld, log }: CampaignOptions): Promise<string[]> {
  await killInStart(world, world.random.below(times + 1));
  await world.victim.start();
  await world.settle();
  for (let round = 0; round < roundsInWorld; round += 1) {
    for (const point of shuffled(POINTS, world.random)) {
      await point(world, times);
      if (world.victim.isUp) await world.look();
      else await world.comeBack();
      if (world.findings.length > 0)
        return world.findings.map((finding) => `${point.name} in ${world.victim.directory}: ${finding}`);
    }
    log?.(`seed ${seed}, round ${round}: ${JSON.stringify(Object.fromEntries(world.kills))}`);
  }
  const code = await world.victim.stop();
  if (code !== 0) return [`it ended with ${code}`];
  const home = world.victim.directory;
  const { stdout } = await mesh(['audit', 'verify', '--database', path.join(home, 'mesh.db'), '--json'], { home });
  return JSON.parse(stdout).verified === true ? [] : [`the audit log does not verify: ${stdout}`];
}

/** As many upgrades as the control plane had rounds. */
async function migrations(random: Random, { times, roundsInWorld }: CampaignOptions, kills: Map<string, number>) {
  const findings: string[] = [];
  for (let round = 0; round < roundsInWorld; round += 1) {
    const count = () => void kills.set('migration', (kills.get('migration') ?? 0) + 1);
    findings.push(...(await killInMigration(random, times, count)));
  }
  return findings;
}

function shuffled<T>(list: readonly T[], random: Random): T[] {
  return list
    .map((item) => ({ item, place: random.next() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
