import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { readCheckpoint } from '../../core/audit/checkpoint.ts';
import { beginCommand } from './command.ts';
import type { Damage } from './damage.ts';
import { killInCommit } from './points/commit.ts';
import type { World } from './world.ts';

const KEPT_WITHIN_MS = 30_000;
const LOOK_AGAIN_MS = 50;

/**
 * Damages what a killed control plane left. It starts with all that was acknowledged then, or it does not start and names
 * the database, or, where pages are sound and what is in them is not, `meshd doctor` does; restored from its backup it has
 * all that was acknowledged before that.
 *
 * @returns whether it was refused
 */
export async function damageAndRestore(world: World, { name, inflict }: Damage): Promise<boolean> {
  const { directory } = world.victim;
  const file = path.join(directory, 'mesh.db');
  const backup = path.join(directory, 'before.db');
  await run(world, 'backup', backup);
  const goBack = world.bookmark();
  await killInCommit(world);
  await world.comeBack();
  await everythingMarked(world);
  await world.victim.kill();
  inflict(file, world.random);
  const meshd = world.victim.begin();
  const isUp = await meshd.ready().then(
    () => true,
    () => false,
  );
  await world.victim.kill();
  const said = isUp ? await damageFound(world) : meshd.stderr();
  if (said !== undefined) {
    if (!said.includes(`the database ${file}`)) world.findings.push(`${name} is told so: ${said}`);
    await run(world, 'restore', backup);
    goBack();
  }
  await world.comeBack();
  for (const end of ['-wal', '-shm', '']) rmSync(`${backup}${end}`, { force: true });
  return said !== undefined;
}

/** What `meshd doctor` says of damage. A control plane that goes on looks for the same by itself, half a minute after its start. */
async function damageFound({ victim }: World): Promise<string | undefined> {
  const doctor = beginCommand(victim.directory, 'doctor');
  await doctor.ended;
  return /^.*the database \S+ is damaged.*$/m.exec(doctor.stdout())?.[0];
}

/** What is known apart from the database is behind it by a second at most. */
async function everythingMarked({ victim, place, main }: World): Promise<void> {
  const head = path.join(victim.directory, 'log-heads', place.workspace);
  const size = () => (existsSync(head) ? (readCheckpoint(readFileSync(head, 'utf8'))?.size ?? 0) : 0);
  for (const until = performance.now() + KEPT_WITHIN_MS; size() < main.heard.seq; await after(LOOK_AGAIN_MS)) {
    if (performance.now() > until) throw new Error(`Of ${main.heard.seq} entries ${size()} are known apart.`);
  }
}

async function run({ victim }: World, ...args: string[]): Promise<void> {
  const command = beginCommand(victim.directory, ...args);
  if ((await command.ended) !== 0) throw new Error(`meshd ${args.join(' ')} failed: ${command.stderr()}`);
}
