import { execFileSync, spawnSync } from 'node:child_process';
import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freshDirectory } from '../kits/process/meshd.ts';
import { killInCommit } from './points/commit.ts';
import { randomOf } from './random.ts';
import { World } from './world.ts';

const isLong = process.env['MESH_LONG'] === '1';
const SEED = Number(process.env['MESH_TEST_SEED'] ?? 20_261_126);
const TIMES = isLong ? 40 : 3;
const PATIENCE_MS = isLong ? 12 * 3_600_000 : 300_000;
const DISK_MB = 48;
const RESERVE_MB = 4;
const MB = 1_048_576;

/** A small disk of its own; undefined where this user may not mount one. */
function smallDisk(): string | undefined {
  const directory = freshDirectory();
  const options = `size=${DISK_MB}m,mode=700`;
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'mesh-faults', directory]).status !== 0) return undefined;
  onTestFinished(() => void execFileSync('umount', ['--lazy', directory]));
  return directory;
}

test('a disk that is full to some point, or cannot be written to, loses nothing that was acknowledged to a kill', {
  timeout: PATIENCE_MS,
}, async ({ skip }) => {
  const directory = smallDisk();
  if (directory === undefined) return skip('mounting a tmpfs needs root');
  const random = randomOf(SEED);
  const world = new World(random, { directory, env: { MESH_STORE_RESERVE: String(RESERVE_MB) } });
  onTestFinished(() => world.victim.kill());
  await world.victim.start();
  await world.settle();
  const filler = path.join(directory, 'filler');
  let refused = 0;
  for (let count = 0; count < TIMES; count += 1) {
    const { bavail, bsize } = statfsSync(directory);
    // From nothing at all to a little more than the reserve.
    const left = random.next() * 1.5 * RESERVE_MB * MB;
    writeFileSync(filler, Buffer.alloc(Math.max(0, Math.floor(bavail * bsize - left)), 'x'));
    await killInCommit(world);
    // They are told so, and are not done.
    expect(world.main.refused.filter((line) => !/answered 50[37]: /.test(line))).toEqual([]);
    refused += world.main.refused.splice(0).length;
    execFileSync('mount', ['-o', 'remount,ro', directory]);
    const meshd = world.victim.begin();
    expect(await meshd.ended).toBe(1);
    expect(meshd.stderr()).toMatch(/read-?only/i);
    execFileSync('mount', ['-o', 'remount,rw', directory]);
    rmSync(filler);
    await world.comeBack();
    expect([SEED, count, world.findings]).toEqual([SEED, count, []]);
  }
  process.stderr.write(`a full disk: ${TIMES} times, ${refused} writes refused\n`);
});
